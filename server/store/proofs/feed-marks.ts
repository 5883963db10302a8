// How far the past is settled: which moment lies before everything that transactions still under way have begun
// to write. A mark is a place of the feed with the time at which it was given out; when the feed's horizon has
// passed it, whatever had begun to write by that time has ended (store/history/feed.ts has the same line). A mark of a time that
// has not come was made by a clock that was wrong: it says nothing, and is removed.

import type { Db } from '../connection/db.ts'
import { placeOf, readFeedOrigin, readSettledLine, takePlace } from './feed-line.ts'

/** Askers write one when there is none of the last minute; upkeep writes one an hour. */
const MARK_EVERY_MS = 60_000
/** A newer mark that is settled replaces all older ones. */
const MARKS_KEPT_MS = 7 * 86_400_000

/**
 * Before the snapshot that reads: a mark that is made within it could not be settled. Not by a clock that has just
 * jumped ahead.
 */
export async function markFeed(db: Db, now: Date): Promise<void> {
  const [since, until] = [-MARK_EVERY_MS, MARK_EVERY_MS].map((ms) => new Date(now.getTime() + ms))
  const { rows } = await db.query<{ has: boolean; is_ahead: boolean }>({
    name: 'has-mark',
    text: `select exists (select from feed_marks where at > $1 and at <= $2) as has,
             exists (select from feed_marks where at > $2) as is_ahead`,
    values: [since, until],
  })
  if (rows[0]?.is_ahead) await deleteMarksAhead(db, until as Date)
  if (rows[0]?.has) return
  // Taken after `now`: what had begun to write by then stands below.
  const place = await takePlace(db, await readFeedOrigin(db))
  await db.query({
    name: 'mark-feed',
    text: 'insert into feed_marks (at, place) values ($1, $2) on conflict do nothing',
    values: [now, place],
  })
}

/** Processes read the database's clock a moment apart: what is less ahead will soon be true. */
async function deleteMarksAhead(db: Db, until: Date): Promise<void> {
  await db.query('delete from feed_marks where at > $1', [until])
}

export interface Settled {
  /** Null while no mark is settled. */
  settledAtMs: number | null
  /** What ended before this is no longer kept; minus infinity while everything is. */
  endedSinceMs: number
  /** Nothing is added below this place of the feed. */
  place: string
}

/** By the snapshot that reads the rows, or by an earlier one. Without `now`, which is in doubt, nothing is settled. */
export async function readSettled(db: Db, now: Date | null): Promise<Settled> {
  const line = await readSettledLine(db)
  const place = String(placeOf(line, await readFeedOrigin(db)))
  const { rows } = await db.query<{ at: Date | null; ended_since: Date | number }>({
    name: 'read-settled',
    text: `select o.ended_since, (select m.at from feed_marks m
             where m.place <= $1::bigint and m.at <= $2::timestamptz order by m.at desc limit 1) as at
           from feed_origin o`,
    values: [place, now],
  })
  const [row] = rows
  // Our own mistake: an error is better than hours that are never final.
  if (row === undefined) throw new Error('feed_origin has no row')
  const { at, ended_since: endedSince } = row
  return { settledAtMs: at?.getTime() ?? null, endedSinceMs: toEndedSinceMs(endedSince), place }
}

/**
 * The same instant alone. Events may be kept for longer, because others are still owed some of their day; whether an
 * endpoint was owed one of these can no longer be told.
 */
export async function readEndedSinceMs(db: Db): Promise<number> {
  const { rows } = await db.query<{ ended_since: Date | number }>({
    name: 'read-ended-since',
    text: 'select ended_since from feed_origin',
  })
  const [row] = rows
  // As above: without it, everything would count as never owed.
  if (row === undefined) throw new Error('feed_origin has no row')
  return toEndedSinceMs(row.ended_since)
}

/** The driver reads minus infinity as a number. */
function toEndedSinceMs(endedSince: Date | number): number {
  return endedSince instanceof Date ? endedSince.getTime() : Number.NEGATIVE_INFINITY
}

export async function deleteOldMarks(db: Db, now: Date): Promise<void> {
  await db.query('delete from feed_marks where at < $1', [new Date(now.getTime() - MARKS_KEPT_MS)])
}
