// I14: a retry is heeded, and so is the cancellation of what holds others back. What was owed is tried soon, whichever
// process owns it, also where a circuit was open. That it is tried in order, and no later than its 7 days, are I6 and I4:
// a retry changes neither.

import type { ReceivedRequest, RetryAct, Violation } from './records.ts'
import { type RunIndex, violation } from './run-index.ts'

export function retriesAreHeeded(seen: RunIndex): Violation[] {
  const { retryMsMax } = seen.run.limits
  if (retryMsMax === undefined) return []
  return (seen.run.retries ?? []).flatMap((retry) => {
    const untilMs = retry.atMs + retryMsMax
    const isOver = (id: string) =>
      (seen.finals.get(id) ?? []).some(({ atMs }) => atMs >= retry.atMs && atMs <= untilMs)
    if (untilMs > seen.run.endedAtMs || retry.owed.every(isOver)) return []
    if (isExcused(seen, retry, untilMs) || isFollowed(seen, retry, untilMs)) return []
    const detail = 'a retry is not followed by an attempt'
    return [violation('I14', detail, retry.endpointId, retry.paymentId, retry.atMs)]
  })
}

/** Where an answer fails, the circuit decides which of its payments is tried. */
function isFollowed(seen: RunIndex, retry: RetryAct, untilMs: number): boolean {
  const after = seen.run.requests.filter(
    ({ endpointId, sentAtMs }) =>
      endpointId === retry.endpointId && sentAtMs >= retry.sinceMs && sentAtMs <= untilMs,
  )
  const hasFailed = after.some(({ status, wasAnswerHeard }) => status !== 200 || !wasAnswerHeard)
  return hasFailed
    ? after.length > 0
    : after.some(({ paymentId }) => retry.paymentId === null || paymentId === retry.paymentId)
}

/** A fault, a pause, or what hangs and holds the slots. */
function isExcused(seen: RunIndex, retry: RetryAct, untilMs: number): boolean {
  const { leaseMs } = seen.run.limits
  const isSick = seen.isDisturbed(retry.atMs - 2 * leaseMs, untilMs)
  const acts = seen.endpoints.get(retry.endpointId)?.acts ?? []
  const isTouched = acts.some(
    ({ kind, askedAtMs, appliedAtMs }) =>
      kind !== 'retry' && kind !== 'cancel' && askedAtMs <= untilMs && appliedAtMs >= retry.atMs,
  )
  const isOff = isSick || isTouched || isForgotten(seen, retry)
  return isOff || isCrowded(seen, retry, untilMs) || isKeptBusy(seen, retry, untilMs)
}

/**
 * It is asked for during an attempt, and the database's clock is set back before that has ended. The time that it wrote is
 * brought forward as all others are, and then lies before the attempt: it follows when its delay is over.
 */
function isForgotten(seen: RunIndex, { owed, sinceMs, atMs }: RetryAct): boolean {
  const jumps = seen.run.faults.filter(({ isSetBack }) => isSetBack)
  const deliveries = seen.run.deliveries.filter(({ id }) => owed.includes(id))
  return deliveries
    .flatMap((delivery) => seen.requestsOf(delivery))
    .filter((request) => request.sentAtMs <= atMs && endOf(seen, request) > atMs)
    .some((request) =>
      jumps.some(({ fromMs }) => fromMs >= sinceMs && fromMs <= endOf(seen, request)),
    )
}

/**
 * What hangs may hold all slots of a cramped world, or all memory: at other endpoints, or at this one since before. In
 * a world with room, no other endpoint is in the way.
 */
function isCrowded(seen: RunIndex, retry: RetryAct, untilMs: number): boolean {
  const { pollMs, hasRoom } = seen.run.limits
  if (hasRoom) return false
  return seen.run.requests.some(
    (request) =>
      (request.endpointId !== retry.endpointId || request.sentAtMs < retry.atMs) &&
      request.sentAtMs <= untilMs &&
      endOf(seen, request) >= retry.atMs &&
      endOf(seen, request) - request.sentAtMs > 3 * pollMs,
  )
}

/** One attempt at the endpoint follows the other, from before the retry until the end: its window may be one. */
function isKeptBusy(seen: RunIndex, { endpointId, atMs }: RetryAct, untilMs: number): boolean {
  const own = seen.run.requests
    .filter((request) => request.endpointId === endpointId && endOf(seen, request) > atMs)
    .toSorted((one, other) => one.sentAtMs - other.sentAtMs)
  let busyUntilMs = atMs
  for (const request of own) {
    // It could have gone in between.
    const idleMsMax = busyUntilMs > atMs ? seen.run.limits.pollMs : 0
    if (request.sentAtMs > busyUntilMs + idleMsMax) break
    busyUntilMs = Math.max(busyUntilMs, endOf(seen, request))
  }
  return busyUntilMs >= untilMs
}

/** Of one that is never answered: when the sender gives up. */
function endOf(seen: RunIndex, { sentAtMs, answeredAtMs }: ReceivedRequest): number {
  return Math.min(answeredAtMs ?? Infinity, sentAtMs + seen.run.limits.attemptMsMax)
}
