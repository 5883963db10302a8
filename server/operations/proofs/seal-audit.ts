// Seals the audit: what was audited since the last time becomes a segment, in the order of commit, chained to the
// one before and signed. One process at a time; nothing that accepts or delivers waits for it.

import { setImmediate as nextIteration } from 'node:timers/promises'
import {
  digestRow,
  digestSegment,
  NO_DIGEST,
  SEAL_TYPE,
  type SealedRow,
  type Segment,
  type SegmentHeader,
} from '../../core/proofs/audit-seal.ts'
import { type Db, inTransaction } from '../../store/connection/db.ts'
import {
  beginSealRound,
  hasUnplacedRows,
  insertSegment,
  readOldestUnsealed,
  readSealHead,
  readUnsealed,
  tryLockSealing,
} from '../../store/proofs/audit-segments.ts'
import { saveSealedThrough } from '../../store/proofs/seal-progress.ts'
import type { Deps } from '../shared/deps.ts'

/** A minute of 160 writes a second. A busier minute makes several segments. */
const SEGMENT_ROWS_MAX = 10_000
/** The rest of a backlog waits for the next round. */
const SEGMENTS_PER_ROUND = 50
/** Slightly less than the time between rounds, which differ a little. */
const EVERY_MS_MIN = 50_000

type SealDeps = Pick<Deps, 'pool' | 'clock' | 'webhookKeys'>

export interface SealOptions {
  rowsMax?: number
  everyMsMin?: number
}

/** Returns how many segments were made; null where another process seals, or has just done so. */
export async function sealAudit(deps: SealDeps, options: SealOptions = {}): Promise<number | null> {
  const { rowsMax = SEGMENT_ROWS_MAX, everyMsMin = EVERY_MS_MIN } = options
  let made = 0
  for (; made < SEGMENTS_PER_ROUND; made++) {
    const step = await inTransaction(deps.pool, async (db) => {
      const now = new Date(deps.clock.nowMs())
      if (!(await tryLockSealing(db))) return 'busy'
      if (made === 0 && !(await beginSealRound(db, now, everyMsMin))) return 'busy'
      return sealOne(deps, db, now, rowsMax)
    })
    if (step === 'busy') return made === 0 ? null : made
    if (step === 'last') return made + 1
    if (step === 'none') break
  }
  return made
}

async function sealOne(
  deps: SealDeps,
  db: Db,
  now: Date,
  rowsMax: number,
): Promise<'none' | 'last' | 'more'> {
  const head = await readSealHead(db)
  const from = head?.to ?? ((await hasUnplacedRows(db)) ? '1' : '0')
  const { rows, to, isAll } = await readPortion(db, from, rowsMax)
  const [first] = rows
  if (first !== undefined) {
    const header: SegmentHeader = {
      segment: (head?.segment ?? 0) + 1,
      from,
      to,
      count: rows.length,
      previous: head?.digest ?? NO_DIGEST,
      sealedAt: now.toISOString(),
    }
    await saveSegment(deps, db, header, rows)
  }
  if (!isAll) return 'more'
  const oldest = await readOldestUnsealed(db, first === undefined ? from : to)
  await saveSealedThrough(db, oldest !== null && oldest < now ? oldest : now)
  return first === undefined ? 'none' : 'last'
}

async function saveSegment(
  deps: SealDeps,
  db: Db,
  header: SegmentHeader,
  rows: readonly SealedRow[],
): Promise<void> {
  const rowDigests = await digestRows(rows)
  const claims = { ...header, digest: digestSegment(rowDigests, header) }
  const jws = await deps.webhookKeys.signStatement(SEAL_TYPE, claims)
  const segment: Segment = { ...claims, jws }
  await insertSegment(db, segment, rowDigests)
}

/** So many at a time: about a millisecond, after which what accepts and delivers goes on. */
const DIGESTED_AT_ONCE = 250

async function digestRows(rows: readonly SealedRow[]): Promise<Buffer> {
  const digests: Buffer[] = []
  for (let at = 0; at < rows.length; at += DIGESTED_AT_ONCE) {
    if (at > 0) await nextIteration()
    for (const row of rows.slice(at, at + DIGESTED_AT_ONCE)) digests.push(digestRow(row))
  }
  return Buffer.concat(digests)
}

/** Whole places only: a segment ends where a transaction does. */
async function readPortion(
  db: Db,
  from: string,
  rowsMax: number,
): Promise<{ rows: readonly SealedRow[]; to: string; isAll: boolean }> {
  const { rows, horizon } = await readUnsealed(db, from, rowsMax + 1)
  if (rows.length <= rowsMax) return { rows, to: horizon, isAll: true }
  const to = rows[rowsMax]?.position as string
  const whole = rows.filter(({ position }) => position !== to)
  // One transaction has written more than that: it is read whole.
  return whole.length > 0 ? { rows: whole, to, isAll: false } : readPortion(db, from, rowsMax * 8)
}
