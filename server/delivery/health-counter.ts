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
