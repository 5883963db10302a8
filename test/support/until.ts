// Waiting for a fact, with a limit: for tests, and for programs that are none.

import { setTimeout as delay } from 'node:timers/promises'
import { limitOf, PATIENCE_MS } from './busy-machine.ts'

/** Between two looks. A look may be a query over all partitions, or a process: a long wait needs fewer. */
const PAUSE_MS_MIN = 10
const PAUSE_MS_MAX = 100
const PAUSE_SHARE = 0.1

/** No number: it might be a count, of which 0 says that nothing is there. */
type Fact = object | string | true

/** Looks again and again until the condition holds; fails with `what` when the time is over. */
export async function until<T extends Fact>(
  what: string,
  condition: () => Promise<T | undefined | null | false> | T | undefined | null | false,
  limitMs = PATIENCE_MS,
): Promise<T> {
  const startedAt = performance.now()
  for (;;) {
    const fact = await condition()
    // Types do not see what came as JSON or as a row.
    if ((fact as unknown) === 0) throw new Error(`0 may be a fact or none, compare it: ${what}`)
    if (fact !== undefined && fact !== null && fact !== false) return fact
    const tookMs = performance.now() - startedAt
    if (tookMs > limitOf(limitMs)) throw new Error(`not within ${Math.round(tookMs)} ms: ${what}`)
    await delay(Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN + tookMs * PAUSE_SHARE))
  }
}
