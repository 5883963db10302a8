// Why a delivery is where it is, what comes next and when: one to three sentences in plain words. Pure:
// the time is handed in, and every number comes from the delivery or from the policies it lives by.

import { delayAfterMs, type RetryPolicy } from './backoff.ts'
import type { CircuitPolicy, CircuitState } from './circuit.ts'
import { type DeliveryState, toClientCode } from './delivery.ts'
import type { EndpointStatus } from './endpoint.ts'
import { toClockText, toDayText, toDurationText, toInstantText, toTimeText } from './time-text.ts'

export interface ExplainedDelivery {
  state: DeliveryState
  attempts: number
  /** Of this run: a replay begins a new one. Null where it is not known, on final deliveries. */
  runAttempts: number | null
  isReplay: boolean
  /** Null: parked, or final. */
  nextAttemptAtMs: number | null
  /** Null: the run has not begun. */
  deadlineAtMs: number | null
  finishedAtMs: number | null
  lastAttempt: { atMs: number; durationMs: number; outcome: string; status: number | null } | null
  endpoint: {
    status: EndpointStatus
    isDeleted: boolean
    inactiveSinceMs: number | null
    circuit: CircuitState
    /** Its callbacks are fetched: it is paused while none is asked for. */
    isListener?: boolean
  }
  /** The older update of the same payment that this one waits for. */
  elder: { sequence: number; firstFailedAtMs: number | null } | null
  /** The newer update that has gone ahead of this one, or is about to: this one is not sent while it is tried. */
  newer: { sequence: number; attempts: number } | null
  /** The update that was accepted first, of a superseded one. */
  supersededBy: number | null
}

export interface ExplanationContext {
  nowMs: number
  retry: RetryPolicy
  circuit: CircuitPolicy
  /** Infinity: an update never gives way. */
  patienceMs: number
  /** The reader's relation to the endpoint: a client reads "your endpoint". */
  reader: 'client' | 'operator'
}

export function explain(delivery: ExplainedDelivery, context: ExplanationContext): string {
  const sentences =
    delivery.state === 'PENDING'
      ? explainPending(delivery, context)
      : explainFinal(delivery, context)
  return sentences.join(' ')
}

/** Attempts of a whole run when nothing is ever answered in time: what "about 40" means. */
export function attemptsInRun(policy: RetryPolicy): number {
  const lastStartMs = policy.runMs - policy.lastStartMarginMs
  let attempts = 1
  for (let atMs = 0; atMs < lastStartMs && attempts < 10_000; attempts++) {
    atMs += delayAfterMs(attempts, policy, () => 0.5)
  }
  return attempts
}

function explainPending(delivery: ExplainedDelivery, context: ExplanationContext): string[] {
  const hasTried = (delivery.runAttempts ?? 0) > 0
  const past = hasTried ? describeLast(delivery, context) : []
  if (delivery.isReplay && !hasTried) past.push('A replay was asked for.')
  return [...past, ...describeHold(delivery, context, hasTried)]
}

/** What the delivery waits for, or when it goes. */
function describeHold(
  delivery: ExplainedDelivery,
  context: ExplanationContext,
  hasTried: boolean,
): string[] {
  const { endpoint, elder, newer, nextAttemptAtMs } = delivery
  const words = wordsFor(context)
  if (endpoint.isDeleted)
    return ['The endpoint was deleted: this delivery is about to be cancelled.']
  if (endpoint.status !== 'ACTIVE') return describeInactive(delivery, context)
  // A person asked for a replay: it keeps no order among other updates.
  if (elder !== null && !delivery.isReplay) return describeElder(elder, context)
  if (newer !== null && !delivery.isReplay) return describeNewer(newer, delivery, context)
  // A circuit postpones what is due as well: "due now" would be shown for minutes.
  const isSpared = endpoint.circuit !== 'CLOSED' && (nextAttemptAtMs ?? 0) <= context.nowMs
  if (nextAttemptAtMs === null || isSpared) {
    if (!isSpared) {
      return [`Waiting for its turn: ${words.endpoint} has a long queue, which goes out in order.`]
    }
    const pause = toDurationText(context.circuit.pauseMsMax)
    return [
      `${words.Endpoint} has only failed lately, so single attempts probe it, at most ${pause} apart;`,
      `this one follows as soon as a probe gets its 200${describeEnd(delivery, context)}`,
    ]
  }
  const which = hasTried ? 'next attempt' : 'first attempt'
  if (nextAttemptAtMs <= context.nowMs) return [`The ${which} is due now.`]
  const wait = toDurationText(nextAttemptAtMs - context.nowMs)
  const when = `${toTimeText(nextAttemptAtMs, context.nowMs)} UTC`
  const end = hasTried ? describeEnd(delivery, context) : '.'
  return [`${capitalised(which)} in ${wait} (${when})${end}`]
}

function describeInactive(delivery: ExplainedDelivery, context: ExplanationContext): string[] {
  const { status, inactiveSinceMs, isListener } = delivery.endpoint
  const { Endpoint } = wordsFor(context)
  const paused =
    inactiveSinceMs === null ? '' : ` since ${toInstantText(inactiveSinceMs, context.nowMs)}`
  if (isListener && status === 'PAUSED') {
    return [
      `Nobody has listened${paused}.`,
      'Nothing is lost: this delivery goes out, in order, once paybell listen runs again, and the wait does not count.',
    ]
  }
  const disabled =
    inactiveSinceMs === null
      ? ''
      : ` on ${toDayText(inactiveSinceMs)} ${toClockText(inactiveSinceMs, Infinity)} UTC`
  const reason =
    status === 'PAUSED'
      ? `${Endpoint} has been paused${paused}.`
      : `${Endpoint} was disabled by the service${disabled}, after ${toDurationText(context.retry.runMs)} of nothing but failures.`
  return [
    reason,
    'Nothing is lost: this delivery goes out, in order, once the endpoint is set to ACTIVE, and the wait does not count.',
  ]
}

function describeElder(
  elder: { sequence: number; firstFailedAtMs: number | null },
  context: ExplanationContext,
): string[] {
  const { endpoint } = wordsFor(context)
  const first = `Waiting for update ${elder.sequence} of the same payment`
  if (elder.firstFailedAtMs === null) return [`${first}, which goes first.`]
  const since = toInstantText(elder.firstFailedAtMs, context.nowMs)
  const refused = `${first}, which ${endpoint} has refused since ${since}.`
  const givesWayAtMs = elder.firstFailedAtMs + context.patienceMs
  if (!Number.isFinite(givesWayAtMs)) return [refused]
  if (givesWayAtMs <= context.nowMs) return [refused, 'It no longer has to wait, and goes next.']
  const wait = toDurationText(givesWayAtMs - context.nowMs)
  return [
    refused,
    `Goes ahead in ${wait} at the latest (${toTimeText(givesWayAtMs, context.nowMs)} UTC).`,
  ]
}

function describeNewer(
  newer: { sequence: number; attempts: number },
  delivery: ExplainedDelivery,
  context: ExplanationContext,
): string[] {
  const { deadlineAtMs } = delivery
  const has = newer.attempts > 0 ? 'has gone ahead' : 'goes ahead now'
  const end =
    deadlineAtMs === null
      ? ''
      : `, until ${toDayText(deadlineAtMs)} ${toClockText(deadlineAtMs, context.retry.runMs)} UTC`
  return [
    `Update ${newer.sequence} of the same payment ${has}, so this older one is not sent while that one is tried.`,
    `Accepted, it supersedes this one; if it ends otherwise, this one goes on${end}.`,
  ]
}

/** "Attempt 6 of about 40 got 204. Only 200 counts as delivered." */
function describeLast(delivery: ExplainedDelivery, context: ExplanationContext): string[] {
  const { attempts, runAttempts, lastAttempt } = delivery
  const about = roundly(attemptsInRun(context.retry))
  const number =
    runAttempts === null || runAttempts === attempts
      ? `Attempt ${attempts} of about ${about}`
      : `Attempt ${attempts}, number ${runAttempts} of about ${about} since the replay,`
  if (lastAttempt === null) return [`${number} failed.`]
  const sentences = describeOutcome(number, lastAttempt.outcome, lastAttempt.status, context)
  if (hasAskedForTime(delivery, context.retry)) {
    const { Endpoint } = wordsFor(context)
    sentences.push(`${Endpoint} asked for more time (Retry-After), and gets it.`)
  }
  return sentences
}

function describeOutcome(
  what: string,
  outcome: string,
  status: number | null,
  context: ExplanationContext,
): string[] {
  if (outcome === 'answered' && status !== null) return describeAnswer(what, status, context)
  const code = context.reader === 'client' ? toClientCode(outcome) : outcome
  const meaning = OUTCOMES[code]
  return [meaning === undefined ? `${what} failed (${code}).` : `${what} ${meaning}`]
}

function describeAnswer(what: string, status: number, context: ExplanationContext): string[] {
  if (status === 200) return [`${what} got 200.`]
  if (status >= 200 && status < 300) {
    return [`${what} got ${status}.`, 'Only 200 counts as delivered.']
  }
  if (status >= 300 && status < 400) {
    return [`${what} got ${status}, a redirect.`, 'Redirects are never followed.']
  }
  if (status === 410) {
    return [`${what} got 410.`, 'A 410 is retried too: delete the endpoint to stop its callbacks.']
  }
  if (status === 429)
    return [`${what} got 429: too many requests for ${wordsFor(context).endpoint}.`]
  return [`${what} got ${status}.`]
}

const OUTCOMES: Readonly<Record<string, string>> = {
  timeout: 'got no answer in time.',
  'connect-error': 'was refused: nothing took the connection.',
  'no-address': 'found no address that callbacks may be sent to.',
  'dns-error': 'found no address for the name of the host.',
  'tls-error': 'failed at TLS: the certificate is not valid, or there was no handshake.',
  'connection-reset': 'lost its connection before the answer.',
  'protocol-error': 'got something that is no HTTP answer.',
  'blocked-address':
    'was blocked: the name of the host leads to an address that callbacks must not reach.',
  'undecryptable-key': 'could not be signed: the stored key does not open.',
  'payload-missing': 'could not be made: the event is no longer stored.',
  'invalid-header': 'could not be sent: the extra header does not conform.',
}

/**
 * The header itself is not kept. But the endpoint asked for a wait that is longer than jitter can make it:
 * nothing else lengthens a delay.
 */
function hasAskedForTime(delivery: ExplainedDelivery, policy: RetryPolicy): boolean {
  const { lastAttempt, nextAttemptAtMs, runAttempts } = delivery
  if (lastAttempt === null || nextAttemptAtMs === null || runAttempts === null) return false
  if (lastAttempt.status !== 429 && lastAttempt.status !== 503) return false
  const longestMs = delayAfterMs(runAttempts, policy, () => 1)
  const waitMs = nextAttemptAtMs - (lastAttempt.atMs + lastAttempt.durationMs)
  // Half a second for what lies between the answer and the decision.
  return waitMs > longestMs + 500
}

function describeEnd(delivery: ExplainedDelivery, context: ExplanationContext): string {
  const { deadlineAtMs } = delivery
  if (deadlineAtMs === null) return '.'
  return `; retries end on ${toDayText(deadlineAtMs)} ${toClockText(deadlineAtMs, context.retry.runMs)} UTC.`
}

function explainFinal(delivery: ExplainedDelivery, context: ExplanationContext): string[] {
  switch (delivery.state) {
    case 'DELIVERED':
      return explainDelivered(delivery, context)
    case 'EXHAUSTED':
      return explainExhausted(delivery, context)
    case 'SUPERSEDED':
      return explainSuperseded(delivery, context)
    default:
      return explainCancelled(delivery)
  }
}

function explainDelivered(delivery: ExplainedDelivery, context: ExplanationContext): string[] {
  const { attempts, lastAttempt, finishedAtMs } = delivery
  const atMs = lastAttempt ? lastAttempt.atMs + lastAttempt.durationMs : finishedAtMs
  const when = atMs === null ? '' : `, on ${toDayText(atMs)} ${toClockText(atMs, 0)} UTC`
  const which = attempts <= 1 ? 'the first attempt' : `attempt ${attempts}`
  const { Endpoint } = wordsFor(context)
  return [`Delivered: ${Endpoint.toLowerCase()} answered 200 to ${which}${when}.`]
}

function explainExhausted(delivery: ExplainedDelivery, context: ExplanationContext): string[] {
  const { deadlineAtMs, attempts, lastAttempt } = delivery
  const endedAtMs = deadlineAtMs ?? delivery.finishedAtMs
  const end =
    endedAtMs === null
      ? ''
      : ` on ${toDayText(endedAtMs)} ${toClockText(endedAtMs, context.retry.runMs)} UTC`
  const span = toDurationText(context.retry.runMs)
  const last = `The last of ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`
  return [
    `Given up: its ${span} of retries ended${end} without a 200.`,
    ...(lastAttempt === null || attempts === 0
      ? []
      : describeOutcome(last, lastAttempt.outcome, lastAttempt.status, context)),
    `Replay it when ${wordsFor(context).endpoint} works again.`,
  ]
}

function explainSuperseded(delivery: ExplainedDelivery, context: ExplanationContext): string[] {
  const { endpoint } = wordsFor(context)
  const newer =
    delivery.supersededBy === null
      ? 'a newer update of the same payment'
      : `update ${delivery.supersededBy} of the same payment`
  return [
    `Superseded: ${endpoint} accepted ${newer} first.`,
    'Every callback is the whole payment, so nothing is missing.',
  ]
}

function explainCancelled(delivery: ExplainedDelivery): string[] {
  const { endpoint, attempts, finishedAtMs } = delivery
  const when =
    finishedAtMs === null
      ? ''
      : ` on ${toDayText(finishedAtMs)} ${toClockText(finishedAtMs, Infinity)} UTC`
  const why = endpoint.isDeleted ? 'because its endpoint was deleted' : 'by the operator'
  const tried =
    attempts === 0
      ? 'It was never attempted.'
      : `It had been attempted ${attempts === 1 ? 'once' : `${attempts} times`}, without a 200.`
  return [`Cancelled${when}, ${why}.`, tried]
}

function wordsFor({ reader }: ExplanationContext): { endpoint: string; Endpoint: string } {
  return reader === 'client'
    ? { endpoint: 'your endpoint', Endpoint: 'Your endpoint' }
    : { endpoint: 'the endpoint', Endpoint: 'The endpoint' }
}

/** An approximate number is given in tens. */
function roundly(count: number): number {
  return count < 15 ? count : Math.round(count / 10) * 10
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
