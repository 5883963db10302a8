// Recomputes the sealed audit in the database, a portion at a time. It judges by the keys that it is given: those that
// are authenticated with the master key, or those that an auditor has saved elsewhere.

import {
  AuditChecker,
  type CheckedAudit,
  type Finding,
  findUndeclared,
} from '../core/audit-check.ts'
import { DROP_ACTION, readDropObject } from '../core/audit-seal.ts'
import { readSealKeys, type SealKeys } from '../core/seal-signature.ts'
import { listAudit } from '../store/audit.ts'
import { findImpossibleRow, findLastDropped } from '../store/audit-segments.ts'
import { inTransaction } from '../store/db.ts'
import { readSealProgress, saveVerification } from '../store/seal-progress.ts'
import { readSigningKeys, type StoredSigningKey } from '../store/signing-keys.ts'
import type { Audit } from './parts/audit.ts'
import type { Deps } from './parts/deps.ts'
import { readSealedAudit } from './parts/sealed-audit.ts'
import { readJudgedKeys } from './parts/trusted-keys.ts'

/** For one call; the caller comes back for the rest. */
const ROWS_PER_CALL = 100_000

export interface VerifiedPortion {
  finding: Finding | null
  checked: CheckedAudit
  /** The segment to go on after; null: the head was reached. */
  next: number | null
}

/** Those of the service itself, now and before: no one without the master key can add one. */
export async function readDatabaseSealKeys(deps: Pick<Deps, 'pool' | 'sealer'>): Promise<SealKeys> {
  const { trusted } = await readJudgedKeys(deps.pool, deps.sealer, 'webhook_keys')
  return toSealKeys(trusted)
}

/** All that stand in the database. Whoever can write to it can add one: they prove nothing against its owner. */
export async function readUnprovenSealKeys(deps: Pick<Deps, 'pool'>): Promise<SealKeys> {
  return toSealKeys(await readSigningKeys(deps.pool, 'webhook_keys'))
}

function toSealKeys(keys: readonly Pick<StoredSigningKey, 'kid' | 'publicJwk'>[]): SealKeys {
  return readSealKeys({ keys: keys.map(({ kid, publicJwk }) => ({ ...publicJwk, kid })) })
}

/** The whole database, or a portion of it. `after` 0 begins with the first segment. */
export async function checkDatabaseAudit(
  deps: Pick<Deps, 'pool'>,
  checker: AuditChecker,
  after: number,
  rowsMax = Number.POSITIVE_INFINITY,
): Promise<VerifiedPortion> {
  const { checked } = checker
  for await (const { segment, rows } of readSealedAudit(deps, after)) {
    for (const row of rows) checker.row(row)
    const finding = checker.segment(segment) ?? (after === 0 ? checker.checkBeginning() : null)
    if (finding !== null) return { finding, checked, next: null }
    if (checked.rows >= rowsMax) return { finding: null, checked, next: segment.segment }
  }
  const finding =
    checker.end() ??
    (after === 0 ? checker.checkDropped() : await findDropped(deps)) ??
    (await findAddedAhead(deps, checked.last ?? 0))
  return { finding, checked, next: null }
}

/** What was dropped is at the beginning of the chain, and the row that says so at its end: no portion has both. */
async function findDropped(deps: Pick<Deps, 'pool'>): Promise<Finding | null> {
  const droppedThrough = await findLastDropped(deps.pool)
  const [newest] = await listAudit(deps.pool, { action: DROP_ACTION }, { limit: 1, beforeId: null })
  return findUndeclared({ droppedThrough, declaredThrough: readDropObject(newest?.object ?? '') })
}

/** A row that would never be sealed, and so never be proven false. */
async function findAddedAhead(deps: Pick<Deps, 'pool'>, segment: number): Promise<Finding | null> {
  const row = await findImpossibleRow(deps.pool)
  if (row === null) return null
  const detail = `Row ${row} was added after the last segment, at a position that no transaction has had yet.`
  return { code: 'row-added', segment, row, detail }
}

/** What the console asks for. The last result is kept for all to see. */
export async function verifyAudit(
  deps: Pick<Deps, 'pool' | 'clock' | 'sealer'>,
  after: number,
  audit: Audit,
): Promise<VerifiedPortion> {
  const checker = new AuditChecker(await readDatabaseSealKeys(deps))
  // The segment before is read again, because what follows it has to continue it.
  const portion = await checkDatabaseAudit(deps, checker, Math.max(0, after - 1), ROWS_PER_CALL)
  const { finding, checked } = portion
  await inTransaction(deps.pool, async (db) => {
    const before = after === 0 ? null : (await readSealProgress(db)).verification
    await saveVerification(db, {
      at: new Date(deps.clock.nowMs()),
      from: before?.from ?? checked.first ?? 1,
      to: checked.last ?? before?.to ?? 0,
      finding: finding === null ? null : JSON.stringify(finding),
    })
    if (after === 0) await audit(db, 'audit')
  })
  return portion
}
