// A delivery's attempts as runs on the backoff curve. A run begins with the first attempt, or with a
// replay, and lasts 7 days; within it each wait doubles up to 6 hours. Pure, so that a test can hold it.

import { DAY_MS, delayAfterMs, type RetryPolicy } from '../../../../server/core/delivery/backoff.ts'
import type { DeliveryAttempt } from '../../api/types.ts'

export type RunAttempt = Omit<DeliveryAttempt, 'excerpt'>

export interface Run<A extends RunAttempt = RunAttempt> {
  attempts: readonly A[]
  startMs: number
  deadlineMs: number
}

/**
 * The API has attempts, not runs. A run ends with a 200, or with its time; and the run that is under way
 * began exactly that time before its deadline, unless its endpoint was paused in between.
 */
export function toRuns<A extends RunAttempt>(
  attempts: readonly A[],
  deadlineAt: string | null,
  policy: RetryPolicy,
): Run<A>[] {
  const deadlineMs = deadlineAt === null ? null : Date.parse(deadlineAt)
  const currentStartMs = deadlineMs === null ? null : deadlineMs - policy.runMs
  const groups: A[][] = []
  for (const attempt of attempts) {
    const atMs = Date.parse(attempt.at)
    const group = groups.at(-1)
    const first = group?.[0]
    const before = group?.at(-1)
    const isNew =
      group === undefined ||
      first === undefined ||
      before?.status === 200 ||
      atMs > Date.parse(first.at) + 2 * policy.runMs ||
      // What is stored of an instant is whole milliseconds.
      (currentStartMs !== null && Math.abs(atMs - currentStartMs) < 2)
    if (isNew) groups.push([attempt])
    else group.push(attempt)
  }
  return groups.map((group, index) => {
    const startMs = Date.parse((group[0] as A).at)
    const isLast = index === groups.length - 1
    const ownDeadlineMs = startMs + policy.runMs
    return {
      attempts: group,
      startMs,
      deadlineMs:
        isLast && deadlineMs !== null && deadlineMs > startMs ? deadlineMs : ownDeadlineMs,
    }
  })
}

/**
 * How many times faster the delivery clock ran when the run began. A sandbox may have been started with another
 * scale since, and a run keeps the deadline it has; one that is a little later was moved by a pause.
 */
export function paceOf(run: Pick<Run, 'startMs' | 'deadlineMs'>, timeScale: number): number {
  const pace = (7 * DAY_MS) / (run.deadlineMs - run.startMs)
  const isAsNow = pace > timeScale / 2 && pace < timeScale * 1.01
  return isAsNow ? timeScale : Math.max(1, Math.round(pace))
}

export interface PlannedAttempt {
  /** From 1. */
  number: number
  /** After the first attempt of the run, in ms. */
  atMs: number
  /** Until the next one. */
  waitMs: number
}

/** The whole run if nothing but failures comes back, without jitter: about 40 attempts. */
export function planRun(policy: RetryPolicy, runMs = policy.runMs): PlannedAttempt[] {
  const lastStartMs = runMs - policy.lastStartMarginMs
  const planned: PlannedAttempt[] = []
  for (let number = 1, atMs = 0; planned.length < 1_000; number++) {
    const waitMs = delayAfterMs(number, policy, () => 0.5)
    planned.push({ number, atMs, waitMs })
    if (atMs >= lastStartMs) break
    // The last one is pulled forward to just inside the run.
    atMs = Math.min(atMs + waitMs, lastStartMs)
  }
  return planned
}

/** From an instant within the run to 0…1, so that 5 s and 6 days both have room. */
export function timeScale(baseMs: number, runMs: number): (ms: number) => number {
  const whole = Math.log1p(runMs / baseMs)
  return (ms) => Math.min(1, Math.log1p(Math.max(0, ms) / baseMs) / whole)
}

/** From a wait to 0…1: the shortest at the bottom, the cap at the top. */
export function waitScale(policy: RetryPolicy): (ms: number) => number {
  const whole = Math.log(policy.capMs / policy.baseMs)
  const shortest = policy.baseMs * (1 - policy.jitter)
  return (ms) => {
    const at = Math.log(Math.max(ms, shortest) / policy.baseMs) / whole
    return Math.min(1.05, Math.max(-0.05, at))
  }
}

const NICE_MS = [
  1, 10, 100, 1_000, 5_000, 10_000, 30_000, 60_000, 300_000, 600_000, 1_800_000, 3_600_000,
  21_600_000, 86_400_000, 259_200_000, 604_800_000,
]

/** Round spans for an axis, each at least `apart` (0…1) from the one before and from the end. */
export function axisTicks(scale: (ms: number) => number, runMs: number, apart: number) {
  const ticks: number[] = []
  let lastAt = 0
  for (const ms of NICE_MS) {
    const at = scale(ms)
    if (ms >= runMs || at - lastAt < apart || 1 - at < apart) continue
    ticks.push(ms)
    lastAt = at
  }
  return ticks
}
