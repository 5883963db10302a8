// From pending to final at a caller's request. The endpoint is marked first, so that the owner of its
// shard, in whichever process, drops what it holds in memory and reads what is left, which has nothing more to wait
// for. An attempt that is under way ends as it will: its recording finds no row, and changes nothing.

import type { Db } from '../connection/db.ts'
import { column } from '../sql/columns.ts'
import { FILED_REPLAY, movedColumns } from '../sql/file-deliveries.ts'
import { IN_CELL } from '../sql/planner.ts'
import { sameDelivery } from './held-deliveries.ts'
import type { PendingKey } from './one-delivery.ts'
import type { LaneKey } from './parked.ts'
import { releaseStrands } from './released-strands.ts'

export interface Cancelled extends LaneKey {
  id: string
  attempts: number
}

/** Clocks of two processes differ by less than this. */
const CLOCKS_APART_MS = 1_000
/** An attempt, its recording, and the time in which a pause is noticed: all of it and more. */
const ATTEMPT_MS_MAX = 60_000

/**
 * Cancels those of `keys` that are pending. To be called inside a transaction. Rows that another transaction
 * is writing are waited for, or passed over where `isWaiting` is false: then the caller
 * holds many rows, and waiting for the recorder, which holds many too, could last for ever.
 */
export async function cancelDeliveries(
  db: Db,
  keys: readonly PendingKey[],
  now: Date,
  { isWaiting }: { isWaiting: boolean },
): Promise<readonly Cancelled[]> {
  if (keys.length === 0) return []
  const lanes = [...new Map(keys.map((key) => [key.endpointId, key])).values()]
  const marked = db.query({
    name: 'mark-endpoints-of-cancelled',
    text: `with given as (
             select e.client_key, e.id from endpoints e
             where (e.client_key, e.id) in (select * from unnest($1::int[], $2::uuid[]))
             order by e.client_key, e.id for no key update of e)
           update endpoints e set deliveries_changed_at = greatest(e.deliveries_changed_at, $3)
           from given g where e.client_key = g.client_key and e.id = g.id`,
    values: [
      column('int', lanes, (key) => key.clientKey),
      column('uuid', lanes, (key) => key.endpointId),
      now,
    ],
  })
  const ended = db.query<{
    client_key: number
    id: string
    endpoint_id: string
    shard: number
    attempts: number
    payment_id: string
    sequence: number
    is_replay: boolean
  }>({
    name: isWaiting ? 'cancel-delivery' : 'cancel-deliveries',
    text: `with given as (
             select p.client_key, p.id, e.inactive_since from (
               select distinct client_key, id from unnest($1::int[], $2::uuid[]) as k (client_key, id)
               order by client_key, id) as k
             cross join lateral (
               select p.client_key, p.id, p.endpoint_id from pending_deliveries p
               where p.client_key = k.client_key and p.id = k.id
               for update of p ${isWaiting ? '' : 'skip locked'}) as p
             cross join lateral (
               select e.inactive_since from endpoints e
               where e.client_key = p.client_key and e.id = p.endpoint_id limit 1) as e
           ), ended as (
             delete from pending_deliveries p using given g where ${sameDelivery('g')}
             -- What waits for a later time is not under way, nor what was paused a while ago.
             returning p.*, (p.next_attempt_at is null
                 or p.next_attempt_at <= $4)
               and (g.inactive_since is null
                 or g.inactive_since > $5) as is_begun
           ), filed as (
             insert into final_deliveries
               (${movedColumns()}, state, finished_at, is_replay, attempts_begun)
             select ${movedColumns()}, 'CANCELLED', $3, ${FILED_REPLAY},
               case when is_begun then attempts + 1 end
             from ended where ${IN_CELL})
           select client_key, id, endpoint_id, shard, attempts, payment_id, sequence, is_replay
           from ended`,
    values: [
      column('int', keys, (key) => key.clientKey),
      column('uuid', keys, (key) => key.id),
      now,
      // As instants, because a distributed schema takes no sums of them in what a delete returns.
      new Date(now.getTime() + CLOCKS_APART_MS),
      new Date(now.getTime() - ATTEMPT_MS_MAX),
    ],
  })
  const [, { rows }] = await Promise.all([marked, ended])
  const cancelled = rows.map((row) => ({
    clientKey: row.client_key,
    id: row.id,
    endpointId: row.endpoint_id,
    shard: row.shard,
    attempts: row.attempts,
    paymentId: row.payment_id,
    sequence: row.sequence,
    isReplay: row.is_replay,
  }))
  await releaseStrands(
    db,
    cancelled.filter(({ isReplay }) => !isReplay),
    now,
  )
  return cancelled
}

/** Those of `keys` that are pending still. */
export async function findStillPending(
  db: Db,
  keys: readonly PendingKey[],
): Promise<ReadonlySet<string>> {
  if (keys.length === 0) return new Set()
  const { rows } = await db.query<{ id: string }>({
    name: 'find-still-pending',
    text: `select p.id from unnest($1::int[], $2::uuid[]) as k (client_key, id)
           cross join lateral (
             select p.id from pending_deliveries p
             where p.client_key = k.client_key and p.id = k.id limit 1) as p`,
    values: [column('int', keys, (key) => key.clientKey), column('uuid', keys, (key) => key.id)],
  })
  return new Set(rows.map((row) => row.id))
}
