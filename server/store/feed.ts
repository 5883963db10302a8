// The event feed: a client's events in one order that never changes behind a reader (migrations/0005).
// Whatever stands below the oldest transaction still running is settled: nothing is added there any
// more, so a reader that goes on from its last place misses nothing and sees nothing twice.

import type { FeedPlace } from '../core/feed-cursor.ts'
import type { Db } from './db.ts'
import type { EventView } from './events.ts'

export interface FeedEvent extends EventView {
  accountId: string
  place: string
}

export interface FeedRead {
  events: readonly FeedEvent[]
  /** Events of days before this are gone; null while none has ever been dropped. */
  keptSince: Date | null
}

interface FeedRow {
  kept_since: Date | number
  id: string | null
  payment_id: string
  account_id: string
  sequence: number
  kind: string
  created_at: Date
  text: string
  place: string
}

/**
 * What follows a place, of all the client's accounts. The line is drawn by the same snapshot that reads
 * the rows. Places are compared as a whole, which the index walks without sorting; in many partitions
 * at once, because a transaction that was open over midnight writes its events late.
 */
export async function readFeed(
  db: Db,
  clientKey: number,
  after: FeedPlace,
  limit: number,
): Promise<FeedRead> {
  const { rows } = await db.query<FeedRow>({
    name: 'read-feed',
    text: `select origin.kept_since, e.*
           from (select kept_since, feed_horizon(shift, timeline) as horizon
             from feed_origin offset 0) origin left join lateral (
             select id, payment_id, account_id, sequence, kind, created_at, text, place::text
             from events
             where client_key = $1 and (place, sequence, id) > ($2::bigint, $3::int, $4::uuid)
               and place < origin.horizon
             order by events.place, sequence, id limit $5) e on true`,
    values: [clientKey, after.place, after.sequence, after.id, limit],
  })
  const [first] = rows
  // Our own mistake, and better told than an empty feed for ever.
  if (first === undefined) throw new Error('feed_origin has no row')
  const { kept_since: keptSince } = first
  return {
    events: first.id === null ? [] : rows.map(toFeedEvent),
    keptSince: keptSince instanceof Date ? keptSince : null,
  }
}

function toFeedEvent(row: FeedRow): FeedEvent {
  return {
    id: row.id as string,
    paymentId: row.payment_id,
    accountId: row.account_id,
    sequence: row.sequence,
    kind: row.kind,
    createdAt: row.created_at,
    text: row.text,
    place: row.place,
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
    name: 'find-event',
    text: `select kind, sequence, text, document_hash from events
           where client_key = $1 and id = $2 and ($3::uuid is null or account_id = $3)`,
    values: [scope.clientKey, eventId, scope.accountId],
  })
  const [row] = rows
  if (row === undefined) return null
  const { kind, sequence, text, document_hash: documentHash } = row
  return { kind, sequence, text, documentHash }
}
