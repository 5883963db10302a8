// Attempts at listeners while they are under way. The owner of the shard offers; the process that
// the listener asks takes the offer for it, once, and notes what came of it; the owner removes it.

import type { Outcome, UnreachableReason } from '../../core/delivery/delivery.ts'
import type { Db } from '../connection/db.ts'
import { column } from '../sql/columns.ts'
import type { ListenerKey } from './listeners.ts'

export interface Offer extends ListenerKey {
  id: string
  /** Null for a test. */
  deliveryId: string | null
  eventId: string
  attempt: number
  /** Name, value, name, value … */
  headers: readonly string[]
  /** Null where the event holds it. */
  body: Uint8Array | null
  deadlineAt: Date
}

export interface OfferKey extends ListenerKey {
  id: string
}

/** What came of an attempt, as the listener tells it. */
export interface OfferAnswer {
  outcome: Extract<Outcome, { kind: 'answered' | 'unreachable' }>
  durationMs: number
}

/** An earlier offer of the same delivery is void: its owner is gone, or it would not be offered again. */
export async function insertOffer(db: Db, offer: Offer, now: Date): Promise<void> {
  await db.query({
    name: 'insert-listener-offer',
    text: `with void as (
             delete from listener_offers
             where client_key = $1 and listener_id = $2 and delivery_id = $4)
           insert into listener_offers
             (client_key, listener_id, id, delivery_id, event_id, attempt, headers, body, offered_at,
              deadline_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    values: [
      offer.clientKey,
      offer.listenerId,
      offer.id,
      offer.deliveryId,
      offer.eventId,
      offer.attempt,
      offer.headers,
      offer.body,
      now,
      offer.deadlineAt,
    ],
  })
}

/** Takes the oldest that is not taken. */
export async function takeOffer(
  db: Db,
  { clientKey, listenerId }: ListenerKey,
  now: Date,
): Promise<Offer | null> {
  const { rows } = await db.query<{
    id: string
    delivery_id: string | null
    event_id: string
    attempt: number
    headers: string[]
    body: Buffer | null
    deadline_at: Date
  }>({
    name: 'take-listener-offer',
    text: `with first as materialized (
             select id from listener_offers
             where client_key = $1 and listener_id = $2 and taken_at is null and deadline_at > $3
             order by id limit 1 for update skip locked)
           update listener_offers o set taken_at = $3 from first
           where o.client_key = $1 and o.listener_id = $2 and o.id = first.id
           returning o.id, o.delivery_id, o.event_id, o.attempt, o.headers, o.body, o.deadline_at`,
    values: [clientKey, listenerId, now],
  })
  const [row] = rows
  if (row === undefined) return null
  return {
    clientKey,
    listenerId,
    id: row.id,
    deliveryId: row.delivery_id,
    eventId: row.event_id,
    attempt: row.attempt,
    headers: row.headers,
    body: row.body,
    deadlineAt: row.deadline_at,
  }
}

/** The listener that took it was gone before it was handed over: it may be taken again. */
export async function giveOfferBack(db: Db, key: OfferKey): Promise<void> {
  await db.query({
    text: `update listener_offers set taken_at = null
           where client_key = $1 and listener_id = $2 and id = $3 and outcome is null`,
    values: [key.clientKey, key.listenerId, key.id],
  })
}

/** Which of these have an offer that is not taken. */
export async function findOffered(
  db: Db,
  listeners: readonly ListenerKey[],
  now: Date,
): Promise<readonly string[]> {
  const { rows } = await db.query<{ listener_id: string }>({
    name: 'find-offered-listeners',
    text: `select k.listener_id from unnest($1::int[], $2::uuid[]) as k (client_key, listener_id)
           where exists (
             select from listener_offers o
             where o.client_key = k.client_key and o.listener_id = k.listener_id
               and o.taken_at is null and o.deadline_at > $3)`,
    values: [
      column('int', listeners, ({ clientKey }) => clientKey),
      column('uuid', listeners, ({ listenerId }) => listenerId),
      now,
    ],
  })
  return rows.map((row) => row.listener_id)
}

/** False when its owner no longer waits: it is unknown, answered already, or its time is over. */
export async function answerOffer(
  db: Db,
  key: OfferKey,
  { outcome, durationMs }: OfferAnswer,
  now: Date,
): Promise<boolean> {
  const answered = outcome.kind === 'answered' ? outcome : null
  const { rowCount } = await db.query({
    name: 'answer-listener-offer',
    text: `update listener_offers set outcome = $4, status = $5, duration_ms = $6, retry_after = $7,
             excerpt = $8
           where client_key = $1 and listener_id = $2 and id = $3 and taken_at is not null
             and outcome is null and deadline_at > $9`,
    values: [
      key.clientKey,
      key.listenerId,
      key.id,
      outcome.kind === 'answered' ? 'answered' : outcome.reason,
      answered?.status ?? null,
      durationMs,
      answered?.retryAfter ?? null,
      answered?.excerpt ?? null,
      now,
    ],
  })
  return rowCount === 1
}

interface AnsweredRow {
  id: string
  outcome: string | null
  status: number | null
  duration_ms: number
  retry_after: string | null
  excerpt: Buffer | null
}

const ANSWER_COLUMNS = 'o.id, o.outcome, o.status, o.duration_ms, o.retry_after, o.excerpt'

/** Removes those of these that are answered; tells the answers. */
export async function collectAnswers(
  db: Db,
  keys: readonly OfferKey[],
): Promise<ReadonlyMap<string, OfferAnswer>> {
  const { rows } = await db.query<AnsweredRow>({
    name: 'collect-listener-answers',
    text: `delete from listener_offers o
           using unnest($1::int[], $2::uuid[], $3::uuid[]) as k (client_key, listener_id, id)
           where o.client_key = k.client_key and o.listener_id = k.listener_id and o.id = k.id
             and o.outcome is not null
           returning ${ANSWER_COLUMNS}`,
    values: [
      column('int', keys, ({ clientKey }) => clientKey),
      column('uuid', keys, ({ listenerId }) => listenerId),
      column('uuid', keys, ({ id }) => id),
    ],
  })
  return new Map(rows.map((row) => [row.id, toAnswer(row)]))
}

/** Removes an offer whose time is over. `isTaken` false: no listener has seen it, and none will. */
export async function withdrawOffer(
  db: Db,
  key: OfferKey,
): Promise<{ answer: OfferAnswer | null; isTaken: boolean }> {
  const { rows } = await db.query<AnsweredRow & { is_taken: boolean }>({
    name: 'withdraw-listener-offer',
    text: `delete from listener_offers o
           where o.client_key = $1 and o.listener_id = $2 and o.id = $3
           returning ${ANSWER_COLUMNS}, o.taken_at is not null as is_taken`,
    values: [key.clientKey, key.listenerId, key.id],
  })
  const [row] = rows
  // Gone: it was cleared away, and a listener may have seen it before.
  if (row === undefined) return { answer: null, isTaken: true }
  return { answer: row.outcome === null ? null : toAnswer(row), isTaken: row.is_taken }
}

/** Removes those of these that are not taken; returns which. */
export async function withdrawUntaken(
  db: Db,
  keys: readonly OfferKey[],
): Promise<readonly string[]> {
  const { rows } = await db.query<{ id: string }>({
    text: `delete from listener_offers o
           using unnest($1::int[], $2::uuid[], $3::uuid[]) as k (client_key, listener_id, id)
           where o.client_key = k.client_key and o.listener_id = k.listener_id and o.id = k.id
             and o.taken_at is null
           returning o.id`,
    values: [
      column('int', keys, ({ clientKey }) => clientKey),
      column('uuid', keys, ({ listenerId }) => listenerId),
      column('uuid', keys, ({ id }) => id),
    ],
  })
  return rows.map(({ id }) => id)
}

function toAnswer(row: AnsweredRow): OfferAnswer {
  const { status, retry_after: retryAfter, excerpt } = row
  const outcome: OfferAnswer['outcome'] =
    status === null
      ? { kind: 'unreachable', reason: row.outcome as UnreachableReason }
      : {
          kind: 'answered',
          status,
          ...(retryAfter === null ? {} : { retryAfter }),
          ...(excerpt === null ? {} : { excerpt }),
        }
  return { outcome, durationMs: row.duration_ms }
}

/** What owners that died have left. */
export async function deleteOldOffers(db: Db, before: Date): Promise<void> {
  await db.query({
    text: 'delete from listener_offers where deadline_at < $1',
    values: [before],
  })
}
