// Removes what PAYBELL_AUDIT_RETENTION_DAYS excludes: months of the audit, whole. Before they go, a sealed row says up
// to which segment, and those segments keep their heads: the chain stays verifiable, and a month that vanished
// without such a row was not dropped by retention.

import { DROP_ACTION, readDropObject, toDropObject } from '../core/audit-seal.ts'
import { DAY_MS } from '../core/backoff.ts'
import { schemaOfCell } from '../core/cell.ts'
import type { Deps } from '../operations/parts/deps.ts'
import { insertAudit, listAudit } from '../store/audit.ts'
import { dropMonths, type OldMonth, readOldMonths } from '../store/audit-retention.ts'
import {
  findLastSegmentOf,
  forgetRowDigests,
  isRowSealed,
} from '../store/audit-segment-retention.ts'
import { tryLockSealing } from '../store/audit-segments.ts'
import { type Db, inTransaction } from '../store/db.ts'

type ForgetDeps = Pick<Deps, 'pool' | 'clock' | 'newId'> & {
  config: Pick<Deps['config'], 'auditRetentionDays' | 'cell'>
}

export interface ForgottenAudit {
  dropped: readonly string[]
  /** What says that they go is not sealed yet: they go in a later round. */
  isLeft: boolean
  /** A sentence for the log if the role may not drop old months; otherwise null. */
  remark: string | null
}

export async function forgetAudit(deps: ForgetDeps): Promise<ForgottenAudit> {
  const { auditRetentionDays: days, cell } = deps.config
  if (days === null) return { dropped: [], isLeft: false, remark: null }
  const before = new Date(deps.clock.nowMs() - days * DAY_MS)
  const old = await readOldMonths(deps.pool, before)
  const newest = old.at(-1)
  if (newest !== undefined && !(await makeReady(deps, newest))) {
    return { dropped: [], isLeft: true, remark: null }
  }
  const dropped = await dropMonths(deps.pool, old)
  const notOurs = old.filter(({ isOurs }) => !isOurs).map(({ name }) => name)
  const schema = schemaOfCell(cell)
  const remark =
    notOurs.length === 0
      ? null
      : `these months of the audit are older than PAYBELL_AUDIT_RETENTION_DAYS, and this database role may not drop them: run "drop table ${notOurs.map((name) => `${schema}.${name}`).join(', ')}" as the role that owns the schema`
  return { dropped, isLeft: false, remark }
}

/**
 * Every segment with a row of this month or of one before it goes, as a whole: what is left of such a segment in a
 * later month can no longer be proven. False until the row that says so is sealed: rows that vanish before look cut off.
 */
function makeReady(deps: ForgetDeps, month: OldMonth): Promise<boolean> {
  return inTransaction(deps.pool, async (db) => {
    if (!(await tryLockSealing(db))) return false
    const segment = await findLastSegmentOf(db, month.endsAt)
    if (segment === null) return true
    const [said] = await listAudit(db, { action: DROP_ACTION }, { limit: 1, beforeId: null })
    if (said === undefined || readDropObject(said.object) < segment) {
      await declareDropped(deps, db, segment)
      return false
    }
    if (!(await isRowSealed(db, said.id))) return false
    await forgetRowDigests(db, segment)
    return true
  })
}

async function declareDropped(deps: ForgetDeps, db: Db, segment: number): Promise<void> {
  await insertAudit(db, {
    actor: 'paybell',
    action: DROP_ACTION,
    object: toDropObject(segment),
    requestId: deps.newId(),
    at: new Date(deps.clock.nowMs()),
  })
}
