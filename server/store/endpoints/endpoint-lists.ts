// Endpoints as the operator sees them: those of all clients, deleted ones only by their id, with their health.

import { type Page, type PageRequest, pageOffset } from '../../core/asking/numbered-pages.ts'
import { DAY_MS } from '../../core/delivery/backoff.ts'
import type { CircuitState } from '../../core/delivery/circuit.ts'
import type { Endpoint, EndpointKind, EndpointStatus } from '../../core/delivery/endpoint.ts'
import type { EndpointHealth } from '../../core/delivery/health.ts'
import { isUuid } from '../../core/plain/uuid.ts'
import type { Db } from '../connection/db.ts'
import { column } from '../sql/columns.ts'
import { owedTo } from '../sql/planner.ts'
import { isNamed } from '../sql/search-words.ts'
import { type HealthRow, toHealth, toProbeTime } from './endpoint-health.ts'
import { type EndpointRow, toEndpoint } from './endpoints.ts'
import { SETTINGS_COLUMNS } from './settings-columns.ts'

export interface EndpointFilter {
  clientId: string | null
  accountId: string | null
  kind: EndpointKind | null
  status: EndpointStatus | null
  /** Whether its last attempts have failed. */
  isFailing: boolean | null
  /** Words of its address, the last perhaps only begun; or its id. */
  search: string | null
  order: EndpointOrder
}

export const ENDPOINT_ORDERS = [
  'createdAt',
  '-createdAt',
  'endpointUrl',
  '-endpointUrl',
  'failingSince',
  '-failingSince',
] as const
export type EndpointOrder = (typeof ENDPOINT_ORDERS)[number]

const ORDERS: Readonly<Record<EndpointOrder, string>> = {
  createdAt: 'created_at, id',
  '-createdAt': 'created_at desc, id desc',
  endpointUrl: 'url collate "C", id',
  '-endpointUrl': 'url collate "C" desc, id desc',
  // Those that do not fail come last, either way.
  failingSince: 'failing_since, id',
  '-failingSince': 'failing_since desc nulls last, id desc',
}

export interface OwnedEndpoint extends Endpoint {
  clientKey: number
  clientId: string
  clientName: string
  accountName: string | null
  deletedAt: Date | null
}

interface OwnedRow extends EndpointRow {
  client_key: number
  client_id: string
  client_name: string
  account_name: string | null
  deleted_at: Date | null
}

const COLUMNS = `e.client_key, c.id as client_id, c.name as client_name, e.id, e.kind, e.account_id, e.url,
  e.status, e.created_at, e.deleted_at, ${SETTINGS_COLUMNS}`
/** One look-up for each row that is shown. */
const accountNameOf = (row: string) => `(select a.name from accounts a
  where a.client_key = ${row}.client_key and a.id = ${row}.account_id) as account_name`

export async function findAnyEndpoint(db: Db, endpointId: string): Promise<OwnedEndpoint | null> {
  const { rows } = await db.query<OwnedRow>({
    name: 'find-any-endpoint',
    text: `select ${COLUMNS}, ${accountNameOf('e')} from endpoints e join clients c on c.client_key = e.client_key
           where e.id = $1 and not c.is_internal limit 1`,
    values: [endpointId],
  })
  return rows[0] ? toOwned(rows[0]) : null
}

/** `total`: how many match, where that is known. Otherwise they are counted, which reads something of each. */
export async function listAllEndpoints(
  db: Db,
  filter: EndpointFilter,
  page: PageRequest,
  total: number | null = null,
): Promise<Page<OwnedEndpoint>> {
  const values: unknown[] = [page.size, pageOffset(page)]
  const counted = total === null ? 'count(*)' : `$${values.push(total)}::bigint`
  const inOrder = ORDERS[filter.order]
  // Joined only for the orders that need it.
  const isByHealth = inOrder.startsWith('failing_since')
  const [since, health] = isByHealth
    ? [
        ', h.failing_since',
        ' left join endpoint_health h on h.client_key = e.client_key and h.endpoint_id = e.id',
      ]
    : ['', '']
  // The planner does not know how few have a word, and would look for it in one address after the other; which is right
  // where many are known to have it.
  const isByWords = filter.search !== null && !isUuid(filter.search) && total === null
  // One statement, hence one snapshot; each part of it is planned by itself, so that a page is found by the index of its
  // order, and only what is shown is read whole. The outer join keeps the count when the page is empty.
  const { rows } = await db.query<{ total: number } & OwnedRow>({
    text: `with matching as ${isByWords ? '' : 'not '}materialized (
             select e.client_key, e.id, e.created_at, e.url${since} from endpoints e${health}
             where ${conditionsOf(filter, values).join(' and ')})
           select all_of_them.total, shown.*, ${accountNameOf('shown')}
           from (select ${counted} as total${total === null ? ' from matching' : ''}) as all_of_them
           left join (
             select ${COLUMNS}${isByHealth ? ', m.failing_since' : ''}
             from (${isByHealth ? failingFirst(inOrder) : 'select * from matching'}
                   order by ${inOrder} limit $1 offset $2) as m
             join endpoints e on e.client_key = m.client_key and e.id = m.id
             join clients c on c.client_key = e.client_key) as shown on true
           order by ${inOrder}`,
    values,
  })
  const items = rows.filter((row) => row.id !== null).map(toOwned)
  return { ...page, items, total: rows[0]?.total ?? 0 }
}

/** Each only where it is asked for: the planner then knows which index serves. */
function conditionsOf(filter: EndpointFilter, values: unknown[]): readonly string[] {
  const conditions = [
    // The second leads to the index of the list (endpoints_by_creation).
    ...['e.deleted_at is null', `e.created_at > '-infinity'`],
    'e.client_key not in (select client_key from clients where is_internal)',
  ]
  const where = (value: unknown, condition: (parameter: string) => string) => {
    if (value !== null) conditions.push(condition(`$${values.push(value)}`))
  }
  where(
    filter.clientId,
    (parameter) => `e.client_key = (select client_key from clients where id = ${parameter})`,
  )
  // By the index of what listens to an account, which begins with the client.
  where(
    filter.accountId,
    (parameter) => `e.client_key = (select client_key from accounts where id = ${parameter})
    and e.scope = ${parameter} and e.account_id = ${parameter}`,
  )
  where(filter.kind, (parameter) => `e.kind = ${parameter}`)
  where(filter.status, (parameter) => `e.status = ${parameter}`)
  where(filter.search, (parameter) =>
    isUuid(filter.search ?? '') ? `e.id = ${parameter}::uuid` : isNamed('e.url', parameter),
  )
  const failing = `exists (select from endpoint_health h where h.client_key = e.client_key
    and h.endpoint_id = e.id and h.failing_since is not null)`
  if (filter.isFailing !== null) conditions.push(filter.isFailing ? failing : `not ${failing}`)
  return conditions
}

/** Few fail, and those are found by an index; the others, only as far as the page reaches, by that of their ids. */
function failingFirst(inOrder: string): string {
  const others = inOrder.endsWith('desc') ? 'id desc' : 'id'
  const reached = '$1::bigint + $2::bigint'
  return `select * from (
    (select * from matching where failing_since is not null order by ${inOrder} limit ${reached})
    union all
    (select * from matching where failing_since is null order by ${others} limit ${reached})) as m`
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

function toOwned(row: OwnedRow): OwnedEndpoint {
  return {
    ...toEndpoint(row),
    clientKey: row.client_key,
    clientId: row.client_id,
    clientName: row.client_name,
    accountName: row.account_name,
    deletedAt: row.deleted_at,
  }
}
