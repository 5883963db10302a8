// Deliveries as lists show them, newest first, over what is owed and what has ended. Both are read in one
// statement: a delivery that moves from one table to the other is in exactly one of them in any snapshot,
// and its id, which the cursor is made of, never changes. So no page shows it twice or misses it.
//
// Every read is bounded. Where an index leads straight to the rows, as many are read as are wanted; where
// rows have to be looked at one by one, at most a chunk of them, and the answer says how far it came.

import { type DeliveryState, FINAL_STATES } from '../core/delivery.ts'
import { uuidFloor } from '../core/uuid.ts'
import type { Db } from './db.ts'

/** A filter whose names have become keys (store/delivery-search.ts). */
export interface DeliveryQuery {
  /** Null: of all clients. */
  clientKey: number | null
  accountId: string | null
  /** Needs the client's key. */
  endpointId: string | null
  /** Only deliveries of these payments. */
  payments: readonly { clientKey: number; paymentId: string }[] | null
  /** Only deliveries of this event. */
  event: { clientKey: number; eventId: string } | null
  /** Only this delivery. */
  deliveryId: string | null
  states: readonly DeliveryState[] | null
  kind: string | null
  fromMs: number | null
  toMs: number | null
}

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
  nextAttemptAt: Date | null
  deadlineAt: Date | null
  lastOutcome: string | null
  lastStatus: number | null
}

/** Ids below this one, so many items at most, and so many rows looked at in each table at most. */
export interface Reach {
  beforeId: string | null
  limit: number
  chunk: number
}

export interface DeliverySlice {
  items: readonly DeliveryItem[]
  /** Everything from this id upwards has been looked at; null: everything there is. */
  downTo: string | null
}

/** A delivery's id has the time of its event's id, which is a little behind created_at, never ahead. */
const ID_LATENESS_MS = 60_000
const CLOCKS_APART_MS = 60_000
const CLOCKS_APART = `interval '${CLOCKS_APART_MS} ms'`
/** Events of which the deliveries are looked up at once. */
const EVENTS_AT_ONCE = 400
/** What an endpoint is owed is sorted when it is no more than this; beyond, its client's is leafed through. */
const SORTED_MAX = 2_000

const SHARED_COLUMNS = `d.client_key, d.id, d.event_id, d.endpoint_id, d.payment_id, d.account_id,
  d.sequence, d.kind, d.created_at, d.attempts, d.deadline_at, d.last_outcome, d.last_status`
const PENDING_COLUMNS = `${SHARED_COLUMNS}, 'PENDING' as state, d.next_attempt_at`
const FINAL_COLUMNS = `${SHARED_COLUMNS}, d.state, null::timestamptz as next_attempt_at`

/** True when rows must be looked at one by one: then a chunk larger than the page makes sense. */
export function mustLeaf(query: DeliveryQuery): boolean {
  return (
    query.accountId !== null ||
    query.kind !== null ||
    query.fromMs !== null ||
    query.toMs !== null ||
    query.endpointId !== null ||
    (query.states?.includes('DELIVERED') ?? false)
  )
}

export async function readDeliverySlice(
  db: Db,
  query: DeliveryQuery,
  reach: Reach,
): Promise<DeliverySlice> {
  const parameters = new Parameters()
  const isSorted = await isOwedLittle(db, query)
  const pending = pendingSource(query, reach, parameters, isSorted)
  const final = finalSource(query, reach, parameters)
  const residual = residualConditions(query, reach, parameters)
  const { rows } = await db.query<SliceRow>({
    text: `with ${windowsOf(query, reach, parameters)}
           pending as materialized (${pending.text}),
           final as materialized (${final.text}),
           reached as (select greatest(${pending.downTo}, ${final.downTo}) as down_to),
           found as (
             select d.* from (select * from pending union all select * from final) as d, reached r
             where (r.down_to is null or d.id >= r.down_to)${residual}
             order by d.id desc limit ${parameters.add(reach.limit)})
           select r.down_to, d.*, c.id as client_id, e.url
           from reached r
           left join (found d
             join clients c on c.client_key = d.client_key
             join endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id) on true
           order by d.id desc`,
    values: parameters.values,
  })
  const found = rows.filter((row): row is FoundRow => row.id !== null)
  return { items: found.map(toItem), downTo: rows[0]?.down_to ?? null }
}

interface Source {
  text: string
  /** An expression: null when the source has nothing below what it has given. */
  downTo: string
}

const NO_MORE = 'null::uuid'

function nothing(table: string, columns: string): Source {
  return { text: `select ${columns} from ${table} d where false`, downTo: NO_MORE }
}

/** Full, it goes on below its last row; otherwise it has come to the end. */
function chunkEnd(name: string, chunk: string): string {
  return `(select case when count(*) >= ${chunk} then
    (select id from ${name} order by id limit 1) end from ${name})`
}

function pendingSource(
  query: DeliveryQuery,
  reach: Reach,
  parameters: Parameters,
  isSorted: boolean,
): Source {
  if (query.states !== null && !query.states.includes('PENDING')) {
    return nothing('pending_deliveries', PENDING_COLUMNS)
  }
  if (usesWindows(query)) return windowSource('pending_deliveries', PENDING_COLUMNS)
  const where = idConditions(query, reach, parameters)
  const table = 'pending_deliveries d'
  if (query.deliveryId !== null && query.clientKey === null) {
    const text = `select ${PENDING_COLUMNS} from clients c
      join ${table} on d.client_key = c.client_key and ${where}`
    return { text, downTo: NO_MORE }
  }
  const chunk = parameters.add(reach.chunk)
  const downTo = chunkEnd('pending', chunk)
  if (query.clientKey === null) return { text: newestOfAll(where, chunk), downTo }
  const clientKey = parameters.add(query.clientKey)
  if (query.endpointId !== null && isSorted) {
    const text = `select * from (select ${PENDING_COLUMNS} from ${table}
      where d.client_key = ${clientKey} and d.endpoint_id = ${parameters.add(query.endpointId)}
      offset 0) as d where ${where} order by d.id desc limit ${chunk}`
    return { text, downTo }
  }
  const text = `select ${PENDING_COLUMNS} from ${table}
    where d.client_key = ${clientKey} and ${where} order by d.id desc limit ${chunk}`
  return { text, downTo }
}

/**
 * What is owed has no index across clients, so that no delivery pays for one. The newest rows of all are
 * the newest of at most as many clients, and those are the clients with the newest row: so first one row
 * of each client, then more of the few that count, and none that is older than the last of these.
 */
function newestOfAll(where: string, chunk: string): string {
  return `select d.* from (
      select n.client_key, case when count(*) over () >= ${chunk}
        then first_value(n.id) over (order by n.id) end as floor
      from (
        select c.client_key, d.id from clients c cross join lateral (
          select d.id from pending_deliveries d where d.client_key = c.client_key and ${where}
          order by d.id desc limit 1) as d
        where not c.is_internal
        order by d.id desc limit ${chunk}) as n) as owner
    cross join lateral (
      select ${PENDING_COLUMNS} from pending_deliveries d
      where d.client_key = owner.client_key and ${where}
        and d.id >= coalesce(owner.floor, '00000000-0000-0000-0000-000000000000')
      order by d.id desc limit ${chunk}) as d
    order by d.id desc limit ${chunk}`
}

function finalSource(query: DeliveryQuery, reach: Reach, parameters: Parameters): Source {
  const states = FINAL_STATES.filter((state) => query.states?.includes(state) ?? true)
  if (states.length === 0) return nothing('final_deliveries', FINAL_COLUMNS)
  if (usesWindows(query)) return windowSource('final_deliveries', FINAL_COLUMNS)
  const where = [idConditions(query, reach, parameters)]
  // Nothing ends before it was made, but for the clocks of two processes: days that were over by then
  // are not even opened.
  if (query.fromMs !== null)
    where.push(`d.finished_at >= ${parameters.add(new Date(query.fromMs - CLOCKS_APART_MS))}`)
  if (query.clientKey !== null) where.push(`d.client_key = ${parameters.add(query.clientKey)}`)
  else
    where.push('d.client_key is distinct from (select client_key from clients where is_internal)')
  const isRare = !states.includes('DELIVERED')
  if (query.endpointId !== null) where.push(`d.endpoint_id = ${parameters.add(query.endpointId)}`)
  const chunk = parameters.add(reach.chunk)
  const newest = (condition: string) => `(select ${FINAL_COLUMNS} from final_deliveries d
    where ${[...where, condition].join(' and ')} order by d.id desc limit ${chunk})`
  // States are written out, not handed in: only so does the planner see that a partial index holds them.
  const text = isRare
    ? `select d.* from (${states.map((state) => newest(`d.state = '${state}'`)).join(' union all ')}) as d
       order by d.id desc limit ${chunk}`
    : newest(query.clientKey === null ? `d.finished_at > '-infinity'` : 'true')
  return { text, downTo: chunkEnd('final', chunk) }
}

function usesWindows(query: DeliveryQuery): boolean {
  return query.payments !== null || query.event !== null
}

/**
 * The deliveries of an event have ids of the same millisecond as its own: a short range of the primary
 * key, at any rate, instead of one more index on everything that was ever delivered.
 */
function windowsOf(query: DeliveryQuery, reach: Reach, parameters: Parameters): string {
  if (query.event !== null) {
    const { clientKey, eventId } = query.event
    return `event as materialized (
        select ${parameters.add(clientKey)}::int as client_key, ${parameters.add(eventId)}::uuid as id,
          '-infinity'::timestamptz as created_at),
      ${WINDOWS},`
  }
  if (query.payments === null) return ''
  const keys = query.payments
  const clientKeys = parameters.add(keys.map((key) => key.clientKey))
  const paymentIds = parameters.add(keys.map((key) => key.paymentId))
  const before =
    reach.beforeId === null
      ? 'true'
      : `e.id <= ${parameters.add(lastIdBefore(reach.beforeId))}::uuid`
  return `event as materialized (
      select e.client_key, e.id, e.created_at
      from unnest(${clientKeys}::int[], ${paymentIds}::uuid[]) as k (client_key, payment_id)
      join events e on e.client_key = k.client_key and e.payment_id = k.payment_id
      where ${before}
      -- With ties: what is looked at are whole milliseconds.
      order by left(e.id::text, 13) desc fetch first ${EVENTS_AT_ONCE} rows with ties),
    ${WINDOWS},`
}

const WINDOWS = `span as materialized (
  select client_key, id as event_id, created_at,
    (left(id::text, 13) || '-0000-0000-000000000000')::uuid as low,
    (left(id::text, 13) || '-ffff-ffff-ffffffffffff')::uuid as high
  from event)`

/** The last id whose millisecond still holds ids before this one. */
function lastIdBefore(id: string): string {
  const isFloor = id.endsWith('-0000-0000-000000000000')
  return isFloor ? id : `${id.slice(0, 13)}-ffff-ffff-ffffffffffff`
}

function windowSource(table: string, columns: string): Source {
  const isFinal = table === 'final_deliveries'
  return {
    text: `select ${columns} from span w join ${table} d
      on d.client_key = w.client_key and d.id between w.low and w.high and d.event_id = w.event_id
      ${isFinal ? `and d.finished_at >= w.created_at - ${CLOCKS_APART}` : ''}`,
    downTo: `(select case when count(*) >= ${EVENTS_AT_ONCE} then
      (select low from span order by low limit 1) end from span)`,
  }
}

/** What the index can use of the cursor and of the times. */
function idConditions(query: DeliveryQuery, reach: Reach, parameters: Parameters): string {
  const conditions: string[] = []
  if (query.deliveryId !== null) conditions.push(`d.id = ${parameters.add(query.deliveryId)}::uuid`)
  if (reach.beforeId !== null) conditions.push(`d.id < ${parameters.add(reach.beforeId)}::uuid`)
  if (query.fromMs !== null) {
    conditions.push(`d.id >= ${parameters.add(uuidFloor(query.fromMs))}::uuid`)
  }
  if (query.toMs !== null) {
    conditions.push(`d.id < ${parameters.add(uuidFloor(query.toMs + ID_LATENESS_MS))}::uuid`)
  }
  return conditions.length === 0 ? 'true' : conditions.join(' and ')
}

/** Conditions that rows are held to once they have been read. */
function residualConditions(query: DeliveryQuery, reach: Reach, parameters: Parameters): string {
  const conditions: string[] = []
  const add = (condition: string) => conditions.push(` and ${condition}`)
  if (usesWindows(query)) {
    if (query.clientKey !== null) add(`d.client_key = ${parameters.add(query.clientKey)}`)
    // A window is a whole millisecond, the cursor a place within it.
    if (reach.beforeId !== null) add(`d.id < ${parameters.add(reach.beforeId)}::uuid`)
  }
  if (query.endpointId !== null) add(`d.endpoint_id = ${parameters.add(query.endpointId)}`)
  if (query.accountId !== null) add(`d.account_id = ${parameters.add(query.accountId)}`)
  if (query.kind !== null) add(`d.kind = ${parameters.add(query.kind)}`)
  if (query.states !== null) add(`d.state = any(${parameters.add(query.states)}::text[])`)
  if (query.fromMs !== null) add(`d.created_at >= ${parameters.add(new Date(query.fromMs))}`)
  if (query.toMs !== null) add(`d.created_at < ${parameters.add(new Date(query.toMs))}`)
  return conditions.join('')
}

async function isOwedLittle(db: Db, query: DeliveryQuery): Promise<boolean> {
  if (query.endpointId === null || query.clientKey === null) return false
  if (query.states !== null && !query.states.includes('PENDING')) return false
  const { rows } = await db.query<{ count: number }>({
    name: 'count-owed-to-endpoint',
    text: `select count(*)::int as count from (
             select from pending_deliveries where endpoint_id = $1 and client_key = $2
             limit $3) as owed`,
    values: [query.endpointId, query.clientKey, SORTED_MAX + 1],
  })
  return (rows[0]?.count ?? 0) <= SORTED_MAX
}

/** Values in the order in which the text names them. */
class Parameters {
  readonly values: unknown[] = []

  add(value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}`
  }
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
  next_attempt_at: Date | null
  deadline_at: Date | null
  last_outcome: string | null
  last_status: number | null
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
    nextAttemptAt: row.next_attempt_at,
    deadlineAt: row.deadline_at,
    lastOutcome: row.last_outcome,
    lastStatus: row.last_status,
  }
}
