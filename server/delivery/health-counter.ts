// Counts what attempts show of each endpoint, and hands the counts on at most once a second: health is
// never written per delivery, nor, where thousands of endpoints are busy, for all of them each time.

import { isSuccess, type Outcome, outcomeCode } from '../core/delivery.ts'
import { DURATION_BUCKETS, durationBucket } from '../core/health.ts'
import type { HealthDelta } from '../store/health.ts'

type Counting = { -readonly [K in keyof HealthDelta]: HealthDelta[K] } & { durations: number[] }

export class HealthCounter {
  /** Those that have waited longest come first. */
  readonly #counting = new Map<string, Counting>()

  count(
    of: { clientKey: number; endpointId: string },
    outcome: Outcome,
    durationMs: number,
    atMs: number,
  ): void {
    const counting = this.#of(of.clientKey, of.endpointId)
    counting.attempts++
    const bucket = durationBucket(durationMs)
    counting.durations[bucket] = (counting.durations[bucket] ?? 0) + 1
    if (isSuccess(outcome)) {
      counting.delivered++
      counting.lastSuccessAtMs = atMs
      counting.failingSinceMs = null
    } else {
      counting.lastFailureAtMs = atMs
      counting.failingSinceMs ??= atMs
      counting.lastError =
        outcome.kind === 'answered' ? `answered ${outcome.status}` : outcomeCode(outcome)
    }
  }

  /** Endpoints that wait to be written. */
  get size(): number {
    return this.#counting.size
  }

  /**
   * Takes what was counted of up to `endpointsMax` endpoints: first those with failures, because people wait
   * to see them, then those that have waited longest. The others go on counting.
   */
  take(
    endpointsMax: number,
    circuitOf: (endpointId: string) => HealthDelta['circuit'],
  ): readonly HealthDelta[] {
    const taken: Counting[] = []
    const take = (counting: Counting) => {
      this.#counting.delete(counting.endpointId)
      counting.circuit = circuitOf(counting.endpointId)
      taken.push(counting)
    }
    if (this.#counting.size > endpointsMax) {
      for (const counting of this.#counting.values()) {
        if (taken.length >= endpointsMax) break
        if (counting.lastFailureAtMs !== null) take(counting)
      }
    }
    for (const counting of this.#counting.values()) {
      if (taken.length >= endpointsMax) break
      take(counting)
    }
    return taken
  }

  /** Puts counts back that could not be written, as older than what was counted since. */
  putBack(deltas: readonly HealthDelta[]): void {
    for (const delta of deltas) {
      const counting = this.#of(delta.clientKey, delta.endpointId)
      const hasSucceededSince = counting.lastSuccessAtMs !== null
      counting.attempts += delta.attempts
      counting.delivered += delta.delivered
      counting.durations = counting.durations.map((count, i) => count + (delta.durations[i] ?? 0))
      counting.lastSuccessAtMs ??= delta.lastSuccessAtMs
      counting.lastFailureAtMs ??= delta.lastFailureAtMs
      counting.lastError ??= delta.lastError
      if (!hasSucceededSince) {
        counting.failingSinceMs = delta.failingSinceMs ?? counting.failingSinceMs
      }
    }
  }

  #of(clientKey: number, endpointId: string): Counting {
    let counting = this.#counting.get(endpointId)
    if (!counting) {
      counting = {
        clientKey,
        endpointId,
        attempts: 0,
        delivered: 0,
        durations: new Array(DURATION_BUCKETS).fill(0),
        lastSuccessAtMs: null,
        lastFailureAtMs: null,
        lastError: null,
        failingSinceMs: null,
        circuit: 'CLOSED',
      }
      this.#counting.set(endpointId, counting)
    }
    return counting
  }
}
