// Why a delivery is where it is, what comes next and when: one to four sentences in plain words. Pure:
// the time is handed in, and every number comes from the delivery or from the policies it lives by.
// biome-ignore-all lint/style/noExcessiveLinesPerFile: it is one list: what is said of each state, and of each thing that holds a delivery up.

import { toDurationText } from '../plain/time-text.ts'
import { delayAfterMs, type RetryPolicy } from './backoff.ts'
import type { CircuitPolicy, CircuitState } from './circuit.ts'
import type { DeliveryState } from './delivery.ts'
import type { EndpointStatus } from './endpoint.ts'
import { describeOutcome } from './explanation-outcome.ts'
import { type ExplanationPart, part, toPartText } from './explanation-part.ts'

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
    /** When it is probed next, now at the earliest; null while its circuit is closed. */
    nextProbeAtMs: number | null
    /** Its callbacks are fetched: it is paused while none is asked for. */
    isListener?: boolean
    /** Of the updates of a payment that are owed it gets only the newest. */
    isLatestOnly?: boolean
  }
  /** The older update of the same payment that this one waits for. */
  elder: { sequence: number; firstFailedAtMs: number | null } | null
  /** The newer update that has gone ahead of this one, or is about to: this one is not sent while it is tried. */
  newer: { sequence: number; attempts: number } | null
  /** The update that was accepted, or at least sent, in its place. */
  supersededBy: { sequence: number; wasAccepted: boolean } | null
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

export interface Explanation {
  /** In UTC, for the API and the command line. */
  text: string
  /** The same sentences with their instants apart, for a reader in another zone. */
  parts: readonly ExplanationPart[]
}

export function explain(delivery: ExplainedDelivery, context: ExplanationContext): Explanation {
  const parts =
    delivery.state === 'PENDING'
      ? explainPending(delivery, context)
      : explainFinal(delivery, context)
  return { text: parts.map((each) => toPartText(each, context.nowMs)).join(' '), parts }
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

function explainPending(
  delivery: ExplainedDelivery,
  context: ExplanationContext,
): ExplanationPart[] {
  const hasTried = (delivery.runAttempts ?? 0) > 0
  const past = hasTried ? describeLast(delivery, context) : []
  if (delivery.isReplay && !hasTried) past.push(part('replay-requested', 'A replay was requested.'))
  return [...past, ...describeHold(delivery, context, hasTried)]
}

/** What the delivery waits for, or when it goes. */
function describeHold(
  delivery: ExplainedDelivery,
  context: ExplanationContext,
  hasTried: boolean,
): ExplanationPart[] {
  const { endpoint, elder, newer, nextAttemptAtMs } = delivery
  const words = wordsFor(context)
  if (endpoint.isDeleted) {
    const text = 'The endpoint was deleted; this delivery is being cancelled.'
    return [part('endpoint-deleted', text)]
  }
  if (endpoint.status !== 'ACTIVE') return describeInactive(delivery, context)
  // A person asked for a replay: it keeps no order among other updates.
  if (elder !== null && !delivery.isReplay) return describeElder(elder, context)
  if (newer !== null && !delivery.isReplay) {
    return endpoint.isLatestOnly
      ? describeLatest(newer.sequence, context)
      : describeNewer(newer, delivery)
  }
  // An open circuit holds up what is due as well: "due now" would be shown for minutes.
  const { nextProbeAtMs } = endpoint
  if (nextProbeAtMs !== null && (nextAttemptAtMs ?? 0) <= nextProbeAtMs) {
    return [describeDown(nextProbeAtMs, delivery, context)]
  }
  if (nextAttemptAtMs === null) {
    return [part('queued', `Queued: ${words.endpoint} has a long queue, which is sent in order.`)]
  }
  const which = hasTried ? 'next attempt' : 'first attempt'
  if (nextAttemptAtMs <= context.nowMs) return [part('due-now', `The ${which} is due now.`)]
  const first = `${capitalised(which)} in {in nextAttemptAt} ({nextAttemptAt})`
  const nextAttemptAt = nextAttemptAtMs
  if (!hasTried) return [part('next-attempt', `${first}.`, { nextAttemptAt })]
  return [
    part('next-attempt', `${first}${retriesEnd(delivery)}`, {
      nextAttemptAt,
      ...deadlineOf(delivery),
    }),
  ]
}

/** One attempt at a time probes an endpoint that is down; what it is owed follows the first that gets a 200. */
function describeDown(
  nextProbeAt: number,
  delivery: ExplainedDelivery,
  context: ExplanationContext,
): ExplanationPart {
  const { Endpoint } = wordsFor(context)
  const pause = toDurationText(context.circuit.pauseMsMax)
  const isNow = nextProbeAt <= context.nowMs
  const next = isNow ? 'now' : 'in {in nextProbeAt} ({nextProbeAt})'
  const text =
    `${Endpoint} is down. Paybell probes it next ${next}, then at least every ${pause}, and sends this ` +
    `as soon as a probe succeeds${retriesEnd(delivery)}`
  return part('endpoint-down', text, {
    nextProbeAt: isNow ? null : nextProbeAt,
    ...deadlineOf(delivery),
  })
}

function describeInactive(
  delivery: ExplainedDelivery,
  context: ExplanationContext,
): ExplanationPart[] {
  const { status, inactiveSinceMs, isListener } = delivery.endpoint
  const { Endpoint } = wordsFor(context)
  const run = toDurationText(context.retry.runMs)
  const since = inactiveSinceMs === null ? '' : ' since {inactiveSince}'
  const at = inactiveSinceMs === null ? '' : ' ({inactiveSince})'
  const instants = { inactiveSince: inactiveSinceMs }
  const kept = (when: string) =>
    part(
      'nothing-is-lost',
      `Nothing is lost: this delivery is sent, in order, ${when}, and the wait does not count towards its ${run}.`,
    )
  if (isListener && status === 'PAUSED') {
    return [
      part('nobody-listens', `No listener has been connected${since}.`, instants),
      kept('when paybell listen runs again'),
    ]
  }
  const reason =
    status === 'PAUSED'
      ? part('endpoint-paused', `${Endpoint} has been paused${since}.`, instants)
      : part(
          'endpoint-disabled',
          `${Endpoint} was disabled automatically${at}, after ${run} of nothing but failures.`,
          instants,
        )
  return [reason, kept('once the endpoint is resumed (status ACTIVE)')]
}

function describeElder(
  elder: { sequence: number; firstFailedAtMs: number | null },
  context: ExplanationContext,
): ExplanationPart[] {
  const first = `Waiting for update ${elder.sequence} of the same payment`
  if (elder.firstFailedAtMs === null) {
    return [part('waits-for-older-update', `${first}, which is sent first.`)]
  }
  const failing = part(
    'waits-for-older-update',
    `${first}, which has failed since {failingSince}.`,
    {
      failingSince: elder.firstFailedAtMs,
    },
  )
  const givesWayAt = elder.firstFailedAtMs + context.patienceMs
  if (!Number.isFinite(givesWayAt)) return [failing]
  if (givesWayAt <= context.nowMs) {
    return [
      failing,
      part('older-update-gives-way', 'This one no longer has to wait, and is sent next.'),
    ]
  }
  const text = 'This one is sent in {in givesWayAt} at the latest ({givesWayAt}).'
  return [failing, part('older-update-gives-way', text, { givesWayAt })]
}

function describeNewer(
  newer: { sequence: number; attempts: number },
  delivery: ExplainedDelivery,
): ExplanationPart[] {
  const has = newer.attempts > 0 ? 'has gone ahead' : 'goes ahead now'
  const end = delivery.deadlineAtMs === null ? '' : ' until {deadlineAt}'
  return [
    part(
      'newer-update-went-ahead',
      `Update ${newer.sequence} of the same payment ${has}, so this older one is on hold.`,
    ),
    part(
      'on-hold',
      `If update ${newer.sequence} is accepted, this one is superseded; otherwise it is retried${end}.`,
      deadlineOf(delivery),
    ),
  ]
}

function describeLatest(newest: number, context: ExplanationContext): ExplanationPart[] {
  return [
    part(
      'newer-update-went-ahead',
      `Update ${newest} of the same payment is sent in its place, because ${latestOnly(context)}.`,
    ),
    part('on-hold', `This one ends as superseded with the first attempt of update ${newest}.`),
  ]
}

function latestOnly(context: ExplanationContext): string {
  return `${wordsFor(context).endpoint} gets only the latest update of a payment (deliver: latest)`
}

/** "Attempt 6 of about 40 got 204. Only 200 counts as delivered." */
function describeLast(delivery: ExplainedDelivery, context: ExplanationContext): ExplanationPart[] {
  const { attempts, runAttempts, lastAttempt } = delivery
  const about = roundly(attemptsInRun(context.retry))
  const number =
    runAttempts === null || runAttempts === attempts
      ? `Attempt ${attempts} of about ${about}`
      : `Attempt ${attempts} (number ${runAttempts} of about ${about} since the replay)`
  if (lastAttempt === null) return [part('last-attempt', `${number} failed.`)]
  const sentences = describeOutcome(number, lastAttempt, context.reader)
  if (hasAskedForTime(delivery, context.retry)) {
    const text = `${wordsFor(context).Endpoint} asked for a longer wait (Retry-After).`
    sentences.push(part('retry-after', text))
  }
  return sentences
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

function retriesEnd({ deadlineAtMs }: ExplainedDelivery): string {
  return deadlineAtMs === null ? '.' : '; retries end {deadlineAt}.'
}

function deadlineOf({ deadlineAtMs }: ExplainedDelivery): { deadlineAt: number | null } {
  return { deadlineAt: deadlineAtMs }
}

function explainFinal(delivery: ExplainedDelivery, context: ExplanationContext): ExplanationPart[] {
  switch (delivery.state) {
    case 'DELIVERED':
      return [explainDelivered(delivery, context)]
    case 'EXHAUSTED':
      return explainExhausted(delivery, context)
    case 'SUPERSEDED':
      return explainSuperseded(delivery, context)
    default:
      return explainCancelled(delivery)
  }
}

function explainDelivered(
  delivery: ExplainedDelivery,
  context: ExplanationContext,
): ExplanationPart {
  const { attempts, lastAttempt, finishedAtMs } = delivery
  const deliveredAt = lastAttempt ? lastAttempt.atMs + lastAttempt.durationMs : finishedAtMs
  const which = attempts <= 1 ? 'the first attempt' : `attempt ${attempts}`
  const text = `Delivered: ${wordsFor(context).endpoint} answered 200 to ${which}`
  const when = deliveredAt === null ? '' : ' ({deliveredAt})'
  return part('delivered', `${text}${when}.`, { deliveredAt })
}

function explainExhausted(
  delivery: ExplainedDelivery,
  context: ExplanationContext,
): ExplanationPart[] {
  const { deadlineAtMs, attempts, lastAttempt } = delivery
  const endedAt = deadlineAtMs ?? delivery.finishedAtMs
  const end = endedAt === null ? '' : ' {endedAt}'
  const run = toDurationText(context.retry.runMs)
  const last = `The last of ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`
  return [
    part('gave-up', `Gave up: ${run} of retries ended${end} without a 200.`, { endedAt }),
    ...(lastAttempt === null || attempts === 0
      ? []
      : describeOutcome(last, lastAttempt, context.reader)),
    part('replay-it', `Replay it when ${wordsFor(context).endpoint} works again.`),
  ]
}

function explainSuperseded(
  { supersededBy, endpoint }: ExplainedDelivery,
  context: ExplanationContext,
): ExplanationPart[] {
  const newer = `${supersededBy === null ? 'a newer update' : `update ${supersededBy.sequence}`} of the same payment`
  const isSent = supersededBy?.wasAccepted === false
  const text = isSent
    ? `Superseded: ${newer} was sent in its place, because ${latestOnly(context)}.`
    : `Superseded: ${wordsFor(context).endpoint} accepted ${newer} first.`
  const why = `${capitalised(latestOnly(context))}.`
  return [
    part('superseded', text),
    ...(endpoint.isLatestOnly && !isSent ? [part('only-the-latest', why)] : []),
    part('nothing-is-missing', 'Every callback carries the whole payment, so nothing is missing.'),
  ]
}

function explainCancelled({
  endpoint,
  attempts,
  finishedAtMs,
}: ExplainedDelivery): ExplanationPart[] {
  const when = finishedAtMs === null ? '' : ' ({cancelledAt})'
  const why = endpoint.isDeleted ? 'because its endpoint was deleted' : 'by the operator'
  const times = attempts === 1 ? 'once' : `${attempts} times`
  return [
    part('cancelled', `Cancelled ${why}${when}.`, { cancelledAt: finishedAtMs }),
    part(
      'attempts-before',
      attempts === 0 ? 'It was never attempted.' : `It was attempted ${times}, without a 200.`,
    ),
  ]
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
