// Parked deliveries: owed, but without a due time, because their lane cannot move or has enough in
// memory. They cost nothing until the lane asks for them, in order, a page at a time.

import type { ShardEpoch } from '../../core/delivery/lease.ts'
import type { QueuedDelivery } from '../../core/delivery/queued-delivery.ts'
import type { Db } from '../connection/db.ts'
import { column } from '../sql/columns.ts'
import { fileAs } from '../sql/file-deliveries.ts'
import { hideLength, IN_CELL } from '../sql/planner.ts'
import { timesWithin } from '../sql/stretches.ts'
import { QUEUED_COLUMNS, type QueuedRow, toQueued } from './deliveries.ts'
import {
  guardedRows,
  HELD,
  type HeldDelivery,
  leaseColumns,
  sameDelivery,
} from './held-deliveries.ts'

export interface LaneKey {
  clientKey: number
  endpointId: string
  shard: number
}

interface LaneRow {
  client_key: number
  endpoint_id: string
  shard: number
}

function toLaneKey(row: LaneRow): LaneKey {
  return { clientKey: row.client_key, endpointId: row.endpoint_id, shard: row.shard }
}

const DELIVERIES = guardedRows<HeldDelivery>([], 0)

export async function parkDeliveries(db: Db, deliveries: readonly HeldDelivery[]): Promise<void> {
  if (deliveries.length === 0) return
  await db.query({
    name: 'park-deliveries',
    text: `with ${DELIVERIES.head}
      update pending_deliveries p set next_attempt_at = null from mine m where ${sameDelivery('m')}`,
    values: DELIVERIES.values(deliveries),
  })
}

/** Which active endpoints have something parked: one descent into the index per lane, not per row. */
export async function readParkedLanes(
  db: Db,
  shards: readonly number[],
): Promise<readonly LaneKey[]> {
  const { rows } = await db.query<LaneRow>({
    name: 'read-parked-lanes',
    text: `select s.shard, l.client_key, l.endpoint_id
           from unnest(${hideLength('$1', 'smallint[]')}) as s (shard) cross join lateral (
             with recursive lane as (
               (select p.client_key, p.endpoint_id from pending_deliveries p
                where p.shard = s.shard and p.next_attempt_at is null
                order by p.client_key, p.endpoint_id limit 1)
               union all
               select n.client_key, n.endpoint_id from lane cross join lateral (
                 select p.client_key, p.endpoint_id from pending_deliveries p
                 where p.shard = s.shard and p.next_attempt_at is null
                   and (p.client_key, p.endpoint_id) > (lane.client_key, lane.endpoint_id)
                 order by p.client_key, p.endpoint_id limit 1) as n)
             select * from lane) as l
           cross join lateral (
             -- One look for each lane: as a plain join, all endpoints may be read first.
             select from endpoints e
             where e.client_key = l.client_key and e.id = l.endpoint_id
               and e.status = 'ACTIVE' and e.deleted_at is null limit 1) as active`,
    values: [column('smallint', shards, (shard) => shard)],
  })
  return rows.map(toLaneKey)
}

export async function readParked(
  db: Db,
  lane: LaneKey,
  afterId: string,
  limit: number,
): Promise<readonly QueuedDelivery[]> {
  const { rows } = await db.query<QueuedRow>({
    name: 'read-parked',
    text: `select ${QUEUED_COLUMNS} from pending_deliveries d
           where d.shard = $1 and d.client_key = $2 and d.endpoint_id = $3
             and d.next_attempt_at is null and d.id > $4
           order by d.id limit $5`,
    values: [lane.shard, lane.clientKey, lane.endpointId, afterId, limit],
  })
  return rows.map(toQueued)
}

/** A part of what is parked in a lane, in order. */
export interface ParkedPage {
  afterId: string
  limit: number
}

export interface ExhaustedPage {
  exhausted: number
  /** Where the next page begins; null when this was the last. */
  afterId: string | null
}

/**
 * What is parked by an open circuit still ends when its 7 days are over; not while its endpoint
 * is paused or disabled, because that time does not count. A page at a time: a lane may have millions parked, of
 * which no index knows the deadlines.
 */
export async function exhaustParked(
  db: Db,
  lane: LaneKey & { epoch: number },
  { afterId, limit }: ParkedPage,
  now: Date,
): Promise<ExhaustedPage> {
  const { rows } = await db.query<{ exhausted: number; looked: number; last_id: string | null }>({
    name: 'exhaust-parked',
    text: `with held as (
             select 1 as one from leases where shard = $1 and epoch = $4 for key share
           ), active as (
             select 1 as one from endpoints where client_key = $2 and id = $3 and status = 'ACTIVE' for share
           ), page as materialized (
             select p.client_key, p.id, p.deadline_at from pending_deliveries p
             where p.shard = $1 and p.client_key = $2 and p.endpoint_id = $3
               and p.next_attempt_at is null and p.id > $6
             order by p.id limit $7
           ), ended as (
             delete from pending_deliveries p using page g
             where exists (select from held) and exists (select from active)
               and g.deadline_at <= $5 and ${sameDelivery('g')} and p.deadline_at <= $5
               and p.run_attempts > 0
             returning p.*
           ), filed as (
             ${fileAs('EXHAUSTED', 'ended', '$5')} where ${IN_CELL})
           select (select count(*)::int from ended) as exhausted, count(*)::int as looked,
             (select id from page order by id desc limit 1) as last_id
           from page`,
    values: [lane.shard, lane.clientKey, lane.endpointId, lane.epoch, now, afterId, limit],
  })
  const { exhausted, looked, last_id } = rows[0] as (typeof rows)[number]
  return { exhausted, afterId: looked < limit ? null : last_id }
}

async function hasFailedSince(db: Db, since: Date): Promise<boolean> {
  const { rows } = await db.query<{ has: boolean }>({
    name: 'has-failed-since',
    text: 'select exists (select from endpoint_health where failing_since < $1) as has',
    values: [since],
  })
  return rows[0]?.has === true
}

/**
 * Nothing but failures for 7 days: the service disables the endpoint itself. It loses nothing; what
 * it is owed waits until it is active again.
 */
export async function disableFailing(
  db: Db,
  shards: readonly ShardEpoch[],
  since: Date,
  now: Date,
): Promise<readonly LaneKey[]> {
  if (!(await hasFailedSince(db, since))) return []
  const { rows } = await db.query<LaneRow>({
    // Planned for these days: see store/sql/stretches.ts.
    text: `with ${HELD}
           update endpoints e set status = 'DISABLED', inactive_since = $4, changed_at = $4
           from endpoint_health h, held
           where h.client_key = e.client_key and h.endpoint_id = e.id and held.shard = e.shard
             -- Resumed, or given another key, a moment ago: it gets another 7 days.
             and h.failing_since < $3 and e.changed_at < $3 and e.status = 'ACTIVE' and e.deleted_at is null
             -- Health is written now and then: a success that a killed process did not get to tell of.
             and not exists (select from final_deliveries f
               where f.client_key = e.client_key and f.endpoint_id = e.id
                 and f.state = 'DELIVERED' and f.finished_at >= $3
                 and ${timesWithin({ fromMs: since.getTime(), toMs: Number.POSITIVE_INFINITY }, 'f.finished_at')})
           returning e.client_key, e.id as endpoint_id, e.shard`,
    values: [...leaseColumns(shards), since, now],
  })
  return rows.map(toLaneKey)
}
