// Figures that read many rows are read at most once a second, and less often the longer they take: reading takes at most
// a tenth of the time, however many requests ask.

import type { Clock } from '../../core/plain/clock.ts'

const KEPT_MS = 1_000
const KEPT_TIMES_TAKEN = 10

/** The expiry of what remembers them (core/plain/remembered). */
export function keptByTimeTaken(clock: Pick<Clock, 'monotonicMs'>) {
  return {
    monotonicMs: () => clock.monotonicMs(),
    ageMsMax: (tookMs: number) => tookMs + Math.max(KEPT_MS, KEPT_TIMES_TAKEN * tookMs),
  }
}
