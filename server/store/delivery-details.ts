// One delivery with all that explains it: its attempts, its endpoint as it is now, and the other updates
// of its payment that it waits for or gave way to.

import type { CircuitState } from '../core/circuit.ts'
import type { DeliveryState } from '../core/delivery.ts'
import type { EndpointStatus } from '../core/endpoint.ts'
import type { Db } from './db.ts'
import { type DeliveryItem, toItem } from './delivery-lists.ts'

export interface DeliveryDetail extends DeliveryItem {
  runAttempts: number | null
  isReplay: boolean
  finishedAt: Date | null
  endpointStatus: EndpointStatus
  isEndpointDeleted: boolean
  endpointInactiveSince: Date | null
  circuit: CircuitState
  isListener: boolean
}

interface DetailRow {
  client_key: number
  client_id: string
  id: string
  event_id: string
  kind: string
  payment_id: string
  account_id: string
  sequence: number
  endpoint_id: string
  url: string
  state: DeliveryState
  attempts: number
  created_at: Date
  next_attempt_at: Date | null
  deadline_at: Date | null
  last_outcome: string | null
  last_status: number | null
  run_attempts: number | null
  is_replay: boolean
  finished_at: Date | null
  status: EndpointStatus
  is_deleted: boolean
  inactive_since: Date | null
  circuit: CircuitState | null
  is_listener: boolean
}

const SHARED = `d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id, d.sequence,
  d.kind, d.created_at, d.attempts, d.deadline_at, d.last_outcome, d.last_status`

/** `clientKey` null: whoever it belongs to. `accountId` narrows, where it is given. */
export async function readDeliveryDetail(
  db: Db,
  deliveryId: string,
  of: { clientKey: number | null; accountId: string | null },
): Promise<DeliveryDetail | null> {
  const isOwn = of.clientKey !== null
  const { rows } = await db.query<DetailRow>({
    name: isOwn ? 'read-own-delivery' : 'read-any-delivery',
    // Across clients: one descent per client into what is owed, and the index of all that has ended.
    text: `select d.*, c.id as client_id, e.url, e.status, e.deleted_at is not null as is_deleted,
             e.inactive_since, e.kind = 'listener' as is_listener, h.circuit
           from (
             select ${SHARED}, 'PENDING' as state, d.next_attempt_at, d.run_attempts, d.is_replay,
               null::timestamptz as finished_at
             from clients c join pending_deliveries d on d.client_key = c.client_key and d.id = $1
             where ${isOwn ? 'c.client_key = $2' : '$2::int is null'}
             union all
             select ${SHARED}, d.state, null, null, false, d.finished_at
             from final_deliveries d
             where d.id = $1
               and ${isOwn ? 'd.client_key = $2' : `d.finished_at > '-infinity' and $2::int is null`}
           ) as d
           join clients c on c.client_key = d.client_key
           join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
           left join endpoint_health h
             on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id
           where $3::uuid is null or d.account_id = $3
           limit 1`,
    values: [deliveryId, of.clientKey, of.accountId],
  })
  return rows[0] ? toDetail(rows[0]) : null
}

export interface AttemptItem {
  attempt: number
  at: Date
  durationMs: number
  outcome: string
  status: number | null
  excerpt: Buffer | null
}

/** About 40 a run; whoever replays and replays sees the last thousand. */
const ATTEMPTS_MAX = 1_000
const CLOCKS_APART_MS = 60_000

/** Oldest first. */
export async function readAttempts(
  db: Db,
  delivery: { clientKey: number; id: string; createdAt: Date },
): Promise<readonly AttemptItem[]> {
  const { rows } = await db.query<{
    attempt: number
    at: Date
    duration_ms: number
    outcome: string
    status: number | null
    excerpt: Buffer | null
  }>({
    name: 'read-attempts',
    // The view attempts by its parts: each says on which days to look.
    text: `select attempt, at, duration_ms, outcome, status, excerpt from earlier_attempts
           where client_key = $1 and delivery_id = $2 and at >= $3
           union all
           select attempts, attempted_at, duration_ms, last_outcome, last_status, excerpt
           from final_deliveries
           where client_key = $1 and id = $2 and finished_at >= $3 and state = 'DELIVERED'
           order by attempt desc, at desc limit $4`,
    values: [
      delivery.clientKey,
      delivery.id,
      new Date(delivery.createdAt.getTime() - CLOCKS_APART_MS),
      ATTEMPTS_MAX,
    ],
  })
  return rows.toReversed().map((row) => ({
    attempt: row.attempt,
    at: row.at,
    durationMs: row.duration_ms,
    outcome: row.outcome,
    status: row.status,
    excerpt: row.excerpt,
  }))
}

export interface DeliveryOfEvent {
  eventId: string
  id: string
  endpointId: string
  state: DeliveryState
}

/** What became of each of these events, at every endpoint: through the millisecond of their ids. */
export async function readDeliveriesOfEvents(
  db: Db,
  clientKey: number,
  events: readonly { id: string; createdAt: Date }[],
): Promise<ReadonlyMap<string, readonly DeliveryOfEvent[]>> {
  const { rows } = await db.query<{
    event_id: string
    id: string
    endpoint_id: string
    state: DeliveryState
  }>({
    text: `with span as materialized (
             select id as event_id, created_at,
               (left(id::text, 13) || '-0000-0000-000000000000')::uuid as low,
               (left(id::text, 13) || '-ffff-ffff-ffffffffffff')::uuid as high
             from unnest($2::uuid[], $3::timestamptz[]) as e (id, created_at))
           select w.event_id, d.id, d.endpoint_id, 'PENDING' as state
           from span w join pending_deliveries d on d.client_key = $1
             and d.id between w.low and w.high and d.event_id = w.event_id
           union all
           select w.event_id, d.id, d.endpoint_id, d.state
           from span w join final_deliveries d on d.client_key = $1
             and d.id between w.low and w.high and d.event_id = w.event_id
             and d.finished_at >= w.created_at - interval '${CLOCKS_APART_MS} ms'`,
    values: [clientKey, events.map((event) => event.id), events.map((event) => event.createdAt)],
  })
  const found = rows.map((row) => ({
    eventId: row.event_id,
    id: row.id,
    endpointId: row.endpoint_id,
    state: row.state,
  }))
  return Map.groupBy(found, ({ eventId }) => eventId)
}

function toDetail(row: DetailRow): DeliveryDetail {
  return {
    ...toItem(row),
    runAttempts: row.run_attempts,
    isReplay: row.is_replay,
    finishedAt: row.finished_at,
    endpointStatus: row.status,
    isEndpointDeleted: row.is_deleted,
    endpointInactiveSince: row.inactive_since,
    circuit: row.circuit ?? 'CLOSED',
    isListener: row.is_listener,
  }
}
