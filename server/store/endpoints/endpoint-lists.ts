// Endpoints as the operator sees them: those of all clients, deleted ones only by their id, with their health.

import { DAY_MS } from '../../core/delivery/backoff.ts'
import type { CircuitState } from '../../core/delivery/circuit.ts'
import type { Endpoint, EndpointStatus } from '../../core/delivery/endpoint.ts'
import type { EndpointHealth } from '../../core/delivery/health.ts'
import type { Db } from '../connection/db.ts'
import { column } from '../sql/columns.ts'
import { owedTo } from '../sql/planner.ts'
import { type HealthRow, toHealth, toProbeTime } from './endpoint-health.ts'
import { type EndpointRow, toEndpoint } from './endpoints.ts'
import { SETTINGS_COLUMNS } from './settings-columns.ts'

export interface OwnedEndpoint extends Endpoint {
  clientKey: number
  clientId: string
  clientName: string
  accountName: string | null
  deletedAt: Date | null
}

export interface OwnedRow extends EndpointRow {
  client_key: number
  client_id: string
  client_name: string
  account_name: string | null
  deleted_at: Date | null
}

export const OWNED_COLUMNS = `e.client_key, c.id as client_id, c.name as client_name, e.id, e.kind, e.account_id, e.url,
  e.status, e.created_at, e.deleted_at, ${SETTINGS_COLUMNS}`
/** One look-up for each row that is shown. */
export const accountNameOf = (row: string) => `(select a.name from accounts a
  where a.client_key = ${row}.client_key and a.id = ${row}.account_id) as account_name`

export async function findAnyEndpoint(db: Db, endpointId: string): Promise<OwnedEndpoint | null> {
  const { rows } = await db.query<OwnedRow>({
    name: 'find-any-endpoint',
    text: `select ${OWNED_COLUMNS}, ${accountNameOf('e')} from endpoints e join clients c on c.client_key = e.client_key
           where e.id = $1 and not c.is_internal limit 1`,
    values: [endpointId],
  })
  return rows[0] ? toOwned(rows[0]) : null
}

/** Enough to see that something is wrong; who wants the exact number looks at the endpoint itself. */
const PENDING_COUNTED_MAX = 10_000

/** As store/endpoints/endpoint-health reads it, for a page of endpoints; `pending` counts up to a limit. */
export async function readHealthOf(
  db: Db,
  endpoints: readonly { clientKey: number; id: string }[],
  now: Date,
): Promise<ReadonlyMap<string, EndpointHealth>> {
  const { rows } = await db.query<{ endpoint_id: string } & HealthRow>({
    name: 'read-health-of-endpoints',
    text: `select k.endpoint_id, h.failing_since, h.last_success_at, h.last_error, h.circuit,
             h.next_probe_at,
             (select count(*)::int from (
               select from pending_deliveries p
               where ${owedTo('p', 'k.client_key', 'k.endpoint_id')} limit $4) as owed) as pending,
             d.attempts, d.delivered, d.durations
           from unnest($1::int[], $2::uuid[]) as k (client_key, endpoint_id)
           cross join lateral (
             select coalesce(sum(attempts), 0)::int as attempts,
               coalesce(sum(delivered), 0)::int as delivered, array_agg(durations) as durations
             from endpoint_hours o
             where o.client_key = k.client_key and o.endpoint_id = k.endpoint_id and o.hour > $3) as d
           left join endpoint_health h
             on h.client_key = k.client_key and h.endpoint_id = k.endpoint_id`,
    values: [
      column('int', endpoints, (endpoint) => endpoint.clientKey),
      column('uuid', endpoints, (endpoint) => endpoint.id),
      new Date(now.getTime() - DAY_MS),
      PENDING_COUNTED_MAX,
    ],
  })
  return new Map(rows.map((row) => [row.endpoint_id, toHealth(row, now)]))
}

export interface TroubledEndpoint {
  endpointId: string
  clientId: string
  clientName: string
  endpointUrl: string
  status: EndpointStatus
  circuit: CircuitState
  nextProbeAt: Date | null
  failingSince: Date | null
  pending: number
  lastError: string | null
}

/** Those that fail, the longest first, and those that the service has disabled. */
export async function readTroubled(
  db: Db,
  limit: number,
  now: Date,
): Promise<readonly TroubledEndpoint[]> {
  const { rows } = await db.query<{
    id: string
    client_id: string
    client_name: string
    url: string
    status: EndpointStatus
    circuit: CircuitState | null
    next_probe_at: Date | null
    failing_since: Date | null
    pending: number
    last_error: string | null
  }>({
    name: 'read-troubled-endpoints',
    text: `with failing as (
             select h.client_key, h.endpoint_id from endpoint_health h
             join endpoints e on e.client_key = h.client_key and e.id = h.endpoint_id
             where h.failing_since is not null and e.deleted_at is null and e.kind not in ('notice', 'client-notice')
             order by h.failing_since limit $1
           ), disabled as (
             select e.client_key, e.id as endpoint_id from endpoints e
             where e.status = 'DISABLED' and e.deleted_at is null and e.kind not in ('notice', 'client-notice')
             order by e.client_key, e.id limit $1
           )
           select e.id, c.id as client_id, c.name as client_name, e.url, e.status, h.circuit, h.next_probe_at,
             h.failing_since, h.last_error,
             (select count(*)::int from (
               select from pending_deliveries p
               where ${owedTo('p', 'e.client_key', 'e.id')} limit $2) as owed) as pending
           from (select * from failing union select * from disabled) as t
           join endpoints e on e.client_key = t.client_key and e.id = t.endpoint_id
           join clients c on c.client_key = e.client_key
           left join endpoint_health h
             on h.client_key = e.client_key and h.endpoint_id = e.id
           order by h.failing_since nulls last, e.id limit $1`,
    values: [limit, PENDING_COUNTED_MAX],
  })
  return rows.map((row) => ({
    endpointId: row.id,
    clientId: row.client_id,
    clientName: row.client_name,
    endpointUrl: row.url,
    status: row.status,
    circuit: row.circuit ?? 'CLOSED',
    nextProbeAt: toProbeTime(row, now),
    failingSince: row.failing_since,
    pending: row.pending,
    lastError: row.failing_since === null ? null : row.last_error,
  }))
}

export function toOwned(row: OwnedRow): OwnedEndpoint {
  return {
    ...toEndpoint(row),
    clientKey: row.client_key,
    clientId: row.client_id,
    clientName: row.client_name,
    accountName: row.account_name,
    deletedAt: row.deleted_at,
  }
}
