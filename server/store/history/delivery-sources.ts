// Where the rows of a list of deliveries come from: what is owed, or a stretch of what has ended, each newest
// first and no more than a chunk; or the deliveries of given events.

import type { OutcomeFilter } from '../../core/asking/outcome-filter.ts'
import { FINAL_STATES } from '../../core/delivery/delivery.ts'
import { column } from '../sql/columns.ts'
import type { DeliveryQuery, Reach } from '../sql/delivery-query.ts'
import { movedColumns } from '../sql/file-deliveries.ts'
import type { Parameters } from '../sql/parameters.ts'
import { idFloor, type Stretch, timesWithin } from '../sql/stretches.ts'

export interface Source {
  text: string
  /** An expression: null when the source has nothing below what it has given. */
  downTo: string
}

/** A delivery's id has the time of its event's id, which is a little earlier than created_at, never later. */
const ID_LATENESS_MS = 60_000

const SHARED_COLUMNS = movedColumns('d')
const PENDING_COLUMNS = `${SHARED_COLUMNS}, 'PENDING' as state, d.next_attempt_at, d.is_replay,
  null::timestamptz as finished_at`
const FINAL_COLUMNS = `${SHARED_COLUMNS}, d.state, null::timestamptz as next_attempt_at,
  coalesce(d.is_replay, false) as is_replay, d.finished_at`

const NO_MORE = 'null::uuid'

/** Full, it goes on below its last row; otherwise it has come to the end. */
function chunkEnd(chunk: string): string {
  return `(select case when count(*) >= ${chunk} then
    (select id from part order by id limit 1) end from part)`
}

/** What is owed, newest first. */
export function pendingSource(
  query: DeliveryQuery,
  reach: Reach,
  parameters: Parameters,
  isSorted: boolean,
): Source {
  const where = idConditions(query, reach, parameters)
  const table = 'pending_deliveries d'
  if (query.deliveryId !== null && query.clientKey === null) {
    const text = `select ${PENDING_COLUMNS} from clients c
      join ${table} on d.client_key = c.client_key and ${where}`
    return { text, downTo: NO_MORE }
  }
  const chunk = parameters.add(reach.chunk)
  const downTo = chunkEnd(chunk)
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

/** What has ended within a stretch of days, newest first. */
export function finalSource(
  query: DeliveryQuery,
  reach: Reach,
  parameters: Parameters,
  stretch: Stretch,
): Source {
  const states = FINAL_STATES.filter((state) => query.states?.includes(state) ?? true)
  const where = [idConditions(query, reach, parameters), timesWithin(stretch, 'd.finished_at')]
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
  return { text, downTo: chunkEnd(chunk) }
}

/** An event, and the ids that its deliveries can have: those of its own millisecond. */
export interface EventSpan {
  clientKey: number
  eventId: string
}

export function pendingOfSpans(spans: readonly EventSpan[], parameters: Parameters): Source {
  return ofSpans('pending_deliveries', PENDING_COLUMNS, spans, parameters, 'true')
}

export function finalOfSpans(
  spans: readonly EventSpan[],
  parameters: Parameters,
  stretch: Stretch,
): Source {
  const within = timesWithin(stretch, 'd.finished_at')
  return ofSpans('final_deliveries', FINAL_COLUMNS, spans, parameters, within)
}

/**
 * The deliveries of an event have ids of the same millisecond as its own: a short range of the primary
 * key, at any rate, instead of one more index on everything that was ever delivered.
 */
function ofSpans(
  table: string,
  columns: string,
  spans: readonly EventSpan[],
  parameters: Parameters,
  within: string,
): Source {
  const clientKeys = parameters.add(column('int', spans, (span) => span.clientKey))
  const eventIds = parameters.add(column('uuid', spans, (span) => span.eventId))
  return {
    // From each span into the table, never the other way round, whatever the statistics say.
    text: `select d.* from (
        select client_key, id as event_id,
          (left(id::text, 13) || '-0000-0000-000000000000')::uuid as low,
          (left(id::text, 13) || '-ffff-ffff-ffffffffffff')::uuid as high
        from unnest(${clientKeys}::int[], ${eventIds}::uuid[]) as e (client_key, id) offset 0) as w
      cross join lateral (
        select ${columns} from ${table} d
        where d.client_key = w.client_key and d.id between w.low and w.high
          and d.event_id = w.event_id and ${within} offset 0) as d`,
    downTo: NO_MORE,
  }
}

/** A delivery by its whole key. */
export interface DeliveryKey {
  clientKey: number
  id: string
}

export function pendingWithKeys(keys: readonly DeliveryKey[], parameters: Parameters): Source {
  return withKeys('pending_deliveries', PENDING_COLUMNS, keys, parameters, 'true')
}

export function finalWithKeys(
  keys: readonly DeliveryKey[],
  parameters: Parameters,
  stretch: Stretch,
): Source {
  const within = timesWithin(stretch, 'd.finished_at')
  return withKeys('final_deliveries', FINAL_COLUMNS, keys, parameters, within)
}

function withKeys(
  table: string,
  columns: string,
  keys: readonly DeliveryKey[],
  parameters: Parameters,
  within: string,
): Source {
  const clientKeys = parameters.add(column('int', keys, (key) => key.clientKey))
  const ids = parameters.add(column('uuid', keys, (key) => key.id))
  return {
    // From each key into the table, as ofSpans does.
    text: `select d.* from unnest(${clientKeys}::int[], ${ids}::uuid[]) as w (client_key, id)
      cross join lateral (
        select ${columns} from ${table} d
        where d.client_key = w.client_key and d.id = w.id and ${within} offset 0) as d`,
    downTo: NO_MORE,
  }
}

/** What the index can use of the cursor and of the times. */
function idConditions(query: DeliveryQuery, reach: Reach, parameters: Parameters): string {
  const conditions: string[] = []
  if (query.deliveryId !== null) conditions.push(`d.id = ${parameters.add(query.deliveryId)}::uuid`)
  if (reach.beforeId !== null) conditions.push(`d.id < ${parameters.add(reach.beforeId)}::uuid`)
  if (query.fromMs !== null) {
    conditions.push(`d.id >= ${parameters.add(idFloor(query.fromMs))}::uuid`)
  }
  if (query.toMs !== null) {
    conditions.push(`d.id < ${parameters.add(idFloor(query.toMs + ID_LATENESS_MS))}::uuid`)
  }
  return conditions.length === 0 ? 'true' : conditions.join(' and ')
}

/** Conditions that rows are held to once they have been read. */
export function residualConditions(
  query: DeliveryQuery,
  reach: Reach,
  parameters: Parameters,
): string {
  const conditions: string[] = []
  const add = (condition: string) => conditions.push(` and ${condition}`)
  if (query.payments !== null || query.event !== null) {
    if (query.clientKey !== null) add(`d.client_key = ${parameters.add(query.clientKey)}`)
    // A span is a whole millisecond, the cursor an instant within it.
    if (reach.beforeId !== null) add(`d.id < ${parameters.add(reach.beforeId)}::uuid`)
    if (query.deliveryId !== null) add(`d.id = ${parameters.add(query.deliveryId)}::uuid`)
  }
  if (query.payments !== null && query.event !== null) {
    // The spans are then those of the event alone, and it may be an event of another payment.
    const { clientKey } = query.event
    const ofClient = query.payments.filter((key) => key.clientKey === clientKey)
    add(
      `d.payment_id = any(${parameters.add(column('uuid', ofClient, (key) => key.paymentId))}::uuid[])`,
    )
  }
  if (query.endpointId !== null) add(`d.endpoint_id = ${parameters.add(query.endpointId)}`)
  if (query.accountId !== null) add(`d.account_id = ${parameters.add(query.accountId)}`)
  if (query.kind !== null) add(`d.kind = ${parameters.add(query.kind)}`)
  if (query.outcomes !== null) add(outcomeCondition(query.outcomes, parameters))
  if (query.jobId !== null) {
    add(`exists (select from job_deliveries j where j.job_id = ${parameters.add(query.jobId)}
      and j.delivery_id = d.id and j.client_key = d.client_key)`)
  }
  if (query.states !== null) add(`d.state = any(${parameters.add(query.states)}::text[])`)
  if (query.fromMs !== null) add(`d.created_at >= ${parameters.add(new Date(query.fromMs))}`)
  if (query.toMs !== null) add(`d.created_at < ${parameters.add(new Date(query.toMs))}`)
  return conditions.join('')
}

function outcomeCondition(outcomes: OutcomeFilter, parameters: Parameters): string {
  const any: string[] = []
  if (outcomes.isUntried) any.push('d.last_outcome is null')
  if (outcomes.codes.length > 0) {
    any.push(`d.last_outcome = any(${parameters.add(outcomes.codes)}::text[])`)
  }
  for (const { from, to } of outcomes.statuses) {
    any.push(`(d.last_outcome = 'answered'
      and d.last_status between ${parameters.add(from)} and ${parameters.add(to)})`)
  }
  return `(${any.join(' or ')})`
}
