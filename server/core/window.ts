// How many attempts may be in flight at one endpoint, found out as TCP finds what a path carries. It
// starts small, doubles with each round of successes, and halves when the endpoint fails. An endpoint
// that comes back therefore gets more step by step, never all at once.

export interface Window {
  readonly size: number
  /** Below it the window doubles, above it it grows by one a round. */
  readonly threshold: number
  /** It halves at most once in a while: many attempts fail together. */
  readonly halvedAtMs: number
}

export const WINDOW_START: Window = {
  size: 2,
  threshold: Number.POSITIVE_INFINITY,
  halvedAtMs: Number.NEGATIVE_INFINITY,
}

const HALVED_EVERY_MS = 1_000

export function widen(window: Window, sizeMax: number): Window {
  if (window.size >= sizeMax) return window
  const step = window.size < window.threshold ? 1 : 1 / window.size
  return { ...window, size: Math.min(sizeMax, window.size + step) }
}

export function narrow(window: Window, nowMs: number): Window {
  if (nowMs - window.halvedAtMs < HALVED_EVERY_MS) return window
  const size = Math.max(1, window.size / 2)
  return { size, threshold: Math.max(2, size), halvedAtMs: nowMs }
}

/** After a circuit has closed again: one, two, four … up to where it was safe before. */
export function rampUp(window: Window): Window {
  return { ...window, size: 1 }
}
