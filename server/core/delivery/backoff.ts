// When to try again: min(5 s × 2^(n-1), 6 h) ± 20 % (decisions, Callbacks). The cap matters: doubling
// without it would make no attempt after day 3.8 of the 7. Pure: the dice are handed in.

export interface RetryPolicy {
  baseMs: number
  capMs: number
  /** 0.2 means ± 20 %. */
  jitter: number
  /** How long a run lasts, counted from its first attempt. */
  runMs: number
  /** The last attempt starts this long before the run ends, so that it lies inside it. */
  lastStartMarginMs: number
  /** How many times faster than the wall clock the delivery clock runs; 1 outside the sandbox. */
  timeScale: number
}

const SECOND = 1_000
const HOUR = 3_600 * SECOND
export const DAY_MS = 24 * HOUR

/** The interface's own schedule. The sandbox divides every duration by its time scale. */
export function retryPolicy(timeScale = 1): RetryPolicy {
  return {
    baseMs: (5 * SECOND) / timeScale,
    capMs: (6 * HOUR) / timeScale,
    jitter: 0.2,
    runMs: (7 * DAY_MS) / timeScale,
    lastStartMarginMs: (60 * SECOND) / timeScale,
    timeScale,
  }
}

/** The delay after attempt `n` of a run, counted from 1. */
export function delayAfterMs(attempt: number, policy: RetryPolicy, random: () => number): number {
  // 2^60 is far past every cap: bounding the exponent keeps attempt 10,000 finite.
  const doubled = policy.baseMs * 2 ** Math.min(Math.max(attempt, 1) - 1, 60)
  const factor = 1 + policy.jitter * (2 * random() - 1)
  return Math.min(doubled, policy.capMs) * factor
}

/**
 * When a delivery is due at the latest, by the number of attempts of its run, from 0 on; the last one holds for more.
 * One that was never tried is due at once, and a receiver may have asked for twice the delay.
 */
export function latestDueMs(policy: RetryPolicy, nowMs: number): readonly number[] {
  const latest = [nowMs]
  for (let attempt = 1, doubledMs = 0; doubledMs < policy.capMs; attempt++) {
    doubledMs = policy.baseMs * 2 ** (attempt - 1)
    latest.push(nowMs + 2 * delayAfterMs(attempt, policy, () => 1))
  }
  return latest
}

/**
 * `Retry-After` (RFC 9110 §10.2.3: seconds or a date) counts between the delay and twice the delay:
 * a receiver may ask for more time, but cannot talk itself out of its callbacks.
 */
export function retryAfterMs(
  header: string | undefined,
  delayMs: number,
  policy: RetryPolicy,
  nowMs: number,
): number {
  if (header === undefined) return delayMs
  const text = header.trim()
  const wantedMs = /^\d{1,15}$/.test(text)
    ? Number(text) * SECOND
    : /^[A-Z][a-z]{2}, /.test(text)
      ? Date.parse(text) - nowMs
      : Number.NaN
  if (!Number.isFinite(wantedMs)) return delayMs
  return Math.min(Math.max(wantedMs / policy.timeScale, delayMs), 2 * delayMs)
}
