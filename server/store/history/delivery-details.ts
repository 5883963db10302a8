// One delivery with all that explains it: its attempts, its endpoint as it is now, and the other updates
// of its payment that it waits for or gave way to.

import type { Pool } from 'pg'
import type { CircuitState } from '../../core/delivery/circuit.ts'
import type { DeliveryState } from '../../core/delivery/delivery.ts'
import type { EndpointStatus } from '../../core/delivery/endpoint.ts'
import type { DeliverMode, DocumentInstead } from '../../core/delivery/endpoint-settings.ts'
import { uuidTimeMs } from '../../core/plain/uuid.ts'
import type { Db } from '../connection/db.ts'
import { inSnapshot } from '../connection/snapshot.ts'
import { movedColumns } from '../sql/file-deliveries.ts'
import { Parameters } from '../sql/parameters.ts'
import {
  CLOCKS_APART_MS,
  readStretches,
  readStretchesSince,
  type Stretch,
  stretchAround,
  timesWithin,
} from '../sql/stretches.ts'
import { type DeliveryItem, spansBefore, toItem } from './delivery-lists.ts'
import { finalOfSpans, pendingOfSpans, type Source } from './delivery-sources.ts'

export interface DeliveryDetail extends DeliveryItem {
  runAttempts: number | null
  documentMode: DocumentInstead
  isEndpointDeleted: boolean
  endpointInactiveSince: Date | null
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
  document_mode: DocumentInstead
  finished_at: Date | null
  status: EndpointStatus
  is_deleted: boolean
  inactive_since: Date | null
  circuit: CircuitState | null
  next_probe_at: Date | null
  is_listener: boolean
  deliver: DeliverMode | null
}

const SHARED = movedColumns('d')

export interface Of {
  /** Null: of any client. */
  clientKey: number | null
  /** Narrows, where it is given. */
  accountId: string | null
}

/** Looked for in what is owed, then in what has ended, from the day on that the id tells. */
export function readDeliveryDetail(
  pool: Pool,
  deliveryId: string,
  of: Of,
): Promise<DeliveryDetail | null> {
  return inSnapshot(pool, async (db) => {
    const pending = await readOne(db, deliveryId, of, pendingWithId(of))
    if (pending !== null) return pending
    const sinceMs = uuidTimeMs(deliveryId) - CLOCKS_APART_MS
    for (const stretch of await readStretchesSince(db, 'final_deliveries', sinceMs)) {
      const final = await readOne(db, deliveryId, of, finalWithId(of, stretch))
      if (final !== null) return final
    }
    return null
  })
}

/** Across clients: one descent per client. */
function pendingWithId({ clientKey }: Of): string {
  return `select ${SHARED}, 'PENDING' as state, d.next_attempt_at, d.run_attempts, d.is_replay,
      null::timestamptz as finished_at
    from clients c cross join lateral (
      select * from pending_deliveries d where d.client_key = c.client_key and d.id = $1 limit 1) as d
    where ${clientKey === null ? '$2::int is null' : 'c.client_key = $2'}`
}

/** Across clients: the index of all that has ended, which repeats a condition (migrations/0002). */
function finalWithId({ clientKey }: Of, stretch: Stretch): string {
  return `select ${SHARED}, d.state, null::timestamptz as next_attempt_at, null::int as run_attempts,
      coalesce(d.is_replay, false) as is_replay, d.finished_at
    from final_deliveries d
    where d.id = $1 and ${timesWithin(stretch, 'd.finished_at')}
      and ${clientKey === null ? `d.finished_at > '-infinity' and $2::int is null` : 'd.client_key = $2'}`
}

async function readOne(
  db: Db,
  deliveryId: string,
  of: Of,
  source: string,
): Promise<DeliveryDetail | null> {
  const { rows } = await db.query<DetailRow>({
    text: `select d.*, c.id as client_id, e.url, e.status, e.deleted_at is not null as is_deleted,
             e.inactive_since, e.kind = 'listener' as is_listener, e.deliver, h.circuit,
             h.next_probe_at
           from (${source}) as d
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

/** About 40 a run; of a delivery that was replayed many times, the last thousand. */
const ATTEMPTS_MAX = 1_000

interface AttemptRow {
  attempt: number
  at: Date
  duration_ms: number
  outcome: string
  status: number | null
  excerpt: Buffer | null
}

type AttemptsOf = Pick<DeliveryDetail, 'clientKey' | 'id' | 'createdAt' | 'finishedAt'>

/** Oldest first. The view attempts by its parts: each says on which days to look. */
export function readAttempts(pool: Pool, delivery: AttemptsOf): Promise<readonly AttemptItem[]> {
  return inSnapshot(pool, async (db) => {
    const rows = [
      ...(await readAttemptThatDelivered(db, delivery)),
      ...(await readEarlierAttempts(db, delivery)),
    ]
    return rows
      .toSorted(
        (one, other) => other.attempt - one.attempt || other.at.getTime() - one.at.getTime(),
      )
      .slice(0, ATTEMPTS_MAX)
      .toReversed()
      .map(toAttempt)
  })
}

/** The last one that was answered with 200; null: none was. Also of a delivery that was replayed in vain since. */
export function readSuccess(pool: Pool, delivery: AttemptsOf): Promise<AttemptItem | null> {
  return inSnapshot(pool, async (db) => {
    const [delivered] = await readAttemptThatDelivered(db, delivery)
    if (delivered !== undefined) return toAttempt(delivered)
    const sinceMs = delivery.createdAt.getTime() - CLOCKS_APART_MS
    const stretches = await readStretchesSince(db, 'earlier_attempts', sinceMs)
    for (const stretch of stretches.toReversed()) {
      const { rows } = await db.query<AttemptRow>({
        text: `select attempt, at, duration_ms, outcome, status, excerpt from earlier_attempts
               where client_key = $1 and delivery_id = $2 and ${timesWithin(stretch, 'at')}
                 and outcome = 'answered' and status = 200
               order by attempt desc, at desc limit 1`,
        values: [delivery.clientKey, delivery.id],
      })
      if (rows[0] !== undefined) return toAttempt(rows[0])
    }
    return null
  })
}

function toAttempt({ duration_ms: durationMs, ...row }: AttemptRow): AttemptItem {
  return { ...row, durationMs }
}

/** The newest are on the newest days: those before the delivery ended, or shortly after it. */
async function readEarlierAttempts(db: Db, delivery: AttemptsOf): Promise<readonly AttemptRow[]> {
  const sinceMs = delivery.createdAt.getTime() - CLOCKS_APART_MS
  const untilMs = (delivery.finishedAt?.getTime() ?? Number.POSITIVE_INFINITY) + CLOCKS_APART_MS
  const stretches = await readStretchesSince(db, 'earlier_attempts', sinceMs)
  const found: AttemptRow[] = []
  for (const stretch of stretches.toReversed()) {
    if (stretch.fromMs > untilMs) continue
    if (found.length >= ATTEMPTS_MAX) break
    const { rows } = await db.query<AttemptRow>({
      text: `select attempt, at, duration_ms, outcome, status, excerpt from earlier_attempts
             where client_key = $1 and delivery_id = $2 and ${timesWithin(stretch, 'at')}
             order by attempt desc, at desc limit $3`,
      values: [delivery.clientKey, delivery.id, ATTEMPTS_MAX],
    })
    found.push(...rows)
  }
  return found
}

async function readAttemptThatDelivered(
  db: Db,
  delivery: AttemptsOf,
): Promise<readonly AttemptRow[]> {
  if (delivery.finishedAt === null) return []
  // The database counts microseconds, a Date does not.
  const { rows } = await db.query<AttemptRow>({
    text: `select attempts as attempt, attempted_at as at, duration_ms, last_outcome as outcome,
             last_status as status, excerpt
           from final_deliveries
           where client_key = $1 and id = $2 and state = 'DELIVERED'
             and ${timesWithin(stretchAround([delivery.finishedAt.getTime()], 1_000), 'finished_at')}`,
    values: [delivery.clientKey, delivery.id],
  })
  return rows
}

export interface DeliveryOfEvent {
  eventId: string
  id: string
  endpointId: string
  endpointUrl: string
  state: DeliveryState
}

/** What became of each of these events, at every endpoint: through the millisecond of their ids. */
export function readDeliveriesOfEvents(
  pool: Pool,
  clientKey: number,
  eventIds: readonly string[],
): Promise<ReadonlyMap<string, readonly DeliveryOfEvent[]>> {
  const spans = eventIds.map((eventId) => ({ clientKey, eventId }))
  return inSnapshot(pool, async (db) => {
    const found: DeliveryOfEvent[] = []
    const read = async (sourceOf: (parameters: Parameters) => Source) => {
      const parameters = new Parameters()
      const { text } = sourceOf(parameters)
      const { rows } = await db.query<{
        event_id: string
        id: string
        endpoint_id: string
        url: string
        state: DeliveryState
      }>({
        text: `select d.event_id, d.id, d.endpoint_id, e.url, d.state from (${text}) as d
               join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id`,
        values: parameters.values,
      })
      for (const { event_id: eventId, endpoint_id: endpointId, url, ...row } of rows) {
        found.push({ eventId, endpointId, endpointUrl: url, ...row })
      }
    }
    if (spans.length > 0) await read((parameters) => pendingOfSpans(spans, parameters))
    for (const stretch of await readStretches(db, 'final_deliveries')) {
      const before = spansBefore(spans, stretch)
      if (before.length === 0) break
      await read((parameters) => finalOfSpans(before, parameters, stretch))
    }
    return Map.groupBy(found, ({ eventId }) => eventId)
  })
}

function toDetail(row: DetailRow): DeliveryDetail {
  return {
    ...toItem(row),
    runAttempts: row.run_attempts,
    documentMode: row.document_mode,
    isEndpointDeleted: row.is_deleted,
    endpointInactiveSince: row.inactive_since,
    isListener: row.is_listener,
  }
}
