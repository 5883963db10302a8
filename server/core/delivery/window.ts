// How many attempts may be in flight at one endpoint, found out as TCP finds what a path carries. It
// starts small, doubles with each full window of successes, and halves when the endpoint fails. An endpoint
// that comes back therefore gets more step by step, never all at once. When answers slow down it stops growing:
// the queue is then at the endpoint, or in this process, and more at once only makes it longer.

import type { Slowdown } from './answer-times.ts'

export interface Window {
  readonly size: number
  /** Below it the window doubles, above it it grows by one with each full window. */
  readonly threshold: number
  /** It halves at most once in a while: many attempts fail together. */
  readonly halvedAtMs: number
  /** Answers have slowed down: it does not grow. */
  readonly isHeld: boolean
}

export const WINDOW_START: Window = {
  size: 2,
  threshold: Number.POSITIVE_INFINITY,
  halvedAtMs: Number.NEGATIVE_INFINITY,
  isHeld: false,
}

const HALVED_EVERY_MS = 1_000
const BACKLOG_STEP = 1 / 4
/** What a lane that eases off keeps: it goes on, and finds out when there is room again. */
const EASED_SIZE_MIN = 4
const EASED_SHARE = 3 / 4

/** `hasBacklog`: it grows by a quarter with each, so that it can stop before it has pressed the others. */
export function widen(window: Window, sizeMax: number, hasBacklog = false): Window {
  if (window.isHeld || window.size >= sizeMax) return window
  const quick = hasBacklog ? BACKLOG_STEP : 1
  const step = window.size < window.threshold ? quick : 1 / window.size
  return { ...window, size: Math.min(sizeMax, window.size + step) }
}

export function narrow(window: Window, nowMs: number): Window {
  if (nowMs - window.halvedAtMs < HALVED_EVERY_MS) return window
  const size = Math.max(1, window.size / 2)
  return { ...window, size, threshold: Math.max(2, size), halvedAtMs: nowMs }
}

/**
 * After a full window of successes. Only a lane that works off a backlog eases off: what has waited for long can wait a
 * little more, and the others must not wait with it.
 */
export function afterSlowdown(window: Window, slowdown: Slowdown, hasBacklog: boolean): Window {
  if (slowdown === 'none') return window.isHeld ? { ...window, isHeld: false } : window
  const eases = slowdown === 'pressed' && hasBacklog && window.size > EASED_SIZE_MIN
  const size = eases ? Math.max(EASED_SIZE_MIN, window.size * EASED_SHARE) : window.size
  // From here on it grows by one with each full window: doubling would bring it back to where it was too much.
  const threshold = Math.max(2, Math.min(window.threshold, size))
  return { ...window, size, threshold, isHeld: true }
}

/** After a circuit has closed again: one, two, four … up to where it was safe before. */
export function rampUp(window: Window): Window {
  return { ...window, size: 1, isHeld: false }
}
