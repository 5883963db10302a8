// Recomputes the sealed audit in the database, a portion at a time. It judges by the keys that it is given: those that
// are authenticated with the master key, or those that an auditor has saved elsewhere.

import { AuditChecker } from '../../core/proofs/audit-check.ts'
import {
  type AuditResult,
  type Finding,
  VERDICTS,
  type Verdict,
  verdictOf,
} from '../../core/proofs/audit-finding.ts'
import { readSealKeys, type SealKeys } from '../../core/proofs/seal-signature.ts'
import { inTransaction } from '../../store/connection/db.ts'
import {
  findImpossibleRow,
  findNewestUnplaced,
  findRowBelow,
  readSegments,
} from '../../store/proofs/audit-segments.ts'
import { readSealProgress, saveVerification } from '../../store/proofs/seal-progress.ts'
import {
  type RevokedKey,
  readRevokedWebhookKeys,
  readSigningKeys,
  type StoredSigningKey,
} from '../../store/secrets/signing-keys.ts'
import { idFloor } from '../../store/sql/stretches.ts'
import { readJudgedKeys } from '../access/trusted-keys.ts'
import type { Audit } from '../shared/audit-trail.ts'
import type { Deps } from '../shared/deps.ts'
import { readSealedAudit } from './sealed-audit.ts'

/** For one call; the caller comes back for the rest. */
const ROWS_PER_CALL = 100_000

export interface VerifiedPortion extends AuditResult {
  /** The segment to go on after; null: the head was reached. */
  next: number | null
}

/** Those of the service itself, now and before: no one without the master key can add one. */
export async function readDatabaseSealKeys(deps: Pick<Deps, 'pool' | 'sealer'>): Promise<SealKeys> {
  const { trusted } = await readJudgedKeys(deps.pool, deps.sealer, 'webhook_keys')
  return toSealKeys(trusted, await readRevokedWebhookKeys(deps.pool))
}

/** All that stand in the database. Whoever can write to it can add one: they prove nothing against its owner. */
export async function readUnprovenSealKeys(deps: Pick<Deps, 'pool'>): Promise<SealKeys> {
  const keys = await readSigningKeys(deps.pool, 'webhook_keys')
  return toSealKeys(keys, await readRevokedWebhookKeys(deps.pool))
}

/** Who can write to the database can call a key revoked. It gains nothing: the chain then has to be proven otherwise. */
function toSealKeys(
  keys: readonly Pick<StoredSigningKey, 'kid' | 'publicJwk'>[],
  revoked: readonly RevokedKey[],
): SealKeys {
  return readSealKeys({ keys: keys.map(({ kid, publicJwk }) => ({ ...publicJwk, kid })), revoked })
}

/** The whole database, or a portion of it. `after` 0 begins with the first segment. */
export async function checkDatabaseAudit(
  deps: Pick<Deps, 'pool'>,
  checker: AuditChecker,
  after: number,
  rowsMax = Number.POSITIVE_INFINITY,
): Promise<VerifiedPortion> {
  const result = (finding: Finding | null, next: number | null = null): VerifiedPortion => ({
    finding,
    checked: checker.checked,
    next,
  })
  let passed = 0
  for await (const item of readSealedAudit(deps, after)) {
    if ('drop' in item) {
      const finding = checker.drop(item.drop)
      if (finding !== null) return result(finding)
      continue
    }
    const { segment, rows } = item
    for (const row of rows) checker.row(row)
    const finding = checker.segment(segment) ?? (after === 0 ? checker.checkBeginning() : null)
    if (finding !== null) return result(finding)
    passed += segment.count
    if (passed >= rowsMax) return result(null, segment.segment)
  }
  return result(
    checker.end() ??
      (await findRowOutside(deps, checker.checked.last ?? 0)) ??
      (await remarkOnUnplaced(deps, checker)),
  )
}

/** Rows that are in no segment, and never would be. */
async function findRowOutside(deps: Pick<Deps, 'pool'>, segment: number): Promise<Finding | null> {
  const below = await findRowBelow(deps.pool)
  if (below !== null) {
    const detail = `Row ${below} was added before the first segment, at a position that no transaction has.`
    return { code: 'row-added', segment: 1, row: below, detail }
  }
  return findAddedAhead(deps, segment)
}

/** Rows from before the audit was sealed stand at the position 0. Nothing tells them from such that were added there. */
async function remarkOnUnplaced(deps: Pick<Deps, 'pool'>, checker: AuditChecker): Promise<null> {
  const [first] = await readSegments(deps.pool, 0, 1)
  const row = first === undefined || first.from === '0' ? null : await findNewestUnplaced(deps.pool)
  if (row === null || first === undefined) return null
  const isLater = row > idFloor(Date.parse(first.sealedAt))
  checker.remark(
    isLater
      ? `Row ${row} stands among those from before the first segment, which are not sealed, but its id is of a later time: a clock was wrong, or it was added.`
      : `Rows from before the first segment, up to row ${row}, are not sealed: nothing proves them.`,
  )
  return null
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
      verdict: worse(before?.verdict ?? 'valid', verdictOf(portion)),
      finding: finding === null ? null : JSON.stringify(finding),
    })
    if (after === 0) await audit(db, 'audit')
  })
  return portion
}

function worse(one: Verdict, other: Verdict): Verdict {
  return VERDICTS.indexOf(one) > VERDICTS.indexOf(other) ? one : other
}
