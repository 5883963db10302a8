// What waited for another update of its payment is due when that one was cancelled. The engine has moved its time on to
// when the other would have been tried or given way (store/owed/unattempted, postponeDeliveries): hours, perhaps.

import type { Db } from '../connection/db.ts'
import { column } from '../sql/columns.ts'
import { filterOnly } from '../sql/planner.ts'
import { sameDelivery } from './held-deliveries.ts'

/** An update that is no longer owed, and that kept the order. */
export interface CancelledUpdate {
  clientKey: number
  endpointId: string
  paymentId: string
  sequence: number
  attempts: number
}

interface ReleasedStrand {
  clientKey: number
  endpointId: string
  paymentId: string
  /** The newest cancelled update that was attempted: all older ones waited for it. */
  triedSequence: number
}

/**
 * Updates that were not attempted wait for nothing else than an older one. Those that were have a time of their own,
 * unless a newer one has gone ahead of them. Rows that another transaction is writing are passed over: it holds many,
 * and what it writes of them is newer. So are those that a job has still to come to: one that cancels thousands would
 * send the later ones before it gets to them. To be called in the transaction that cancels, after it.
 */
export async function releaseStrands(
  db: Db,
  cancelled: readonly CancelledUpdate[],
  now: Date,
): Promise<void> {
  if (cancelled.length === 0) return
  const strands = toStrands(cancelled)
  await db.query({
    name: 'release-strands',
    text: `with late as (
             select distinct s.client_key, s.id
             from unnest($1::int[], $2::uuid[], $3::uuid[], $4::int[])
               as c (client_key, endpoint_id, payment_id, tried_sequence)
             cross join lateral (
               select s.client_key, s.id from pending_deliveries s
               where s.endpoint_id = c.endpoint_id and s.payment_id = c.payment_id
                 and ${filterOnly('s.client_key', 'c.client_key')}
                 and not s.is_replay and (s.run_attempts = 0 or s.sequence < c.tried_sequence)
                 -- With a coalesce, because the planner would take the index of what is due. What is parked stays so.
                 and coalesce(s.next_attempt_at, '-infinity') > $5
                 -- Not as a join, which would turn the plan of the whole.
                 and (select i.job_id from job_items i
                   where i.client_key = s.client_key and i.delivery_id = s.id) is null
               offset 0) as s
           ), free as (
             select p.* from (select * from late order by client_key, id) as l
             cross join lateral (
               select p.client_key, p.id from pending_deliveries p
               where p.client_key = l.client_key and p.id = l.id
               for update of p skip locked) as p)
           update pending_deliveries p set next_attempt_at = $5 from free f where ${sameDelivery('f')}`,
    values: [
      column('int', strands, (strand) => strand.clientKey),
      column('uuid', strands, (strand) => strand.endpointId),
      column('uuid', strands, (strand) => strand.paymentId),
      column('int', strands, (strand) => strand.triedSequence),
      now,
    ],
  })
}

function toStrands(cancelled: readonly CancelledUpdate[]): readonly ReleasedStrand[] {
  const strands = new Map<string, ReleasedStrand>()
  for (const { clientKey, endpointId, paymentId, sequence, attempts } of cancelled) {
    const key = `${endpointId}/${paymentId}`
    const tried = strands.get(key)?.triedSequence ?? 0
    const triedSequence = attempts > 0 ? Math.max(tried, sequence) : tried
    strands.set(key, { clientKey, endpointId, paymentId, triedSequence })
  }
  return [...strands.values()]
}
