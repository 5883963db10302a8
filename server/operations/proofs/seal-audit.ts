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
  readPlacedRows,
  readSealHead,
  readUnsealed,
  tryLockSealing,
} from '../../store/proofs/audit-segments.ts'
import { saveSealedThrough } from '../../store/proofs/seal-progress.ts'
import type { Deps } from '../shared/deps.ts'

/** A minute of 160 writes a second. A busier minute makes several segments. */
const SEGMENT_ROWS_MAX = 10_000
/**
 * So many rows in one answer: ten thousand kept the process from everything else for 10 to 30 ms, and after a minute of
 * many writes several times in a row.
 */
const READ_AT_ONCE = 1_000
/** The rest of a backlog waits for the next round. */
const SEGMENTS_PER_ROUND = 50
/** Slightly less than the time between rounds, which differ a little. */
const EVERY_MS_MIN = 50_000

type SealDeps = Pick<Deps, 'pool' | 'clock' | 'webhookKeys'>

export interface SealOptions {
  rowsMax?: number
  readAtOnce?: number
  everyMsMin?: number
}

type Limits = Required<Pick<SealOptions, 'rowsMax' | 'readAtOnce'>>

/** Returns how many segments were made; null where another process seals, or has just done so. */
export async function sealAudit(deps: SealDeps, options: SealOptions = {}): Promise<number | null> {
  const { rowsMax = SEGMENT_ROWS_MAX, everyMsMin = EVERY_MS_MIN } = options
  const { readAtOnce = READ_AT_ONCE } = options
  let made = 0
  for (; made < SEGMENTS_PER_ROUND; made++) {
    const step = await inTransaction(deps.pool, async (db) => {
      const now = new Date(deps.clock.nowMs())
      if (!(await tryLockSealing(db))) return 'busy'
      if (made === 0 && !(await beginSealRound(db, now, everyMsMin))) return 'busy'
      return sealOne(deps, db, now, { rowsMax, readAtOnce })
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
  limits: Limits,
): Promise<'none' | 'last' | 'more'> {
  const head = await readSealHead(db)
  const from = head?.to ?? ((await hasUnplacedRows(db)) ? '1' : '0')
  const { rows, to, isAll } = await readPortion(db, from, limits)
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
  { rowsMax, readAtOnce }: Limits,
): Promise<{ rows: readonly SealedRow[]; to: string; isAll: boolean }> {
  const rows: SealedRow[] = []
  let size = Math.min(readAtOnce, rowsMax)
  let { rows: page, horizon } = await readUnsealed(db, from, size + 1)
  while (page.length > size) {
    const to = page[size]?.position as string
    const whole = page.filter(({ position }) => position !== to)
    rows.push(...whole)
    const room = rowsMax - rows.length
    const isSplit = whole.length === 0
    if (room === 0 || (isSplit && size >= room && rows.length > 0))
      return { rows, to, isAll: false }
    // One transaction may have written more than is read at once, or even more than a segment has: it is read whole.
    if (!isSplit) size = Math.min(readAtOnce, room)
    else size = size < room ? Math.min(size * 8, room) : size * 8
    page = await readPlacedRows(db, to, horizon, size + 1)
  }
  rows.push(...page)
  return { rows, to: horizon, isAll: true }
}
