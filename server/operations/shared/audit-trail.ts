// The trail of an operator's call. An operation that changes something is given an Audit and writes the
// row in its own transaction, so that what was done and who did it are committed together.

import type { Operator } from '../../core/plain/operator.ts'
import type { Db } from '../../store/connection/db.ts'
import {
  type AuditChange,
  type AuditEntry,
  auditId,
  insertAudit,
  insertAuditWithChanges,
} from '../../store/proofs/audit-table.ts'
import type { Deps } from './deps.ts'

/** Writes the one row of a call; `object` is what was changed, such as `client:<id>`, and how, where that is small. */
export type Audit = (db: Db, object: string, changes?: readonly AuditChange[]) => Promise<void>

/** For changes that no operator asked for, such as the sandbox's own client. */
export const NO_AUDIT: Audit = async () => {}

/** Whose call it is. */
export interface Trail {
  operator: Operator
  requestId: string
}

export function toAudit(deps: Pick<Deps, 'clock'>, trail: Trail, action: string): Audit {
  return (db, object, changes = []) => {
    const entry = toAuditEntry(deps, trail, action, object)
    const real = changes.filter(({ before, after }) => before !== after)
    return real.length === 0
      ? insertAudit(db, entry)
      : insertAuditWithChanges(db, { ...entry, changes: real })
  }
}

export function toAuditEntry(
  deps: Pick<Deps, 'clock'>,
  { operator, requestId }: Trail,
  action: string,
  object: string,
): AuditEntry {
  return { actor: operator.actor, action, object, requestId, at: new Date(deps.clock.nowMs()) }
}

/** The entry of a call whose changes are committed in gathered transactions, one of them or many. */
export interface GatheredAudit extends AuditEntry {
  isOnDisk?: boolean
}

/**
 * One entry for a whole batch. It travels with every line and is written with the first that is accepted,
 * so that a batch that is broken off has an entry too.
 */
export function toBatchAudit(deps: Pick<Deps, 'clock'>, trail: Trail): GatheredAudit {
  const entry = toAuditEntry(deps, trail, 'payment.batch', 'payments')
  return { ...entry, id: auditId(entry.at) }
}

/** A batch that was answered although no line was accepted is a call, too. */
export async function finishBatchAudit(
  deps: Pick<Deps, 'pool'>,
  audit: GatheredAudit,
): Promise<void> {
  if (!audit.isOnDisk) await insertAudit(deps.pool, audit)
}

/** What a gathered transaction has to write: the entries of the changes that were accepted, each once. */
export function auditsOf(
  changes: readonly { audit?: GatheredAudit }[],
  results: readonly unknown[],
): readonly GatheredAudit[] {
  const audits = new Set<GatheredAudit>()
  changes.forEach(({ audit }, index) => {
    if (audit && !audit.isOnDisk && !(results[index] instanceof Error)) audits.add(audit)
  })
  return [...audits]
}
