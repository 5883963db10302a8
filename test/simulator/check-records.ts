// I8: what is on record is what happened.

import type { ReceivedRequest, StoredAttempt, Violation } from './records.ts'
import { ofRequest, type RunIndex, SICK, violation } from './run-index.ts'

/** A stored time that is further ahead is that of a wrong clock (store/endpoints/endpoint-health). */
const FUTURE_MS_MAX = 60_000

/** I8: one row per attempt, true to what the receiver saw; none missing without a fault. */
export function truthfulRecord(seen: RunIndex): Violation[] {
  const wrong: Violation[] = []
  const { attemptMsMax, leaseMs } = seen.run.limits
  for (const delivery of seen.run.deliveries) {
    const rows = seen.attempts.get(delivery.id) ?? []
    const numbers = rows.map((row) => row.attempt).sort((one, other) => one - other)
    if (numbers.some((number, index) => number !== index + 1)) {
      wrong.push(seen.of('I8', `attempt rows ${numbers.join(' ')}`, delivery))
    }
    if (rows.length < delivery.attempts) {
      wrong.push(seen.of('I8', `${rows.length} rows, ${delivery.attempts} attempts`, delivery))
    }
  }
  for (const request of seen.run.requests) {
    const row = rowOf(seen, request)
    const untilMs = request.sentAtMs + attemptMsMax + leaseMs
    if (row === undefined) {
      const isRunning = untilMs > seen.run.endedAtMs
      if (!isRunning && !seen.isSick(request.node, request.sentAtMs, untilMs)) {
        wrong.push(ofRequest('I8', 'a request without a row, and no process died', request))
      }
    } else if (copiesOf(seen, request).some((copy) => isRowOf(row, copy))) {
      // Where clocks jump, the row may be that of the same attempt by another process.
    } else if (request.wasAnswerHeard) {
      const detail = `recorded as ${row.outcome} ${row.status}, answered ${request.status}`
      wrong.push(ofRequest('I8', detail, request))
    } else {
      wrong.push(ofRequest('I8', 'an answer on record that no process heard', request))
    }
  }
  return wrong
}

/** The request itself, and others of the same attempt. */
function copiesOf(
  seen: RunIndex,
  { webhookId, endpointId, attempt }: ReceivedRequest,
): ReceivedRequest[] {
  const requests = seen.requests.get(`${webhookId}/${endpointId}`) ?? []
  return requests.filter((copy) => copy.attempt === attempt)
}

/** I8 for an endpoint's health: it tells of every attempt, unless a process has ended before it saved some. */
export function wholeHealth(seen: RunIndex): Violation[] {
  const { health, faults, deliveries, endedAtMs } = seen.run
  const { attemptMsMax, pollMs } = seen.run.limits
  // It is written by the next poll but one; the database may keep one poll waiting for 11 s.
  const countedUntilMs = endedAtMs - attemptMsMax - 12_000 - 3 * pollMs
  const hasEnded = faults.some(
    ({ kind, untilMs }) =>
      kind === 'crash' || kind === 'stop' || (SICK.includes(kind) && untilMs > countedUntilMs),
  )
  if (health === undefined || hasEnded) return []
  const counted = new Map(health.map(({ endpointId, attempts }) => [endpointId, attempts]))
  const made = new Map<string, number>()
  for (const { id, endpointId } of deliveries) {
    const rows = (seen.attempts.get(id) ?? []).filter(({ atMs }) => atMs < countedUntilMs)
    made.set(endpointId, (made.get(endpointId) ?? 0) + rows.length)
  }
  return [...made].flatMap(([endpointId, attempts]) => {
    const missing = attempts - (counted.get(endpointId) ?? 0)
    if (missing <= 0) return []
    return [violation('I8', `health lacks ${missing} attempts`, endpointId)]
  })
}

/**
 * I8 for an endpoint's health: once a success is known, it does not begin to fail since before that, unless an attempt
 * has failed that ended later. So it holds whichever processes write of both, and in whatever order.
 */
export function heededSuccess(seen: RunIndex): Violation[] {
  const { faults, limits } = seen.run
  const { clocksApartMs } = limits
  return (seen.run.failingWrites ?? []).flatMap(
    ({ endpointId, atMs, writerMs, knownSuccessAtMs, failingSinceMs }) => {
      const afterMs = knownSuccessAtMs - clocksApartMs
      const hasFailedSince = seen.run.attempts.some(
        (row) =>
          row.status !== 200 &&
          row.atMs + (row.durationMs ?? 0) > afterMs &&
          seen.deliveries.get(row.deliveryId)?.endpointId === endpointId,
      )
      // One of a clock that was ahead, and was set right, does not count while it lies in the writer's future.
      const isAhead =
        knownSuccessAtMs >= writerMs + FUTURE_MS_MAX &&
        faults.some(({ kind, fromMs }) => kind === 'database-clock' && fromMs <= atMs)
      if (failingSinceMs > afterMs || hasFailedSince || isAhead) return []
      const detail = `shown as failing since ${failingSinceMs}, after a 200 at ${knownSuccessAtMs}`
      return [violation('I8', detail, endpointId, null, atMs)]
    },
  )
}

function rowOf(seen: RunIndex, request: ReceivedRequest): StoredAttempt | undefined {
  const delivery = seen.deliveryOf(request)
  if (delivery === undefined) return undefined
  // A process that has just started may have read the database's clock through a slow connection.
  const errorMs = 3 * seen.run.limits.clockErrorMs
  const awayMs = (row: StoredAttempt) => Math.abs(row.atMs - request.sentAtMs)
  return (seen.attempts.get(delivery.id) ?? [])
    .filter((row) => row.attempt === request.attempt && awayMs(row) <= errorMs)
    .toSorted((one, other) => awayMs(one) - awayMs(other))[0]
}

/** What the receiver did, and whether that was heard, is what the row says. */
function isRowOf(row: StoredAttempt, request: ReceivedRequest): boolean {
  return request.wasAnswerHeard ? row.status === request.status : row.outcome !== 'answered'
}
