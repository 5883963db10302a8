// I4: the 7 days of a run, and the delays between its attempts.

import type { StoredAttempt, StoredDelivery, Violation } from './records.ts'
import { type DeliveryRun, inactiveSpans, type RunIndex } from './run-index.ts'

/** I4: no attempt after the 7 days, the last one at their end, nothing exhausted while inactive. */
export function sevenDays(seen: RunIndex): Violation[] {
  const { closingMs, clockErrorMs, controlMsMax, leaseMs } = seen.run.limits
  const wrong: Violation[] = []
  for (const [index, run] of seen.runs.entries()) {
    const first = run.attempts[0]
    if (first === undefined) continue
    const { delivery } = run
    const endsAtMs = runEnd(seen, run, first.atMs)
    const slackMs = clockErrorMs + pauseSlackMs(seen, delivery.endpointId)
    // What is stored is the end of the newest run; pauses are added to it when they end, by the times on their rows.
    const isNewest = seen.runs[index + 1]?.delivery !== delivery
    const spans = inactiveSpans(seen.endpoints.get(delivery.endpointId))
    const isKnown = spans.every(({ writtenMs }) => writtenMs !== undefined)
    const storedMs = delivery.deadlineAtMs ?? endsAtMs
    if (isNewest && isKnown && Math.abs(storedMs - endsAtMs) > slackMs) {
      wrong.push(seen.of('I4', 'the end is not 7 days after the first attempt', delivery))
    }
    for (const request of run.requests) {
      if (request.sentAtMs > endsAtMs + slackMs) {
        wrong.push(seen.of('I4', 'an attempt starts after the 7 days', delivery, request))
      }
    }
    const final = seen.finalOf(run)
    if (final?.state !== 'EXHAUSTED') continue
    if (final.atMs < endsAtMs - closingMs - slackMs) {
      wrong.push(seen.of('I4', 'EXHAUSTED before the last 5 minutes', delivery))
    }
    const closesAtMs = endsAtMs - closingMs - slackMs
    const isClosed = seen.run.requests.some(
      (request) =>
        request.endpointId === delivery.endpointId &&
        request.sentAtMs >= closesAtMs &&
        request.sentAtMs <= endsAtMs + slackMs,
    )
    const wasSick = seen.isSick(null, closesAtMs - 3 * leaseMs, final.atMs, true)
    if (!isClosed && !wasSick && !wasPassed(seen, run, final.atMs)) {
      wrong.push(seen.of('I4', 'EXHAUSTED without a closing attempt', delivery))
    }
    const isInactive = inactiveSpans(seen.endpoints.get(delivery.endpointId)).some(
      (span) => span.fromMs + controlMsMax < final.atMs && final.atMs < span.untilMs,
    )
    if (isInactive && !wasSick) {
      wrong.push(seen.of('I4', 'EXHAUSTED while its endpoint was not active', delivery))
    }
  }
  return wrong
}

/** I4, the schedule: no retry earlier than its delay allows, nor much later when all is well. */
export function schedule(seen: RunIndex): Violation[] {
  const { retryBaseMs, retryCapMs, jitter, clockErrorMs, breakerMsMax } = seen.run.limits
  const { clocksApartMs, leaseMs, pollMs, attemptMsMax, jumpNoticedMs } = seen.run.limits
  const wrong: Violation[] = []
  for (const run of seen.runs) {
    const { attempts, delivery } = run
    const closesAtMs = closing(seen, run)
    for (const [index, next] of attempts.entries()) {
      const before = attempts[index - 1]
      if (before === undefined || next.attempt !== before.attempt + 1) continue
      const fromMs = Math.min(...trueTimes(seen, delivery, before))
      const untilMs = Math.max(...trueTimes(seen, delivery, next))
      if (seen.wasTouched(delivery.endpointId, fromMs, untilMs)) continue
      const delayMs = Math.min(retryBaseMs * 2 ** (index - 1), retryCapMs)
      const gapMs = next.atMs - before.atMs
      const isLast = next.atMs >= closesAtMs
      // Stored times are those of the sender's clock, which its next reading of the database's time may move.
      const isEarly = gapMs < delayMs * (1 - jitter) - clocksApartMs
      if (isEarly && !isLast && !wasAskedFor(seen, delivery, before, next)) {
        wrong.push(seen.of('I4', `attempt ${next.attempt} comes early`, delivery))
      }
      // After a step back of the clock, too, it waits for twice its delay at the longest.
      const isAsked = before.status === 429 || before.status === 503
      const asked = isAsked || jumpNoticedMs !== undefined ? 2 : 1
      const latestMs =
        delayMs * (1 + jitter) * asked +
        breakerMsMax +
        3 * pollMs +
        attemptMsMax +
        (jumpNoticedMs ?? 0)
      const isSick = seen.isDisturbed(fromMs - leaseMs, untilMs)
      // While a circuit is open it may be postponed, and others of its endpoint are the probes.
      const isPostponed = seen.run.requests.some(
        (request) =>
          request.endpointId === delivery.endpointId &&
          request.sentAtMs > fromMs + latestMs - breakerMsMax &&
          request.sentAtMs < untilMs - 2_000,
      )
      const isExcused = isSick || isPostponed || isOvertaken(seen, delivery)
      // By the true clock where that jumps: stored times are then wrong by the jump.
      const lateMs = jumpNoticedMs === undefined ? gapMs - clockErrorMs : untilMs - fromMs - 2_000
      if (lateMs > latestMs && !isExcused) {
        wrong.push(seen.of('I4', `attempt ${next.attempt} comes late`, delivery))
      }
    }
  }
  return wrong
}

/**
 * By the times on its rows it was asked for between the two. The clock of the process that was asked may be ahead of the
 * sender's: what was asked for just before an attempt is then taken for a wish after it, and is heeded once more.
 */
function wasAskedFor(
  seen: RunIndex,
  { endpointId }: StoredDelivery,
  before: StoredAttempt,
  next: StoredAttempt,
): boolean {
  const acts = seen.endpoints.get(endpointId)?.acts ?? []
  return acts.some(
    ({ writtenMs = Number.NEGATIVE_INFINITY }) => writtenMs > before.atMs && writtenMs <= next.atMs,
  )
}

/**
 * When the attempt was sent, more than once where two processes made it. What is on record is the time of the
 * database's clock, which may have jumped: it serves only where nothing has reached the receiver.
 */
function trueTimes(seen: RunIndex, delivery: StoredDelivery, row: StoredAttempt): number[] {
  const requests = seen.requestsOf(delivery).filter(({ attempt }) => attempt === row.attempt)
  return requests.length > 0 ? requests.map(({ sentAtMs }) => sentAtMs) : [row.atMs]
}

/** From when on an attempt is the last of its run. What is stored is the end of the newest run. */
function closing(seen: RunIndex, run: DeliveryRun): number {
  const { closingMs, clockErrorMs } = seen.run.limits
  const [first] = run.attempts
  const isNewest = run.untilMs === Number.POSITIVE_INFINITY
  if (isNewest || first === undefined) {
    return (run.delivery.deadlineAtMs ?? Number.POSITIVE_INFINITY) - closingMs
  }
  return runEnd(seen, run, first.atMs) - closingMs - clockErrorMs
}

/** The end of the run; time in which the endpoint was not active is added when it is active again, also where the end had
 *  passed before. It has then passed again: the end is moved by as much as the time. */
function runEnd(seen: RunIndex, run: DeliveryRun, firstAtMs: number): number {
  const { runMs } = seen.run.limits
  let endsAtMs = firstAtMs + runMs
  const overAtMs = seen.finalOf(run)?.atMs ?? Number.POSITIVE_INFINITY
  for (const span of inactiveSpans(seen.endpoints.get(run.delivery.endpointId))) {
    const isAdded = span.untilMs <= overAtMs
    if (!isAdded || span.untilMs <= firstAtMs) continue
    const isWhole = span.fromMs >= firstAtMs
    const lengthMs = span.untilMs - Math.max(span.fromMs, firstAtMs)
    endsAtMs += isWhole ? (span.writtenMs ?? lengthMs) : lengthMs
  }
  return endsAtMs
}

/** A pause begins and ends at the time that its caller's process took, a little before the commit; where that is not known. */
function pauseSlackMs(seen: RunIndex, endpointId: string): number {
  const acts = (seen.endpoints.get(endpointId)?.acts ?? []).filter(
    ({ writtenMs }) => writtenMs === undefined,
  )
  return acts.reduce((sum, act) => sum + Math.max(0, act.appliedAtMs - act.askedAtMs), 0)
}

/** A newer update of its payment exists: the two alternate. */
function isOvertaken(seen: RunIndex, { endpointId, paymentId, sequence }: StoredDelivery): boolean {
  return seen.run.deliveries.some(
    (other) =>
      other.endpointId === endpointId && other.paymentId === paymentId && other.sequence > sequence,
  )
}

/** A newer update of its payment was attempted: it waits for that one, and is not sent. */
function wasPassed(seen: RunIndex, { delivery, requests }: DeliveryRun, beforeMs: number): boolean {
  const isReplay = requests.some((request) => request.isReplay)
  return seen.run.requests.some(
    (request) =>
      request.endpointId === delivery.endpointId &&
      request.paymentId === delivery.paymentId &&
      request.sequence > delivery.sequence &&
      request.sentAtMs <= beforeMs &&
      !request.isReplay &&
      !isReplay,
  )
}
