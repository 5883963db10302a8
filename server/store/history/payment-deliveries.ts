// How the deliveries of payments stand, counted for one page of a list: from the payments to their newest
// events, and from these to their deliveries, by keys alone. Each read says on which days to look.

import type { Pool } from 'pg'
import type { DeliveryState } from '../../core/delivery/delivery.ts'
import type { Db } from '../connection/db.ts'
import { inSnapshot } from '../connection/snapshot.ts'
import { column } from '../sql/columns.ts'
import { Parameters } from '../sql/parameters.ts'
import { CLOCKS_APART_MS, idsWithin, readStretches } from '../sql/stretches.ts'
import { spansBefore } from './delivery-lists.ts'
import { type EventSpan, finalOfSpans, pendingOfSpans, type Source } from './delivery-sources.ts'
import { readFirstAcceptedMs } from './event-spans.ts'

export type DeliveryCounts = Partial<Record<DeliveryState, number>>

/** Of a payment that was changed more often, the newest changes count. */
const EVENTS_COUNTED_MAX = 100

/** Payments without a delivery are not in the map. */
export function countDeliveries(
  pool: Pool,
  clientKey: number,
  paymentIds: readonly string[],
): Promise<ReadonlyMap<string, DeliveryCounts>> {
  return inSnapshot(pool, async (db) => {
    const counts = new Map<string, DeliveryCounts>()
    if (paymentIds.length === 0) return counts
    const spans = await readNewestEvents(db, clientKey, paymentIds)
    const add = async (sourceOf: (parameters: Parameters) => Source) => {
      const parameters = new Parameters()
      const { text } = sourceOf(parameters)
      const { rows } = await db.query<{ payment_id: string; state: DeliveryState; count: number }>({
        text: `select d.payment_id, d.state, count(*)::int as count from (${text}) as d group by 1, 2`,
        values: parameters.values,
      })
      for (const { payment_id: paymentId, state, count } of rows) {
        const of = counts.get(paymentId) ?? {}
        of[state] = (of[state] ?? 0) + count
        counts.set(paymentId, of)
      }
    }
    if (spans.length > 0) await add((parameters) => pendingOfSpans(spans, parameters))
    for (const stretch of await readStretches(db, 'final_deliveries')) {
      const before = spansBefore(spans, stretch)
      if (before.length === 0) break
      await add((parameters) => finalOfSpans(before, parameters, stretch))
    }
    return counts
  })
}

async function readNewestEvents(
  db: Db,
  clientKey: number,
  paymentIds: readonly string[],
): Promise<readonly EventSpan[]> {
  const keys = paymentIds.map((paymentId) => ({ clientKey, paymentId }))
  const sinceMs = (await readFirstAcceptedMs(db, keys)) - CLOCKS_APART_MS
  const seen = new Map<string, number>()
  const spans: EventSpan[] = []
  for (const stretch of await readStretches(db, 'events')) {
    if (stretch.toMs <= sinceMs) break
    const { rows } = await db.query<{ payment_id: string; id: string }>({
      text: `select k.payment_id, e.id from unnest($2::uuid[]) as k (payment_id)
             cross join lateral (
               select e.id from events e
               where e.client_key = $1 and e.payment_id = k.payment_id
                 and ${idsWithin(stretch, 'e.id')}
               order by e.sequence desc limit $3) as e`,
      values: [clientKey, column('uuid', paymentIds, (id) => id), EVENTS_COUNTED_MAX],
    })
    for (const { payment_id: paymentId, id } of rows) {
      const count = seen.get(paymentId) ?? 0
      if (count >= EVENTS_COUNTED_MAX) continue
      seen.set(paymentId, count + 1)
      spans.push({ clientKey, eventId: id })
    }
  }
  return spans
}
