// Waiting for a fact, with a limit: for tests, and for programs that are none.

import { setTimeout as delay } from 'node:timers/promises'
import { limitOf } from './busy-machine.ts'

/** Looks again and again until the condition holds; fails with `what` when the time is over. */
export async function until<T>(
  what: string,
  condition: () => Promise<T | undefined | null | false> | T | undefined | null | false,
  limitMs = 20_000,
): Promise<T> {
  for (const startedAt = performance.now(); ; await delay(15)) {
    const fact = await condition()
    if (fact !== undefined && fact !== null && fact !== false) return fact
    const tookMs = performance.now() - startedAt
    if (tookMs > limitOf(limitMs)) throw new Error(`not within ${Math.round(tookMs)} ms: ${what}`)
  }
}
