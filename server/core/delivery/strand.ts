// A strand: one payment's updates at one endpoint (decisions, Callbacks: order). One is in flight at
// a time, in sequence, and a receiver never sees the payment go backwards. A failing update holds the
// later ones back for as long as patience lasts. Then the next goes ahead, and from that moment the
// older ones are not sent: they are superseded when it is accepted, and go on when it ends otherwise.
// An endpoint that asked for the latest gets the newest at once, and what that overtakes is superseded.

import type { DeliverMode } from './endpoint-settings.ts'

/** What the order must know of an update that is still owed. */
export interface OwedUpdate {
  sequence: number
  nextAttemptAtMs: number
  attempts: number
  /** When its run began: with its first attempt, or with the decision that it goes ahead of an older one. */
  firstAttemptAtMs: number | null
  firstFailedAtMs: number | null
  deadlineAtMs: number | null
}

export type NextStep<T> =
  | { kind: 'send'; update: T }
  /** Its 7 days are over while it waits for a newer one: it ends without an attempt. */
  | { kind: 'end'; update: T }
  | { kind: 'wait'; untilMs: number }

/** What a strand may do next with the updates owed, given in sequence, at least one. */
export function nextStep<T extends OwedUpdate>(
  owed: readonly T[],
  patienceMs: number,
  nowMs: number,
  deliver: DeliverMode = 'every',
): NextStep<T> {
  const front = sendableIndex(owed, patienceMs, nowMs, deliver)
  let untilMs = Number.POSITIVE_INFINITY
  for (let index = 0; index < front; index++) {
    const elder = owed[index] as T
    if (elder.deadlineAtMs === null) continue
    // Not before its next time either: that is moved on when the database did not let it end.
    const endsAtMs = Math.max(elder.deadlineAtMs, elder.nextAttemptAtMs)
    if (endsAtMs <= nowMs) return { kind: 'end', update: elder }
    untilMs = Math.min(untilMs, endsAtMs)
  }
  const update = owed[front] as T
  if (update.nextAttemptAtMs <= nowMs) return { kind: 'send', update }
  untilMs = Math.min(untilMs, update.nextAttemptAtMs)
  if (front < owed.length - 1) untilMs = Math.min(untilMs, overtakenFromMs(update, patienceMs))
  return { kind: 'wait', untilMs }
}

/**
 * What the replays of one payment at one endpoint may do next, given in sequence, at least one: the oldest that is due
 * goes. So they arrive in sequence where they are accepted, and one that fails holds none of the others back.
 */
export function nextReplay<T extends OwedUpdate>(owed: readonly T[], nowMs: number): NextStep<T> {
  let untilMs = Number.POSITIVE_INFINITY
  for (const update of owed) {
    if (update.nextAttemptAtMs <= nowMs) return { kind: 'send', update }
    untilMs = Math.min(untilMs, update.nextAttemptAtMs)
  }
  return { kind: 'wait', untilMs }
}

/** What keeps an update that is owed from being sent: another one that goes first, and until when at least. */
export interface Hold<T> {
  by: T
  untilMs: number
}

/** Of the update with this sequence, among those owed, given in sequence. Null: nothing, it is the one that goes. */
export function holdOf<T extends OwedUpdate>(
  sequence: number,
  owed: readonly T[],
  patienceMs: number,
  nowMs: number,
  deliver: DeliverMode,
): Hold<T> | null {
  if (owed.length === 0) return null
  const by = owed[sendableIndex(owed, patienceMs, nowMs, deliver)] as T
  if (by.sequence === sequence) return null
  const step = nextStep(owed, patienceMs, nowMs, deliver)
  return { by, untilMs: step.kind === 'wait' ? step.untilMs : nowMs }
}

/**
 * True when this update, about to be sent, is the first to go ahead of an older one that is owed. An update that nothing
 * older waits before needs no record: whichever process comes next sends it first, too. So does the newest under `latest`.
 */
export function goesAhead(
  owed: readonly OwedUpdate[],
  update: OwedUpdate,
  deliver: DeliverMode,
): boolean {
  if (owed.length < 2 || deliver === 'latest' || hasBegun(update)) return false
  return owed.some((other) => other.sequence < update.sequence)
}

/**
 * True when the end of an attempt ends the older updates that are owed. A 200 always does. Under `latest` any end
 * does: the newer one may have arrived although its answer did not, and when it is given up no older one may follow.
 */
export function supersedesElders(isDelivered: boolean, deliver: DeliverMode): boolean {
  return isDelivered || deliver === 'latest'
}

/**
 * The only one of the updates owed, given in sequence, at least one, that may be sent.
 *
 * Under `latest` it is the newest. Else it is the newest whose run has begun, or the one after it, once that may be
 * overtaken because patience is over. The later one's run begins on disk before it is sent (`goesAhead`): a process that dies takes the knowledge of what it
 * had under way with it, and the one that takes over may find the older one entitled again, because the clock was wrong
 * and is right, a pause was added to the patience, or the patience was made longer.
 */
function sendableIndex(
  owed: readonly OwedUpdate[],
  patienceMs: number,
  nowMs: number,
  deliver: DeliverMode,
): number {
  let front = owed.length - 1
  // What an elder was attempted at does not matter: a process that takes over finds the same newest, or a newer one.
  if (deliver === 'latest') return front
  while (front > 0 && !hasBegun(owed[front] as OwedUpdate)) front--
  const hasNext = front < owed.length - 1
  const mayBeOvertaken = overtakenFromMs(owed[front] as OwedUpdate, patienceMs) <= nowMs
  return hasNext && mayBeOvertaken ? front + 1 : front
}

function hasBegun({ attempts, firstAttemptAtMs }: OwedUpdate): boolean {
  return attempts > 0 || firstAttemptAtMs !== null
}

function overtakenFromMs({ firstFailedAtMs }: OwedUpdate, patienceMs: number): number {
  return firstFailedAtMs === null ? Number.POSITIVE_INFINITY : firstFailedAtMs + patienceMs
}
