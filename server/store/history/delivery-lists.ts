// Deliveries as lists show them, newest first, over what is owed and what has ended. All of a slice is read in
// one snapshot: a delivery that moves from one table to the other is in exactly one of them, and its id,
// which the cursor is made of, never changes. So no page shows it twice or misses it.
//
// Every read is bounded. Where an index leads straight to the rows, as many are read as are wanted; where
// rows have to be looked at one by one, at most a chunk of them, and the answer says how far it came. What has
// ended is read from its newest days back, no further than the page needs (store/sql/stretches.ts).

import type { Pool } from 'pg'
import type { CircuitState } from '../../core/delivery/circuit.ts'
import { type DeliveryState, FINAL_STATES } from '../../core/delivery/delivery.ts'
import type { EndpointStatus } from '../../core/delivery/endpoint.ts'
import type { DeliverMode } from '../../core/delivery/endpoint-settings.ts'
import { uuidTimeMs } from '../../core/plain/uuid.ts'
import type { Db } from '../connection/db.ts'
import { inSnapshot } from '../connection/snapshot.ts'
import type { DeliveryQuery, Reach } from '../sql/delivery-query.ts'
import { Parameters } from '../sql/parameters.ts'
import { owedTo } from '../sql/planner.ts'
import { CLOCKS_APART_MS, idCeiling, readStretches, type Stretch } from '../sql/stretches.ts'
import {
  type EventSpan,
  finalOfSpans,
  finalSource,
  finalWithKeys,
  pendingOfSpans,
  pendingSource,
  pendingWithKeys,
  residualConditions,
  type Source,
} from './delivery-sources.ts'
import { readSpans } from './event-spans.ts'
import { readJobDeliveries } from './job-deliveries.ts'

export interface DeliveryItem {
  clientKey: number
  clientId: string
  id: string
  eventId: string
  kind: string
  paymentId: string
  accountId: string
  sequence: number
  endpointId: string
  endpointUrl: string
  state: DeliveryState
  attempts: number
  createdAt: Date
  /** Whether its last run is a replay, also one that no attempt was made of yet. */
  isReplay: boolean
  /** As it is written down; core/delivery/due says when an attempt can start. */
  nextAttemptAt: Date | null
  endpointStatus: EndpointStatus
  deliver: DeliverMode
  circuit: CircuitState
  nextProbeAt: Date | null
  deadlineAt: Date | null
  lastOutcome: string | null
  lastStatus: number | null
  /** Null while it is pending. */
  finishedAt: Date | null
}

export interface DeliverySlice {
  items: readonly DeliveryItem[]
  /** Everything from this id upwards has been looked at; null: everything there is. */
  downTo: string | null
}

/** What an endpoint is owed is sorted when it is no more than this; beyond, its client's is scanned through. */
const SORTED_MAX = 2_000
/** Stretches looked through for one slice: an answer is rather short than late. */
const STRETCHES_MAX = 12

/** True when rows must be looked at one by one: then a chunk larger than the page makes sense. */
export function mustLeaf(query: DeliveryQuery): boolean {
  return (
    query.accountId !== null ||
    query.kind !== null ||
    query.outcomes !== null ||
    query.jobId !== null ||
    query.fromMs !== null ||
    query.toMs !== null ||
    query.endpointId !== null ||
    (query.states?.includes('DELIVERED') ?? false)
  )
}

export function readDeliverySlice(
  pool: Pool,
  query: DeliveryQuery,
  reach: Reach,
): Promise<DeliverySlice> {
  const isOfEvents = query.payments !== null || query.event !== null
  return inSnapshot(pool, (db) => {
    if (isOfEvents) return readSliceOfEvents(db, query, reach)
    if (query.jobId !== null && query.deliveryId === null) {
      return readSliceOfJob(db, query.jobId, query, reach)
    }
    return readNewestSlice(db, query, reach)
  })
}

async function readNewestSlice(db: Db, query: DeliveryQuery, reach: Reach): Promise<DeliverySlice> {
  const slices: DeliverySlice[] = []
  if (wantsPending(query)) {
    const isSorted = await isOwedLittle(db, query)
    slices.push(
      await readPart(db, query, reach, (parameters) =>
        pendingSource(query, reach, parameters, isSorted),
      ),
    )
  }
  if (!wantsFinal(query)) return merge(slices, reach)
  const stretches = await readStretches(db, 'final_deliveries')
  for (const [index, stretch] of stretches.entries()) {
    if (stretch.toMs <= earliestEndMs(query)) break
    slices.push(
      await readPart(db, query, reach, (parameters) =>
        finalSource(query, reach, parameters, stretch),
      ),
    )
    const next = stretches[index + 1]
    if (next === undefined) break
    // As if the days that have not been looked into came next, with the highest id that they can hold.
    const unseen = { items: [], downTo: idCeiling(next) }
    const soFar = merge([...slices, unseen], reach)
    const isCut = soFar.downTo !== unseen.downTo
    const mayStop = index + 1 >= STRETCHES_MAX && unseen.downTo < (reach.beforeId ?? 'g')
    if (isCut || mayStop || soFar.items.length >= reach.limit) return soFar
  }
  return merge(slices, reach)
}

/** Nothing ends before it was made: days that were over by then are not even opened. */
function earliestEndMs(query: DeliveryQuery): number {
  const madeAtMs = query.deliveryId === null ? query.fromMs : uuidTimeMs(query.deliveryId)
  return madeAtMs === null ? Number.NEGATIVE_INFINITY : madeAtMs - CLOCKS_APART_MS
}

async function readSliceOfEvents(
  db: Db,
  query: DeliveryQuery,
  reach: Reach,
): Promise<DeliverySlice> {
  const { spans, downTo } = await readSpans(db, query, reach.beforeId)
  const slices: DeliverySlice[] = [{ items: [], downTo }]
  if (spans.length > 0 && wantsPending(query)) {
    slices.push(await readPart(db, query, reach, (parameters) => pendingOfSpans(spans, parameters)))
  }
  if (!wantsFinal(query)) return merge(slices, reach)
  for (const stretch of await readStretches(db, 'final_deliveries')) {
    const before = spansBefore(spans, stretch)
    if (before.length === 0) break
    slices.push(
      await readPart(db, query, reach, (parameters) => finalOfSpans(before, parameters, stretch)),
    )
  }
  return merge(slices, reach)
}

async function readSliceOfJob(
  db: Db,
  jobId: string,
  query: DeliveryQuery,
  reach: Reach,
): Promise<DeliverySlice> {
  const { keys: all, downTo } = await readJobDeliveries(db, jobId, reach)
  // A job may have deliveries of several clients, and who asks for those of one acts on those of one.
  const { clientKey } = query
  const keys = clientKey === null ? all : all.filter((key) => key.clientKey === clientKey)
  const slices: DeliverySlice[] = [{ items: [], downTo }]
  if (keys.length > 0 && wantsPending(query)) {
    slices.push(await readPart(db, query, reach, (parameters) => pendingWithKeys(keys, parameters)))
  }
  if (!wantsFinal(query)) return merge(slices, reach)
  for (const stretch of await readStretches(db, 'final_deliveries')) {
    const before = keys.filter(({ id }) => uuidTimeMs(id) - CLOCKS_APART_MS < stretch.toMs)
    if (before.length === 0) break
    slices.push(
      await readPart(db, query, reach, (parameters) => finalWithKeys(before, parameters, stretch)),
    )
  }
  return merge(slices, reach)
}

/** Events whose deliveries can have ended within the stretch. */
export function spansBefore(spans: readonly EventSpan[], { toMs }: Stretch): readonly EventSpan[] {
  return spans.filter(({ eventId }) => uuidTimeMs(eventId) - CLOCKS_APART_MS < toMs)
}

function wantsPending({ states }: DeliveryQuery): boolean {
  return states?.includes('PENDING') ?? true
}

function wantsFinal({ states }: DeliveryQuery): boolean {
  return FINAL_STATES.some((state) => states?.includes(state) ?? true)
}

/** What all of them have looked at, and what is wanted of it. */
function merge(slices: readonly DeliverySlice[], { limit }: Reach): DeliverySlice {
  const downTo = slices.reduce<string | null>(
    (highest, slice) => ((slice.downTo ?? '') > (highest ?? '') ? slice.downTo : highest),
    null,
  )
  const items = slices
    .flatMap((slice) => slice.items)
    .filter(({ id }) => downTo === null || id >= downTo)
    .toSorted((one, other) => (one.id < other.id ? 1 : -1))
    .slice(0, limit)
  return { items, downTo }
}

async function readPart(
  db: Db,
  query: DeliveryQuery,
  reach: Reach,
  sourceOf: (parameters: Parameters) => Source,
): Promise<DeliverySlice> {
  const parameters = new Parameters()
  const source = sourceOf(parameters)
  const residual = residualConditions(query, reach, parameters)
  const { rows } = await db.query<SliceRow>({
    text: `with part as materialized (${source.text}),
           reached as (select ${source.downTo} as down_to),
           found as (
             select d.* from part as d, reached r
             where (r.down_to is null or d.id >= r.down_to)${residual}
             order by d.id desc limit ${parameters.add(reach.limit)})
           select r.down_to, d.*, c.id as client_id, e.url, e.status, e.deliver, h.circuit,
             h.next_probe_at
           from reached r
           left join (found d
             join clients c on c.client_key = d.client_key
             join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
             left join endpoint_health h
               on h.client_key = d.client_key and h.endpoint_id = d.endpoint_id) on true
           order by d.id desc`,
    values: parameters.values,
  })
  const found = rows.filter((row): row is FoundRow => row.id !== null)
  return { items: found.map(toItem), downTo: rows[0]?.down_to ?? null }
}

async function isOwedLittle(db: Db, query: DeliveryQuery): Promise<boolean> {
  if (query.endpointId === null || query.clientKey === null) return false
  const { rows } = await db.query<{ count: number }>({
    text: `select count(*)::int as count from (
             select from pending_deliveries p where ${owedTo('p', '$1', '$2')} limit $3) as owed`,
    values: [query.clientKey, query.endpointId, SORTED_MAX + 1],
  })
  return (rows[0]?.count ?? 0) <= SORTED_MAX
}

interface FoundRow {
  down_to: string | null
  client_key: number
  client_id: string
  id: string
  event_id: string
  endpoint_id: string
  url: string
  payment_id: string
  account_id: string
  sequence: number
  kind: string
  created_at: Date
  state: DeliveryState
  attempts: number
  is_replay: boolean
  next_attempt_at: Date | null
  status: EndpointStatus
  deliver: DeliverMode | null
  circuit: CircuitState | null
  next_probe_at: Date | null
  deadline_at: Date | null
  last_outcome: string | null
  last_status: number | null
  finished_at: Date | null
}

type SliceRow = FoundRow | { down_to: string | null; id: null }

export function toItem(row: Omit<FoundRow, 'down_to'>): DeliveryItem {
  return {
    clientKey: row.client_key,
    clientId: row.client_id,
    id: row.id,
    eventId: row.event_id,
    kind: row.kind,
    paymentId: row.payment_id,
    accountId: row.account_id,
    sequence: row.sequence,
    endpointId: row.endpoint_id,
    endpointUrl: row.url,
    state: row.state,
    attempts: row.attempts,
    createdAt: row.created_at,
    isReplay: row.is_replay,
    nextAttemptAt: row.next_attempt_at,
    endpointStatus: row.status,
    deliver: row.deliver ?? 'every',
    circuit: row.circuit ?? 'CLOSED',
    nextProbeAt: row.next_probe_at,
    deadlineAt: row.deadline_at,
    lastOutcome: row.last_outcome,
    lastStatus: row.last_status,
    finishedAt: row.finished_at,
  }
}
