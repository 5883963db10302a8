// The longest time for which the event loop was held, in CPU time of this thread: on a busy machine the wall clock
// says nothing. Between two ticks a millisecond apart lies at most one long hold.

import { cpuLimitOf } from './busy-machine.ts'
import { collectGarbage } from './heap.ts'

/** What no request may hold the loop for (decision 0073). */
const HOLD_MS_MAX = 50

/** The first that is within the limit is the last: what really takes longer does so in all of them. */
const TRIES = 20

/**
 * Milliseconds; of some tries the least. A collection of garbage may fall into any of them, and what the tests before
 * have left in this process is more than a service ever has: it is collected before the next. What runs beside them
 * on the same core slows some of them.
 */
export async function longestHoldMs(work: () => Promise<unknown>): Promise<number> {
  let leastMs = Number.POSITIVE_INFINITY
  for (let n = 0; n < TRIES && leastMs > HOLD_MS_MAX; n++) {
    if (n > 0) collectGarbage()
    leastMs = Math.min(leastMs, await measure(work))
  }
  return leastMs
}

/** Looks how fast the machine is at this moment only where that matters. */
export function isTooLong(holdMs: number): boolean {
  return holdMs > HOLD_MS_MAX && holdMs > cpuLimitOf(HOLD_MS_MAX)
}

async function measure(work: () => Promise<unknown>): Promise<number> {
  let longestMs = 0
  let before = process.threadCpuUsage()
  const look = () => {
    const { user, system } = process.threadCpuUsage(before)
    longestMs = Math.max(longestMs, (user + system) / 1_000)
    before = process.threadCpuUsage()
  }
  const ticks = setInterval(look, 1)
  try {
    await work()
  } finally {
    clearInterval(ticks)
    look()
  }
  return longestMs
}
