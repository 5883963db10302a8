// Counts what attempts show of each endpoint, and hands the counts on at most once a second: health is
// never written per delivery.

import { isSuccess, type Outcome, outcomeCode } from '../core/delivery.ts'
import { DURATION_BUCKETS, durationBucket } from '../core/health.ts'
import type { HealthDelta } from '../store/health.ts'

type Counting = { -readonly [K in keyof HealthDelta]: HealthDelta[K] } & { durations: number[] }

export class HealthCounter {
  #counting = new Map<string, Counting>()

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

  /** Everything counted since the last call. */
  take(circuitOf: (endpointId: string) => HealthDelta['circuit']): readonly HealthDelta[] {
    const deltas = [...this.#counting.values()]
    this.#counting = new Map()
    for (const delta of deltas) delta.circuit = circuitOf(delta.endpointId)
    return deltas
  }

  /** What could not be written counts on, as older than what has been counted since. */
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
