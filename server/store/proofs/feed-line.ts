// Where places of the feed stand now: the line below which all is settled, and the one above which nothing is yet.
// Asked apart from any table. Where these live on another node, that one has transactions of its own, and places
// were given by the node that we are connected to. A line that is older than the rows is a line all the same:
// within a transaction of one snapshot both are of the same moment.

import type { Db } from '../connection/db.ts'

export interface FeedOrigin {
  shift: string
  timeline: number
}

export async function readFeedOrigin(db: Db): Promise<FeedOrigin> {
  const { rows } = await db.query<FeedOrigin>({
    name: 'read-origin',
    text: 'select shift::text, timeline from feed_origin',
  })
  const [row] = rows
  // Our own mistake: an error is better than a line that never moves.
  if (row === undefined) throw new Error('feed_origin has no row')
  return row
}

export interface SettledLine {
  transactionId: string
  timeline: number
}

/**
 * Nothing is added below it any more. To be asked before any table is read, also in a transaction of one snapshot:
 * a node that has the tables takes its own when it is asked first, and must see all that has ended by this line.
 */
export async function readSettledLine(db: Db): Promise<SettledLine> {
  const { rows } = await db.query<SettledLine>({
    name: 'read-settled-line',
    text: `select feed_horizon(0, feed_timeline())::text as "transactionId",
             feed_timeline() as timeline`,
  })
  return rows[0] as SettledLine
}

/** The same as place_of in SQL (migrations/0012). */
export function placeOf({ transactionId, timeline }: SettledLine, origin: FeedOrigin): bigint {
  const timelines = BigInt(Math.max(timeline - origin.timeline, 0))
  return BigInt(transactionId) + BigInt(origin.shift) + (timelines << 40n)
}

/** No transaction that has ended has a place at it or above. */
export async function readUpperLine(db: Db, { shift, timeline }: FeedOrigin): Promise<string> {
  const { rows } = await db.query<{ place: string }>({
    name: 'read-upper-line',
    text: `select place_of(pg_snapshot_xmax(pg_current_snapshot())::text::bigint, feed_timeline(),
             $1::bigint, $2::integer)::text as place`,
    values: [shift, timeline],
  })
  return rows[0]?.place as string
}

/**
 * A place above those of all transactions that have begun to write before. It is that of a transaction of its own:
 * the upper end of a snapshot is not that, but the end of what has been completed.
 */
export async function takePlace(db: Db, { shift, timeline }: FeedOrigin): Promise<string> {
  const { rows } = await db.query<{ place: string }>({
    name: 'take-place',
    text: `select place_of(pg_current_xact_id()::text::bigint, feed_timeline(), $1::bigint,
             $2::integer)::text as place`,
    values: [shift, timeline],
  })
  return rows[0]?.place as string
}
