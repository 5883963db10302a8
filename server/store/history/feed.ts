// The event feed: a client's events in one order, in which nothing is added before what a reader has passed
// (migrations/0005). Whatever stands below the oldest transaction still running is settled: nothing is added there any
// more, so a reader that goes on from its last position misses nothing and sees nothing twice. Days before what it has seen
// are not looked through, but for those of which it is noted that something came late (migrations/0055).

import type { Pool } from 'pg'
import type { FeedPosition } from '../../core/asking/feed-cursor.ts'
import { DAY_MS } from '../../core/delivery/backoff.ts'
import { uuidTimeMs } from '../../core/plain/uuid.ts'
import type { Db } from '../connection/db.ts'
import { inSnapshot } from '../connection/snapshot.ts'
import { placeOf, readSettledLine } from '../proofs/feed-line.ts'
import { CLOCKS_APART_MS, idsWithin, readStretchesSince, type Stretch } from '../sql/stretches.ts'
import { isWhole } from '../sql/whole-text.ts'
import type { EventView } from './events.ts'

/** By then a day that is over is watched for what comes late, however the rounds of upkeep fall. */
const WATCHED_AFTER_MS = 6 * 3_600_000

export interface FeedEvent extends EventView {
  accountId: string
  position: string
}

export interface FeedRead {
  events: readonly FeedEvent[]
  /** Events of days before this are gone; null while none has ever been dropped. */
  keptSince: Date | null
  /** When the first event was made that an open transaction keeps from being shown; null: none is. */
  heldSinceMs: number | null
}

interface FeedRow {
  id: string
  payment_id: string
  account_id: string
  sequence: number
  kind: string
  created_at: Date
  text: string
  /** The column's name; the code calls it a position. */
  place: string
}

interface Line {
  keptSince: Date | null
  /** The beginnings of days that have got events when they were over. */
  lateDays: readonly number[]
  /** Settled is what stands below. */
  horizon: bigint
}

/**
 * What follows a position, of all the client's accounts. `seenUntilMs` is the time up to which the reader has
 * seen everything: so it is looked for from that day on, and not in all days that are kept. The line is drawn
 * by the same snapshot that reads the rows.
 */
export function readFeed(
  pool: Pool,
  clientKey: number,
  after: FeedPosition,
  limit: number,
  seenUntilMs = 0,
): Promise<FeedRead> {
  return inSnapshot(pool, async (db) => {
    const { keptSince, horizon, lateDays } = await readLine(db)
    // Ids are made a moment before the position, by the clock of another machine.
    const sinceMs = seenUntilMs - CLOCKS_APART_MS - WATCHED_AFTER_MS
    let found: readonly FeedRow[] = []
    for (const stretch of await readStretchesToRead(db, sinceMs, lateDays)) {
      if (isFull(found, limit, stretch, lateDays)) break
      const rows = await readStretch(db, clientKey, after, limit, stretch)
      found = [...found, ...rows].toSorted(inFeedOrder).slice(0, limit)
    }
    const held = found.filter(({ place }) => BigInt(place) >= horizon)
    return {
      events: found.slice(0, found.length - held.length).map(toFeedEvent),
      keptSince,
      heldSinceMs: held.length === 0 ? null : Math.min(...held.map(({ id }) => uuidTimeMs(id))),
    }
  })
}

/** All since an instant, and those before it in which a late day lies. */
async function readStretchesToRead(
  db: Db,
  sinceMs: number,
  lateDays: readonly number[],
): Promise<readonly Stretch[]> {
  const stretches = await readStretchesSince(db, 'events', Math.min(sinceMs, ...lateDays))
  return stretches.filter(
    ({ fromMs, toMs }) =>
      toMs > sinceMs || lateDays.some((dayMs) => dayMs < toMs && dayMs + DAY_MS > fromMs),
  )
}

async function readLine(db: Db): Promise<Line> {
  const [line, { rows }] = await Promise.all([
    readSettledLine(db),
    db.query<{ kept_since: Date | number; shift: string; timeline: number; late: number[] }>({
      name: 'read-feed-origin',
      text: `select kept_since, shift::text, timeline,
               array(select day - date '1970-01-01' from late_days) as late
             from feed_origin`,
    }),
  ])
  const [row] = rows
  // Our own mistake: an error is better than an empty feed for ever.
  if (row === undefined) throw new Error('feed_origin has no row')
  return {
    keptSince: row.kept_since instanceof Date ? row.kept_since : null,
    lateDays: row.late.map((day) => day * DAY_MS),
    horizon: placeOf(line, row),
  }
}

/** Positions are compared as a whole, which the index walks without sorting. What was erased is left out. */
async function readStretch(
  db: Db,
  clientKey: number,
  after: FeedPosition,
  limit: number,
  stretch: Stretch,
): Promise<readonly FeedRow[]> {
  const { rows } = await db.query<FeedRow>({
    text: `select id, payment_id, account_id, sequence, kind, created_at, text, place::text
           from events
           where client_key = $1 and (place, sequence, id) > ($2::bigint, $3::int, $4::uuid)
             and ${idsWithin(stretch, 'id')} and ${isWhole('text')}
           order by events.place, sequence, id limit $5`,
    values: [clientKey, after.position, after.sequence, after.id, limit],
  })
  return rows
}

/**
 * Positions and ids rise together, but not exactly: an event that was made over midnight may have the lower
 * position and the later day. So a page is full when all of it was made long before the stretch that is next. What came
 * late may stand after everything in the next one.
 */
function isFull(
  found: readonly FeedRow[],
  limit: number,
  { fromMs }: Stretch,
  lateDays: readonly number[],
): boolean {
  if (found.length < limit) return false
  return found.every(({ id }) => {
    const madeAtMs = uuidTimeMs(id)
    const isLate = lateDays.some((dayMs) => madeAtMs >= dayMs && madeAtMs < dayMs + DAY_MS)
    return madeAtMs < fromMs - CLOCKS_APART_MS && !isLate
  })
}

function inFeedOrder(one: FeedRow, other: FeedRow): number {
  const [position, otherPosition] = [BigInt(one.place), BigInt(other.place)]
  if (position !== otherPosition) return position < otherPosition ? -1 : 1
  return one.sequence - other.sequence || (one.id < other.id ? -1 : 1)
}

function toFeedEvent(row: FeedRow): FeedEvent {
  return {
    id: row.id,
    paymentId: row.payment_id,
    accountId: row.account_id,
    sequence: row.sequence,
    kind: row.kind,
    createdAt: row.created_at,
    text: row.text,
    position: row.place,
  }
}

export interface StoredEvent {
  kind: string
  sequence: number
  text: string
  documentHash: Uint8Array | null
}

/** One event of a client, of one account where it is given. */
export async function findEvent(
  db: Db,
  scope: { clientKey: number; accountId: string | null },
  eventId: string,
): Promise<StoredEvent | null> {
  const { rows } = await db.query<{
    kind: string
    sequence: number
    text: string
    document_hash: Buffer | null
  }>({
    // Without a name, so that it is planned for this id: only then are other days left alone.
    text: `select kind, sequence, text, document_hash from events
           where client_key = $1 and id = $2 and ($3::uuid is null or account_id = $3)`,
    values: [scope.clientKey, eventId, scope.accountId],
  })
  const [row] = rows
  if (row === undefined) return null
  const { kind, sequence, text, document_hash: documentHash } = row
  return { kind, sequence, text, documentHash }
}
