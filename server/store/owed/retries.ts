// What is owed becomes due now, at a caller's request, in the same run and the same order: the engine still sends the
// updates of a payment one by one, the oldest first. The endpoint is marked, so that the owner of its shard, in
// whichever process, reads again what it holds in memory, and probes an endpoint that is down at once.

import type { Db } from '../connection/db.ts'
import { column } from '../sql/columns.ts'
import { filterOnly, owedTo } from '../sql/planner.ts'
import { sameDelivery } from './held-deliveries.ts'
import type { PendingKey } from './one-delivery.ts'
import type { LaneKey } from './parked.ts'

export interface Retried extends LaneKey {
  id: string
  attempts: number
  nextAttemptAt: Date
}

/**
 * Marks those of the endpoints that are active, and lets the next attempt probe those that are down. To be called
 * inside a transaction: they stay locked until it ends, so none is paused or deleted in between.
 */
export async function markRetried(
  db: Db,
  keys: readonly { clientKey: number; endpointId: string }[],
  now: Date,
): Promise<readonly LaneKey[]> {
  if (keys.length === 0) return []
  const lanes = [...new Map(keys.map((key) => [key.endpointId, key])).values()]
  const { rows } = await db.query<{ client_key: number; endpoint_id: string; shard: number }>({
    name: 'mark-retried-endpoints',
    text: `with given as (
             select e.* from (
               select * from unnest($1::int[], $2::uuid[]) as k (client_key, id)
               order by client_key, id) as k
             cross join lateral (
               select e.client_key, e.id from endpoints e
               where e.client_key = k.client_key and e.id = k.id
                 and e.status = 'ACTIVE' and e.deleted_at is null
               for no key update of e) as e
           ), ${PROBED_NOW}
           update endpoints e set
             deliveries_changed_at = greatest(e.deliveries_changed_at, $3),
             retried_at = greatest(e.retried_at, $3)
           from given g where e.client_key = g.client_key and e.id = g.id
           returning e.client_key, e.id as endpoint_id, e.shard`,
    values: [
      column('int', lanes, (key) => key.clientKey),
      column('uuid', lanes, (key) => key.endpointId),
      now,
    ],
  })
  return rows.map((row) => ({
    clientKey: row.client_key,
    endpointId: row.endpoint_id,
    shard: row.shard,
  }))
}

/**
 * Of the endpoints `given`, by `$3`. What the engine is writing at this moment is passed over: it writes many rows at
 * once, in an order of its own, and says what its lane knows a moment later.
 */
const PROBED_NOW = `down as (
    select h.* from given g cross join lateral (
      select h.client_key, h.endpoint_id from endpoint_health h
      where h.client_key = g.client_key and h.endpoint_id = g.id and h.circuit <> 'CLOSED'
      for no key update of h skip locked) as h
  ), probed as (
    update endpoint_health h set circuit = 'HALF_OPEN', next_probe_at = $3
    from down d where h.client_key = d.client_key and h.endpoint_id = d.endpoint_id)`

/** The endpoint is active again: where it was down, the next attempt probes it. In the transaction that resumes it. */
export async function probeResumed(
  db: Db,
  clientKey: number,
  endpointId: string,
  now: Date,
): Promise<void> {
  await db.query({
    name: 'probe-resumed-endpoint',
    text: `with given as (select $1::int as client_key, $2::uuid as id), ${PROBED_NOW}
           update endpoints e set retried_at = $3
           from given g where e.client_key = g.client_key and e.id = g.id`,
    values: [clientKey, endpointId, now],
  })
}

/**
 * Everything that these payments are owed at the endpoint of each delivery is due now: older updates go first, and
 * newer ones only waited. A replay keeps no order, and moves alone. Rows that another transaction is writing are
 * waited for, or passed over where `isWaiting` is false, as cancelDeliveries does it. After markRetried.
 */
export async function retryDeliveries(
  db: Db,
  keys: readonly PendingKey[],
  now: Date,
  { isWaiting }: { isWaiting: boolean },
): Promise<readonly Retried[]> {
  if (keys.length === 0) return []
  const { rows } = await db.query<{
    client_key: number
    id: string
    endpoint_id: string
    shard: number
    attempts: number
    next_attempt_at: Date
  }>({
    name: isWaiting ? 'retry-delivery' : 'retry-deliveries',
    text: `with asked as (
             select p.* from (
               select distinct client_key, id from unnest($1::int[], $2::uuid[]) as k (client_key, id)) as k
             cross join lateral (
               select p.client_key, p.id, p.endpoint_id, p.payment_id, p.is_replay
               from pending_deliveries p
               where p.client_key = k.client_key and p.id = k.id limit 1) as p
           ), strands as (
             select distinct s.client_key, s.id from asked a cross join lateral (
               select s.client_key, s.id from pending_deliveries s
               where s.endpoint_id = a.endpoint_id and s.payment_id = a.payment_id
                 and ${filterOnly('s.client_key', 'a.client_key')}
                 and case when a.is_replay then s.id = a.id else not s.is_replay end
               offset 0) as s
           ), free as (
             select p.* from (select * from strands order by client_key, id) as s
             cross join lateral (
               select p.client_key, p.id from pending_deliveries p
               where p.client_key = s.client_key and p.id = s.id
               for update of p ${isWaiting ? '' : 'skip locked'}) as p)
           update pending_deliveries p set next_attempt_at = $3
           from free f where ${sameDelivery('f')}
           returning p.client_key, p.id, p.endpoint_id, p.shard, p.attempts, p.next_attempt_at`,
    values: [
      column('int', keys, (key) => key.clientKey),
      column('uuid', keys, (key) => key.id),
      now,
    ],
  })
  return rows.map((row) => ({
    clientKey: row.client_key,
    id: row.id,
    endpointId: row.endpoint_id,
    shard: row.shard,
    attempts: row.attempts,
    nextAttemptAt: row.next_attempt_at,
  }))
}

export interface RetriedLane {
  /** Everything that the endpoint is owed. */
  owed: number
  /** Rows that another transaction was writing: an outcome, most likely. They have kept their time. */
  passedOver: number
}

/** Whether its last attempts have failed, as far as health tells. */
export async function isFailing(db: Db, clientKey: number, endpointId: string): Promise<boolean> {
  const { rows } = await db.query<{ is: boolean }>({
    name: 'is-failing',
    text: `select failing_since is not null as is from endpoint_health
           where client_key = $1 and endpoint_id = $2`,
    values: [clientKey, endpointId],
  })
  return rows[0]?.is === true
}

/**
 * Everything that one endpoint is owed is due now, or that of one account where it is given. What is parked stays
 * parked: it has no time to wait for, and its lane takes it up, in order and no faster than the endpoint can bear.
 * After markRetried.
 */
export async function retryDeliveriesOf(
  db: Db,
  clientKey: number,
  endpointId: string,
  accountId: string | null,
  now: Date,
): Promise<RetriedLane> {
  const { rows } = await db.query<{ owed: number; late: number; moved: number }>({
    name: 'retry-deliveries-of-endpoint',
    text: `with owed as materialized (
             -- Also what is due already: its first attempt may be under way, and what that records leaves a later
             -- time alone (store/owed/outcomes.ts).
             select p.client_key, p.id, p.next_attempt_at is not null as is_late
             from pending_deliveries p
             where ${owedTo('p', '$1', '$2')} and ($4::uuid is null or p.account_id = $4)
           ), free as (
             select p.* from (select * from owed where is_late order by id) as o
             cross join lateral (
               select p.client_key, p.id from pending_deliveries p
               where p.client_key = o.client_key and p.id = o.id
               for update of p skip locked) as p
           ), moved as (
             update pending_deliveries p set next_attempt_at = $3
             from free f where ${sameDelivery('f')}
             returning p.id)
           select count(*)::int as owed, count(*) filter (where is_late)::int as late,
             (select count(*)::int from moved) as moved
           from owed`,
    values: [clientKey, endpointId, now, accountId],
  })
  const { owed, late, moved } = rows[0] as (typeof rows)[number]
  return { owed, passedOver: late - moved }
}
