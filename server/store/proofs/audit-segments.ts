// The seals of the audit: segments in a chain, and how far sealing has come. Segments are added and read; all that
// is ever taken from one is the list of its rows, when retention has dropped them.

import type { ListedSegment, SealedRow, Segment } from '../../core/proofs/audit-seal.ts'
import type { Db } from '../connection/db.ts'
import { LOCKS, tryLock } from '../connection/locks.ts'
import { idsWithin, readStretches } from '../sql/stretches.ts'
import { placeOf, readFeedOrigin, readSettledLine, readUpperLine } from './feed-line.ts'

/** False when another process seals at this moment. Held until the transaction ends. */
export function tryLockSealing(db: Db): Promise<boolean> {
  return tryLock(db, LOCKS.auditSeal)
}

/** False when a round was made less than `everyMs` ago, by any process. */
export async function beginSealRound(db: Db, now: Date, everyMs: number): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'begin-seal-round',
    text: 'update audit_seal_progress set checked_at = $1 where checked_at <= $2 or checked_at > $1',
    values: [now, new Date(now.getTime() - everyMs)],
  })
  return rowCount === 1
}

interface SegmentRow {
  segment: number
  from_place: string
  to_place: string
  count: number
  digest: Buffer
  previous: Buffer
  sealed_at: Date
  jws: string
  row_digests?: Buffer | null
}

const HEAD = `segment, from_place::text, to_place::text, count, digest, previous, sealed_at, jws`

export async function readSealHead(db: Db): Promise<Segment | null> {
  const { rows } = await db.query<SegmentRow>({
    name: 'read-seal-head',
    text: `select ${HEAD} from audit_segments order by segment desc limit 1`,
  })
  return rows[0] === undefined ? null : toSegment(rows[0])
}

/** Oldest first, with the digests of their rows. */
export async function readSegments(
  db: Db,
  after: number,
  limit: number,
): Promise<readonly ListedSegment[]> {
  const { rows } = await db.query<SegmentRow>({
    name: 'read-segments',
    text: `select ${HEAD}, row_digests from audit_segments where segment > $1
           order by segment limit $2`,
    values: [after, limit],
  })
  return rows.map((row) => ({
    ...toSegment(row),
    ...(row.row_digests ? { rows: row.row_digests.toString('base64url') } : {}),
  }))
}

/** Positions from the first segment's beginning to the last one's end; null: nothing is sealed. */
export async function readSealedRange(db: Db): Promise<{ from: string; to: string } | null> {
  const { rows } = await db.query<{ from_place: string | null; to_place: string | null }>({
    name: 'read-sealed-range',
    text: `select (select from_place from audit_segments order by segment limit 1)::text as from_place,
             (select to_place from audit_segments order by segment desc limit 1)::text as to_place`,
  })
  const { from_place: from = null, to_place: to = null } = rows[0] ?? {}
  return from === null || to === null ? null : { from, to }
}

/** The number of the first segment that was sealed at this instant or later; null: there is none. */
export async function findSegmentSealedFrom(db: Db, from: Date): Promise<number | null> {
  const { rows } = await db.query<{ segment: number }>({
    name: 'find-segment-sealed-from',
    text: `select segment from audit_segments where sealed_at >= $1
           order by sealed_at, segment limit 1`,
    values: [from],
  })
  return rows[0]?.segment ?? null
}

function toSegment(row: SegmentRow): Segment {
  return {
    segment: row.segment,
    from: row.from_place,
    to: row.to_place,
    count: row.count,
    digest: row.digest.toString('hex'),
    previous: row.previous.toString('hex'),
    sealedAt: row.sealed_at.toISOString(),
    jws: row.jws,
  }
}

export async function insertSegment(
  db: Db,
  segment: Segment,
  rowDigests: Uint8Array,
): Promise<void> {
  await db.query({
    name: 'insert-segment',
    text: `insert into audit_segments (segment, from_place, to_place, count, digest, previous,
             sealed_at, jws, row_digests)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [
      segment.segment,
      segment.from,
      segment.to,
      segment.count,
      Buffer.from(segment.digest, 'hex'),
      Buffer.from(segment.previous, 'hex'),
      new Date(segment.sealedAt),
      segment.jws,
      rowDigests,
    ],
  })
}

interface AuditRow {
  id: string
  at: Date
  /** Beyond the milliseconds. We write none. */
  microseconds: number
  actor: string
  action: string
  object: string
  request_id: string
  changes: string | null
  place: string
}

const ROW = `id, at, extract(microsecond from at)::integer % 1000 as microseconds, actor, action, object,
  request_id, changes, place::text as place`

export interface Unsealed {
  /** Below this place nothing is added any more. */
  horizon: string
  rows: readonly SealedRow[]
}

/**
 * What is settled and not sealed, in the order of commit. The line is drawn before the rows are read, as
 * in the feed: a row of a transaction that is still open stands above it. By place alone: ids carry the time of a clock,
 * which may have been wrong by any amount.
 */
export async function readUnsealed(db: Db, fromPlace: string, limit: number): Promise<Unsealed> {
  const line = await readSettledLine(db)
  const horizon = String(placeOf(line, await readFeedOrigin(db)))
  return { horizon, rows: await readPlacedRows(db, fromPlace, horizon, limit) }
}

/** When the oldest row was made that is not sealed yet; null: all are. */
export async function readOldestUnsealed(db: Db, fromPlace: string): Promise<Date | null> {
  let oldest: Date | null = null
  for (const stretch of await readStretches(db, 'audit')) {
    const { rows } = await db.query<{ at: Date | null }>({
      text: `select min(at) as at from audit
             where place >= $1::bigint and ${idsWithin(stretch, 'id')}`,
      values: [fromPlace],
    })
    const at = rows[0]?.at ?? null
    if (oldest === null || (at !== null && at < oldest)) oldest = at
  }
  return oldest
}

/** Whether rows are there from before the audit was sealed. */
export async function hasUnplacedRows(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>(
    'select exists (select from audit where place = 0) as found',
  )
  return rows[0]?.found === true
}

/** A row below all segments, where no transaction writes; null: there is none. */
export async function findRowBelow(db: Db): Promise<string | null> {
  const { rows } = await db.query<{ id: string }>(
    'select id from audit where place < 0 order by audit.place limit 1',
  )
  return rows[0]?.id ?? null
}

/** The newest of the rows from before the audit was sealed; null: there is none. */
export async function findNewestUnplaced(db: Db): Promise<string | null> {
  for (const stretch of await readStretches(db, 'audit')) {
    // As text: in the order of ids all that was sealed since would be read first.
    const { rows } = await db.query<{ id: string | null }>(
      `select max(id::text collate "C") as id from audit where place = 0 and ${idsWithin(stretch, 'id')}`,
    )
    if (rows[0]?.id) return rows[0].id
  }
  return null
}

/** A row with a place that no transaction can have had yet; null: there is none. The highest place tells. */
export async function findImpossibleRow(db: Db): Promise<string | null> {
  const origin = await readFeedOrigin(db)
  const { rows } = await db.query<{ id: string; place: string }>(
    'select id, place::text from audit where place >= $1::bigint order by audit.place desc limit 1',
    [await readUpperLine(db, origin)],
  )
  const [highest] = rows
  if (highest === undefined) return null
  // Again, and after the row: one that was written in between stands below this line.
  return BigInt(highest.place) >= BigInt(await readUpperLine(db, origin)) ? highest.id : null
}

/** Everything that lies between two places, as it is now: what was sealed there, and what was not. */
export async function readPlacedRows(
  db: Db,
  fromPlace: string,
  toPlace: string,
  limit: number,
): Promise<readonly SealedRow[]> {
  const found: AuditRow[][] = []
  for (const stretch of await readStretches(db, 'audit')) {
    const { rows } = await db.query<AuditRow>({
      text: `select ${ROW} from audit
             where audit.place >= $1::bigint and audit.place < $2::bigint
               and ${idsWithin(stretch, 'id')}
             order by audit.place, id limit $3`,
      values: [fromPlace, toPlace, limit],
    })
    if (rows.length > 0) found.push(rows)
  }
  // Each is in order by itself, and mostly there is one.
  const all = found.length > 1 ? found.flat().sort(inOrder).slice(0, limit) : (found[0] ?? [])
  return all.map(toSealedRow)
}

function inOrder(one: AuditRow, other: AuditRow): number {
  const [place, otherPlace] = [BigInt(one.place), BigInt(other.place)]
  if (place !== otherPlace) return place < otherPlace ? -1 : 1
  return one.id < other.id ? -1 : 1
}

function toSealedRow(row: AuditRow): SealedRow {
  return {
    id: row.id,
    at: `${row.at.toISOString()}${row.microseconds === 0 ? '' : `+${row.microseconds}µs`}`,
    actor: row.actor,
    action: row.action,
    object: row.object,
    requestId: row.request_id,
    position: row.place,
    ...(row.changes === null ? {} : { changes: parseChanges(row.changes) }),
  }
}

/**
 * A text that is no JSON, or in another spelling, such as with a member twice, was never written by us: it stays what it
 * is, and is found.
 */
function parseChanges(text: string): unknown {
  try {
    const changes: unknown = JSON.parse(text)
    return JSON.stringify(changes) === text ? changes : text
  } catch {
    return text
  }
}
