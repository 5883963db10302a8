// Removes what PAYBELL_AUDIT_RETENTION_DAYS excludes: months of the audit, whole. Before they go, the service signs up to
// which segment rows may be gone, and those segments keep their heads: the chain stays verifiable, and rows that vanished
// without such a drop were not dropped by retention.

import { DAY_MS } from '../core/delivery/backoff.ts'
import { schemaOfCell } from '../core/network/cell.ts'
import { DROP_TYPE, type DropClaims } from '../core/proofs/audit-seal.ts'
import type { Deps } from '../operations/shared/deps.ts'
import { type Db, inTransaction } from '../store/connection/db.ts'
import { readSealHead, tryLockSealing } from '../store/proofs/audit-segments.ts'
import { insertAudit } from '../store/proofs/audit-table.ts'
import { dropMonths, type OldMonth, readOldMonths } from '../store/removal/audit-retention.ts'
import {
  findLastSegmentOf,
  forgetRowDigests,
  insertDrop,
  type LastOfMonths,
  readLastDrop,
} from '../store/removal/audit-segment-retention.ts'

type ForgetDeps = Pick<Deps, 'pool' | 'clock' | 'newId' | 'webhookKeys'> & {
  config: Pick<Deps['config'], 'auditRetentionDays' | 'cell'>
}

export interface ForgottenAudit {
  dropped: readonly string[]
  /** Something has to be tried again soon. */
  isLeft: boolean
  /** A sentence for the log if old months stay; otherwise null. */
  remark: string | null
}

const NOTHING: ForgottenAudit = { dropped: [], isLeft: false, remark: null }
const LATER: ForgottenAudit = { ...NOTHING, isLeft: true }

export async function forgetAudit(deps: ForgetDeps): Promise<ForgottenAudit> {
  const { auditRetentionDays: days } = deps.config
  if (days === null) return NOTHING
  // What a drop says cannot be taken back: none is made while the clock is in doubt (decision 0059).
  if (deps.clock.hasJumped) return LATER
  const old = await readOldMonths(deps.pool, new Date(deps.clock.nowMs() - days * DAY_MS))
  const newest = old.at(-1)
  if (newest !== undefined) {
    const refusal = await inTransaction(deps.pool, (db) => coverByDrop(deps, db, newest, days))
    if (refusal !== null) return refusal
  }
  const through = (await readLastDrop(deps.pool))?.through ?? 0
  const dropped = await dropMonths(deps.pool, old, through)
  if (dropped.length === old.length) await forgetRowDigests(deps.pool, through)
  return { dropped, isLeft: false, remark: remarkOn(deps, old) }
}

/** Null: a drop covers all sealed rows of this month and of those before it. */
async function coverByDrop(
  deps: ForgetDeps,
  db: Db,
  month: OldMonth,
  days: number,
): Promise<ForgottenAudit | null> {
  if (!(await tryLockSealing(db))) return LATER
  const covered = (await readLastDrop(db))?.through ?? 0
  const last = await findLastSegmentOf(db, month.endsAt, covered)
  if (last === null) return null
  // What was never sealed does not go: nothing would tell that it was there.
  if (last.segment === null) return LATER
  const now = new Date(deps.clock.nowMs())
  const { number, sealedAt } = last.segment
  // A check takes a younger segment for no drop by retention. It may be younger than its rows, or by a wrong clock.
  if (sealedAt.getTime() + days * DAY_MS > now.getTime()) {
    const remark = `${month.name} stays for now: segment ${number}, which has rows of it, was sealed less than PAYBELL_AUDIT_RETENTION_DAYS ago, at ${sealedAt.toISOString()}`
    return { ...NOTHING, remark }
  }
  await saveDrop(deps, db, last.segment, { days, now })
  return null
}

async function saveDrop(
  deps: ForgetDeps,
  db: Db,
  { number, digest, sealedAt }: NonNullable<LastOfMonths['segment']>,
  { days, now }: { days: number; now: Date },
): Promise<void> {
  const claims: DropClaims = {
    through: number,
    digest,
    sealedAt: sealedAt.toISOString(),
    head: (await readSealHead(db))?.segment ?? number,
    retentionDays: days,
    droppedAt: now.toISOString(),
  }
  const jws = await deps.webhookKeys.signStatement(DROP_TYPE, claims)
  await insertDrop(db, { through: number, jws })
  // For people: what counts is the signed drop.
  await insertAudit(db, {
    actor: 'paybell',
    action: 'audit.drop',
    object: `segments:1-${number}`,
    requestId: deps.newId(),
    at: now,
  })
}

function remarkOn({ config }: ForgetDeps, old: readonly OldMonth[]): string | null {
  const schema = schemaOfCell(config.cell)
  const names = old.filter(({ isOurs }) => !isOurs).map(({ name }) => `${schema}.${name}`)
  if (names.length === 0) return null
  return `these months of the audit are older than PAYBELL_AUDIT_RETENTION_DAYS, and this database role may not drop them: run "drop table ${names.join(', ')}" as the role that owns the schema`
}
