// Puts together what the checker reads: acknowledgements and receivers' logs from their files, rows and
// the observers' notes from the database, faults and control acts from those who caused them.

import type { Client } from 'pg'
import type {
  EndpointAct,
  EndpointHistory,
  FaultAct,
  FinalAct,
  LeaseAct,
  ReceivedRequest,
  RunRecord,
  StoredAttempt,
  StoredDelivery,
  StoredEvent,
} from '../simulator/records.ts'
import type { ClockJumps } from './clock-jumps.ts'
import type { KnownEndpoint } from './endpoints.ts'
import type { StoredReferences } from './feeds.ts'
import type { ReceivedLine } from './receivers.ts'
import { asStored, type StatusChange } from './switches.ts'

export interface Stored {
  events: StoredEvent[]
  deliveries: StoredDelivery[]
  attempts: StoredAttempt[]
  finals: FinalAct[]
  leases: LeaseAct[]
  endpoints: { id: string; shard: number }[]
  /** Each change of one, in the order of their commits. */
  statuses: StatusChange[]
  references: StoredReferences[]
}

/** Whole milliseconds, like those of the receivers. */
const MS = (column: string) => `floor(extract(epoch from ${column}) * 1000)::float8`

export async function readStored(client: Client): Promise<Stored> {
  const read = async <T>(text: string) => (await client.query(text)).rows as T[]
  return {
    events: await read(`select id, payment_id as "paymentId", account_id as "accountId", sequence,
      md5(text) as text, ${MS('at')} as "createdAtMs" from paybell.events
      join chaos.events using (id)`),
    deliveries: await read(`select id, event_id as "eventId", endpoint_id as "endpointId",
        payment_id as "paymentId", sequence, 'PENDING' as state, attempts,
        ${MS('next_attempt_at')} as "nextAttemptAtMs", ${MS('deadline_at')} as "deadlineAtMs",
        is_replay as "isReplay" from paybell.pending_deliveries
      union all
      select id, event_id, endpoint_id, payment_id, sequence, state, attempts, null,
        ${MS('deadline_at')}, false from paybell.final_deliveries`),
    attempts:
      await read(`select delivery_id as "deliveryId", attempt, ${MS('at')} as "atMs", outcome,
      status from paybell.attempts order by delivery_id, attempt`),
    finals: await read(`select id as "deliveryId", state, ${MS('at')} as "atMs" from chaos.finals`),
    leases: await read(`select shard, epoch::int as epoch, node as owner, ${MS('at')} as "atMs"
      from chaos.takings order by at, epoch`),
    endpoints: await read('select id, shard from paybell.endpoints'),
    // The row of the endpoint is locked meanwhile: none is noted out of its turn.
    statuses: await read(`select id as "endpointId", status, ${MS('at')} as "atMs",
      ${MS('written')} as "writtenMs" from chaos.statuses order by at, ctid`),
    references: await read(`select payment_id as "paymentId",
      array_agg(text::json ->> 'reference' order by sequence) as references
      from paybell.events group by payment_id`),
  }
}

/** Deliveries that nothing keeps from being tried now, not even an open circuit. */
export async function readDueNow(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(`
    select d.id from paybell.pending_deliveries d
    join paybell.endpoints e on e.client_key = d.client_key and e.id = d.endpoint_id
    where d.next_attempt_at <= clock_timestamp() and e.status = 'ACTIVE'
      and e.url ~ '/(steady|slow|flaky|late|telling)/' and not exists (
      -- An older one goes first; a newer one may have gone ahead of one that has failed.
      select from paybell.pending_deliveries other where other.client_key = d.client_key
        and other.endpoint_id = d.endpoint_id and other.payment_id = d.payment_id
        and (other.sequence < d.sequence
          or other.sequence > d.sequence and d.first_failed_at is not null))`)
  return rows.map((row) => row.id)
}

export interface Evidence extends Omit<RunRecord, keyof Stored | 'requests' | 'endpoints'> {
  stored: Stored
  received: readonly ReceivedLine[]
  /** Who connects from which address; where that is not known, who owned the shard is taken for the sender. */
  nodes: ReadonlyMap<string | null, string>
  known: readonly KnownEndpoint[]
  clock: Pick<ClockJumps, 'distanceMs'> | null
}

export function toRunRecord(evidence: Evidence): RunRecord {
  const { stored, received, nodes, known, clock, ...rest } = evidence
  const byPath = new Map(known.map((endpoint) => [endpoint.path, endpoint]))
  const shards = new Map(stored.endpoints.map(({ id, shard }) => [id, shard]))
  const owners = Map.groupBy(stored.leases, (lease) => lease.shard)
  const requests = received.map((line): ReceivedRequest => {
    const endpointId = byPath.get(line.path)?.id ?? line.path
    return {
      ...line,
      endpointId,
      signedBy: line.keys?.map((n) => `${line.path} ${n}`) ?? null,
      node:
        nodes.get(line.from) ??
        ownerAt(owners.get(shards.get(endpointId) ?? -1) ?? [], line.startedAtMs),
      sentAtMs: line.startedAtMs,
      wasAnswerHeard: line.status !== null && !line.wasLeft,
    }
  })
  const attempts = matchRows(stored, requests, rest, clock)
  for (const stall of rest.faults.filter(({ kind }) => kind === 'stall')) {
    const first = findFirstOnWaking(requests, stall)
    if (first === undefined) continue
    const takings = owners.get(shards.get(first.endpointId) ?? -1) ?? []
    if (wasTakenMeanwhile(takings, first, stall)) first.hasLeftOnWaking = true
  }
  const endpoints = known.map(toHistory(stored, rest.faults))
  return { ...rest, ...stored, attempts, requests, endpoints }
}

function ownerAt(takings: readonly LeaseAct[], atMs: number): string | null {
  return takings.findLast((taking) => taking.atMs <= atMs)?.owner ?? null
}

/** It stops a little after the fault begins, and goes on a little before the end is noted. */
const STOPPING_MS = 100
const WAKING_MS = 150

/**
 * A process looks at its lease, and a few microseconds later the system has the request: one that is frozen in between cannot
 * know. It has one thread, so this is one request at most, and the first to come from it afterwards: if another comes in the
 * same moment, it has sent without looking.
 */
function findFirstOnWaking(
  requests: readonly ReceivedRequest[],
  { node, fromMs, untilMs }: FaultAct,
): ReceivedRequest | undefined {
  const [first, second] = requests
    .filter(
      (request) =>
        request.node === node &&
        request.startedAtMs > fromMs + STOPPING_MS &&
        request.startedAtMs <= untilMs + WAKING_MS,
    )
    .toSorted((one, other) => one.startedAtMs - other.startedAtMs)
  if (first === undefined || first.startedAtMs < untilMs - WAKING_MS) return undefined
  return second?.startedAtMs === first.startedAtMs ? undefined : first
}

/** Another process had the shard when it woke up. */
function wasTakenMeanwhile(
  takings: readonly LeaseAct[],
  { node, startedAtMs }: ReceivedRequest,
  { fromMs }: FaultAct,
): boolean {
  const last = takings.findLast(({ atMs }) => atMs <= startedAtMs)
  return last !== undefined && last.owner !== node && last.atMs > fromMs
}

const SAME_ATTEMPT_MS = 2_500
/** By how much a row's time may be wrong: its process has read the clock through a slow connection. */
const ROW_ERROR_MS = 1_000
const MOMENT_MS = 400

/**
 * Which row tells of which request: the same attempt of the same delivery, nearest in time. Where clocks
 * jump, or a connection is slow, several may be about equally near: then it is the last of them, because a
 * process makes an attempt again, under the same number, only where it finds no row of it. But one that was
 * answered as the row says comes before it: a process that was frozen may send its own after that of the next
 * owner, and finds no lease to record it under. A request without a row gets the attempt number 0, so that no
 * other request's row is taken for its own.
 */
function matchRows(
  stored: Stored,
  requests: ReceivedRequest[],
  { limits }: Pick<RunRecord, 'limits'>,
  clock: Evidence['clock'],
): StoredAttempt[] {
  const distance = (request: ReceivedRequest, row: StoredAttempt) =>
    clock?.distanceMs(request.startedAtMs, row.atMs) ?? Math.abs(request.startedAtMs - row.atMs)
  const deliveries = new Map(stored.deliveries.map((delivery) => [delivery.id, delivery]))
  const byAttempt = Map.groupBy(
    requests.toSorted((one, other) => one.startedAtMs - other.startedAtMs),
    (request) => `${request.webhookId} ${request.endpointId} ${request.attempt}`,
  )
  const matched = new Set<ReceivedRequest>()
  const rows = stored.attempts.map((row) => {
    const delivery = deliveries.get(row.deliveryId)
    const key = `${delivery?.eventId} ${delivery?.endpointId} ${row.attempt}`
    const free = (byAttempt.get(key) ?? [])
      .filter((request) => !matched.has(request))
      .map((request) => ({ request, awayMs: distance(request, row) }))
    const nearestMs = Math.min(...free.map(({ awayMs }) => awayMs))
    const near = free.filter(({ awayMs }) => awayMs <= nearestMs + ROW_ERROR_MS)
    const own = near.findLast(({ request }) => isToldBy(row, request)) ?? near.at(-1)
    if (own === undefined || nearestMs >= SAME_ATTEMPT_MS) return row
    matched.add(own.request)
    own.request.wasAnswerHeard = row.outcome === 'answered'
    // A request can be on its way to a busy receiver for as long as an attempt may take.
    const { startedAtMs } = own.request
    const earliestMs = startedAtMs - limits.clockErrorMs
    return { ...row, atMs: Math.max(earliestMs, Math.min(row.atMs, startedAtMs)) }
  })
  for (const request of requests) if (!matched.has(request)) request.attempt = 0
  return rows
}

function isToldBy(row: StoredAttempt, { status }: ReceivedRequest): boolean {
  return row.outcome !== 'answered' || row.status === status
}

/** What its owner did, and when it was paused, resumed and disabled. */
function toHistory(
  { statuses }: Stored,
  faults: readonly FaultAct[],
): (endpoint: KnownEndpoint) => EndpointHistory {
  return ({ id, acts: known }) => {
    const acts = known.map((act) => (act.kind === 'register' ? heldUp(act, faults) : act))
    return { id, accountId: null, events: null, acts: asStored(id, acts, statuses) }
  }
}

const MOMENT_AFTER_MS = 1_500

/** A process that was held up just then goes on with an update that had been asked for before: who listens to it was read
 *  already, however late it is stored. */
function heldUp(act: EndpointAct, faults: readonly FaultAct[]): EndpointAct {
  const around = faults.filter(
    ({ kind, fromMs, untilMs }) =>
      (kind === 'stall' || kind === 'partition') &&
      fromMs <= act.appliedAtMs &&
      untilMs >= act.askedAtMs,
  )
  const goneOnAtMs = Math.max(...around.map(({ untilMs }) => untilMs + MOMENT_AFTER_MS))
  return { ...act, appliedAtMs: Math.max(act.appliedAtMs, goneOnAtMs) }
}

/** The same record, one endpoint at a time: the checker's work grows with the square of it. */
export function* byEndpoint(run: RunRecord): Generator<RunRecord> {
  const requests = Map.groupBy(run.requests, (request) => request.endpointId)
  const deliveries = Map.groupBy(run.deliveries, (delivery) => delivery.endpointId)
  const attempts = Map.groupBy(run.attempts, (attempt) => attempt.deliveryId)
  const finals = Map.groupBy(run.finals, (final) => final.deliveryId)
  const due = new Set(run.dueAtFaultsEnd)
  for (const [index, endpoint] of run.endpoints.entries()) {
    const own = deliveries.get(endpoint.id) ?? []
    yield {
      ...run,
      endpoints: [endpoint],
      writes: index === 0 ? run.writes : [],
      leases: index === 0 ? run.leases : [],
      deliveries: own,
      attempts: own.flatMap(({ id }) => attempts.get(id) ?? []),
      finals: own.flatMap(({ id }) => finals.get(id) ?? []),
      requests: requests.get(endpoint.id) ?? [],
      dueAtFaultsEnd: own.map(({ id }) => id).filter((id) => due.has(id)),
    }
  }
}

/** True when a process was down, cut off or held up for longer than a moment in that period. */
export function isTroubled(faults: readonly FaultAct[], fromMs: number, untilMs: number): boolean {
  return faults.some(({ kind, fromMs: from, untilMs: until }) => {
    const isBrief = kind === 'stop' || kind === 'wall-clock' || until - from < MOMENT_MS
    return (kind === 'crash' || !isBrief) && from <= untilMs && until >= fromMs
  })
}
