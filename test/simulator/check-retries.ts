// I14: a retry is heeded, and so is the cancellation of what holds others back. What was owed is tried soon, whichever
// process owns it, also where a circuit was open. That it is tried in order, and no later than its 7 days, are I6 and I4:
// a retry changes neither.

import type { RetryAct, Violation } from './records.ts'
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
      endpointId === retry.endpointId && sentAtMs >= retry.atMs && sentAtMs <= untilMs,
  )
  const hasFailed = after.some(({ status, wasAnswerHeard }) => status !== 200 || !wasAnswerHeard)
  return hasFailed
    ? after.length > 0
    : after.some(({ paymentId }) => retry.paymentId === null || paymentId === retry.paymentId)
}

/** A fault, a pause, or what hangs and holds the few slots of a cramped world: at other endpoints, or since before. */
function isExcused(seen: RunIndex, retry: RetryAct, untilMs: number): boolean {
  const { leaseMs, pollMs } = seen.run.limits
  const isSick = seen.isSick(null, retry.atMs - 2 * leaseMs, untilMs, true)
  const acts = seen.endpoints.get(retry.endpointId)?.acts ?? []
  const isTouched = acts.some(
    ({ kind, askedAtMs, appliedAtMs }) =>
      kind !== 'retry' && kind !== 'cancel' && askedAtMs <= untilMs && appliedAtMs >= retry.atMs,
  )
  const isCrowded = seen.run.requests.some(
    ({ endpointId, sentAtMs, answeredAtMs }) =>
      (endpointId !== retry.endpointId || sentAtMs < retry.atMs) &&
      sentAtMs <= untilMs &&
      (answeredAtMs ?? Infinity) >= retry.atMs &&
      (answeredAtMs ?? Infinity) - sentAtMs > 3 * pollMs,
  )
  return isSick || isTouched || isCrowded
}
