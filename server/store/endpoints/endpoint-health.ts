// Endpoint health, written from the engine's counters when it has news, otherwise once a minute, and read with
// what is pending now.

import { DAY_MS } from '../../core/delivery/backoff.ts'
import { probeTimeMs } from '../../core/delivery/due.ts'
import {
  DURATION_BUCKETS,
  type EndpointHealth,
  percentileMs,
  type ShownHealth,
} from '../../core/delivery/health.ts'
import type { Db } from '../connection/db.ts'
import { column } from '../sql/columns.ts'
import { hideLength, owedTo } from '../sql/planner.ts'

/** What one endpoint's attempts have shown since the last write. */
export interface HealthDelta {
  clientKey: number
  endpointId: string
  attempts: number
  delivered: number
  durations: readonly number[]
  lastSuccessAtMs: number | null
  lastFailureAtMs: number | null
  lastError: string | null
  /** The first failure after the last success among these attempts, if they end in failure. */
  failingSinceMs: number | null
  circuit: EndpointHealth['circuit']
  /** Null exactly while the circuit is closed. */
  nextProbeAtMs: number | null
}

/** A stored success that is further ahead than this is of a clock that was wrong, and says nothing. */
const AHEAD_MS_MAX = 60_000

export async function saveHealth(db: Db, deltas: readonly HealthDelta[], now: Date): Promise<void> {
  if (deltas.length === 0) return
  // A text of its own each time: in a distributed cell a parameter outside of the select is refused (decision 0050).
  const aheadFrom = new Date(now.getTime() + AHEAD_MS_MAX).toISOString()
  await db.query({
    text: `insert into endpoint_health as h
             (client_key, endpoint_id, failing_since, last_success_at, last_failure_at, last_error,
              circuit, next_probe_at)
           select * from unnest($1::int[], $2::uuid[], $3::timestamptz[], $4::timestamptz[],
             $5::timestamptz[], $6::text[], $7::text[], $8::timestamptz[])
           on conflict (client_key, endpoint_id) do update set
             -- After a success in between the count starts again; without one the older beginning stays.
             failing_since = case when excluded.failing_since is null then null
               when excluded.last_success_at is not null then excluded.failing_since
               else coalesce(h.failing_since, excluded.failing_since) end,
             last_success_at = coalesce(excluded.last_success_at, h.last_success_at),
             last_failure_at = coalesce(excluded.last_failure_at, h.last_failure_at),
             last_error = coalesce(excluded.last_error, h.last_error),
             circuit = excluded.circuit, next_probe_at = excluded.next_probe_at
           -- Not failures of a former owner of the shard, written after a success that its next one has seen: an
           -- endpoint with nothing more to receive would be shown as failing for ever, and be disabled. A success
           -- is always heeded: where that is wrong, the next attempt shows it.
           where (excluded.failing_since is not null
             and h.last_success_at > excluded.last_failure_at
             and h.last_success_at < '${aheadFrom}') is not true`,
    values: [
      column('int', deltas, (delta) => delta.clientKey),
      column('uuid', deltas, (delta) => delta.endpointId),
      column('timestamptz', deltas, (delta) => delta.failingSinceMs),
      column('timestamptz', deltas, (delta) => delta.lastSuccessAtMs),
      column('timestamptz', deltas, (delta) => delta.lastFailureAtMs),
      column('text', deltas, (delta) => delta.lastError),
      column('text', deltas, (delta) => delta.circuit),
      column('timestamptz', deltas, (delta) => delta.nextProbeAtMs),
    ],
  })
  await db.query({
    name: 'save-endpoint-hours',
    text: `insert into endpoint_hours as h
             (client_key, endpoint_id, hour, attempts, delivered, durations)
           select client_key, endpoint_id, date_trunc('hour', $6::timestamptz), attempts, delivered,
             durations::int[]
           from unnest($1::int[], $2::uuid[], $3::int[], $4::int[], $5::text[])
             as d (client_key, endpoint_id, attempts, delivered, durations)
           on conflict (client_key, endpoint_id, hour) do update set
             attempts = h.attempts + excluded.attempts,
             delivered = h.delivered + excluded.delivered,
             durations = (select array_agg(a + b order by i)
               from unnest(h.durations, excluded.durations) with ordinality as s (a, b, i))`,
    values: [
      column('int', deltas, (delta) => delta.clientKey),
      column('uuid', deltas, (delta) => delta.endpointId),
      column('int', deltas, (delta) => delta.attempts),
      column('int', deltas, (delta) => delta.delivered),
      column('text', deltas, (delta) => `{${delta.durations.join(',')}}`),
      now,
    ],
  })
}

/** What is shown of those among these endpoints that are not simply well, by their ids. */
export async function readShownHealth(
  db: Db,
  keys: readonly { clientKey: number; endpointId: string }[],
): Promise<ReadonlyMap<string, ShownHealth>> {
  const { rows } = await db.query<{
    endpoint_id: string
    is_failing: boolean
    last_error: string | null
    circuit: EndpointHealth['circuit']
    next_probe_at: Date | null
  }>({
    name: 'read-shown-health',
    text: `select h.* from unnest(${hideLength('$1', 'int[]')}, $2::uuid[]) as k (client_key, id)
           cross join lateral (
             select h.endpoint_id, h.failing_since is not null as is_failing, h.last_error, h.circuit,
               h.next_probe_at
             from endpoint_health h
             where h.client_key = k.client_key and h.endpoint_id = k.id
               and (h.failing_since is not null or h.circuit <> 'CLOSED') limit 1) as h`,
    values: [
      column('int', keys, (key) => key.clientKey),
      column('uuid', keys, (key) => key.endpointId),
    ],
  })
  return new Map(
    rows.map(({ endpoint_id, is_failing, last_error, circuit, next_probe_at }) => [
      endpoint_id,
      {
        isFailing: is_failing,
        error: is_failing ? last_error : null,
        circuit,
        nextProbeAtMs: next_probe_at?.getTime() ?? null,
      },
    ]),
  )
}

/** The marks of endpoint_health, what is pending, and the last 24 hours; read for one or for many. */
export interface HealthRow {
  failing_since: Date | null
  last_success_at: Date | null
  last_error: string | null
  circuit: EndpointHealth['circuit'] | null
  next_probe_at: Date | null
  pending: number
  attempts: number
  delivered: number
  durations: number[][] | null
}

export async function readHealth(
  db: Db,
  clientKey: number,
  endpointId: string,
  now: Date,
): Promise<EndpointHealth> {
  const { rows } = await db.query<HealthRow>({
    name: 'read-health',
    text: `select h.failing_since, h.last_success_at, h.last_error, h.circuit, h.next_probe_at,
             (select count(*)::int from pending_deliveries p
               where ${owedTo('p', '$1', '$2')}) as pending,
             d.attempts, d.delivered, d.durations
           from (select coalesce(sum(attempts), 0)::int as attempts,
                   coalesce(sum(delivered), 0)::int as delivered, array_agg(durations) as durations
                 from endpoint_hours
                 where client_key = $1 and endpoint_id = $2 and hour > $3) as d
           left join endpoint_health h on h.client_key = $1 and h.endpoint_id = $2`,
    values: [clientKey, endpointId, new Date(now.getTime() - DAY_MS)],
  })
  return toHealth(rows[0] as HealthRow, now)
}

export function toHealth(row: HealthRow, now: Date): EndpointHealth {
  const durations = Array.from({ length: DURATION_BUCKETS }, (_, bucket) =>
    (row.durations ?? []).reduce((sum, hour) => sum + (hour[bucket] ?? 0), 0),
  )
  return {
    failingSince: row.failing_since,
    lastSuccessAt: row.last_success_at,
    lastError: row.failing_since === null ? null : row.last_error,
    pending: row.pending,
    circuit: row.circuit ?? 'CLOSED',
    nextProbeAt: toProbeTime(row, now),
    successRate24h: row.attempts === 0 ? null : row.delivered / row.attempts,
    p95Ms: percentileMs(durations, 0.95),
  }
}

export function toProbeTime(
  row: Pick<HealthRow, 'circuit' | 'next_probe_at'>,
  now: Date,
): Date | null {
  const probeAtMs = row.next_probe_at?.getTime() ?? null
  const atMs = probeTimeMs(row.circuit ?? 'CLOSED', probeAtMs, now.getTime())
  return atMs === null ? null : new Date(atMs)
}
