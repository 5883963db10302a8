// Which events a list of deliveries is about, newest first: one that was named, or those of some payments.

import type { Db } from '../connection/db.ts'
import { column } from '../sql/columns.ts'
import type { DeliveryQuery } from '../sql/delivery-query.ts'
import { CLOCKS_APART_MS, idsWithin, readStretches } from '../sql/stretches.ts'
import type { EventSpan } from './delivery-sources.ts'

/** Events of which the deliveries are looked up at once. */
const EVENTS_AT_ONCE = 400

export interface Spans {
  spans: readonly EventSpan[]
  /** All events from this id upwards are among them; null: all there are. */
  downTo: string | null
}

export async function readSpans(
  db: Db,
  { event, payments }: Pick<DeliveryQuery, 'event' | 'payments'>,
  beforeId: string | null,
): Promise<Spans> {
  if (event !== null) return { spans: [event], downTo: null }
  if (payments === null || payments.length === 0) return { spans: [], downTo: null }
  const spans = await readEventsOf(db, payments, beforeId)
  const last = spans.at(-1)
  const isCut = spans.length >= EVENTS_AT_ONCE && last !== undefined
  return { spans, downTo: isCut ? firstOfMillisecond(last.eventId) : null }
}

type PaymentKey = { clientKey: number; paymentId: string }

async function readEventsOf(
  db: Db,
  payments: readonly PaymentKey[],
  beforeId: string | null,
): Promise<readonly EventSpan[]> {
  const sinceMs = (await readFirstAcceptedMs(db, payments)) - CLOCKS_APART_MS
  const spans: EventSpan[] = []
  for (const stretch of await readStretches(db, 'events')) {
    if (stretch.toMs <= sinceMs || spans.length >= EVENTS_AT_ONCE) break
    const { rows } = await db.query<{ client_key: number; id: string }>({
      text: `select e.client_key, e.id
             from unnest($1::int[], $2::uuid[]) as k (client_key, payment_id)
             cross join lateral (
               select e.client_key, e.id from events e
               where e.client_key = k.client_key and e.payment_id = k.payment_id
                 and ($3::uuid is null or e.id <= $3) and ${idsWithin(stretch, 'e.id')} offset 0) as e
             -- With ties: what is looked at are whole milliseconds.
             order by left(e.id::text, 13) desc fetch first $4 rows with ties`,
      values: [
        column('int', payments, (key) => key.clientKey),
        column('uuid', payments, (key) => key.paymentId),
        beforeId === null ? null : lastIdBefore(beforeId),
        EVENTS_AT_ONCE - spans.length,
      ],
    })
    for (const row of rows) spans.push({ clientKey: row.client_key, eventId: row.id })
  }
  return spans
}

/** Before a payment was accepted there was nothing to tell. One that is gone may have begun at any time. */
export async function readFirstAcceptedMs(
  db: Db,
  payments: readonly PaymentKey[],
): Promise<number> {
  const { rows } = await db.query<{ count: number; first: Date | null }>({
    text: `select count(*)::int as count, min(p.accepted_at) as first
           from unnest($1::int[], $2::uuid[]) as k (client_key, payment_id)
           join payments p on p.id = k.payment_id and p.client_key = k.client_key`,
    values: [
      column('int', payments, (key) => key.clientKey),
      column('uuid', payments, (key) => key.paymentId),
    ],
  })
  const [row] = rows
  const areAllThere = row !== undefined && row.first !== null && row.count >= payments.length
  return areAllThere ? (row.first as Date).getTime() : Number.NEGATIVE_INFINITY
}

/** The last id whose millisecond still holds ids before this one. */
function lastIdBefore(id: string): string {
  const isFloor = id.endsWith('-0000-0000-000000000000')
  return isFloor ? id : `${id.slice(0, 13)}-ffff-ffff-ffffffffffff`
}

function firstOfMillisecond(id: string): string {
  return `${id.slice(0, 13)}-0000-0000-000000000000`
}
