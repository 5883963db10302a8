// Counts what attempts show of each endpoint between two writes. Most of it only counts on, and waits by shard
// for its time; where it may be news it is looked at with the next poll (core/delivery/health says what is news).

import type { Circuit } from '../../core/delivery/circuit.ts'
import { isSuccess, type Outcome, outcomeCode } from '../../core/delivery/delivery.ts'
import {
  DURATION_BUCKETS,
  durationBucket,
  isNews,
  type SeenHealth,
  SHOWN_WELL,
  type ShownHealth,
} from '../../core/delivery/health.ts'
import { BoundedMap } from '../../core/plain/bounded-map.ts'
import type { HealthDelta } from '../../store/endpoints/endpoint-health.ts'
import type { LaneKey } from '../../store/owed/parked.ts'

interface Counting extends LaneKey {
  attempts: number
  delivered: number
  /** Up to the highest bucket that has counted: of thousands of endpoints most need a few. */
  durations: readonly number[]
  /** Not those that others share. */
  hasOwnDurations: boolean
  lastSuccessAtMs: number | null
  lastFailureAtMs: number | null
  lastError: string | null
  failingSinceMs: number | null
}

/** What was counted of one endpoint, to be written. */
export type Counted = HealthDelta & LaneKey

/** When its circuit may be probed, too: what it is owed waits for that. */
type CircuitOf = (endpointId: string) => Pick<Circuit, 'state' | 'probeAtMs'>
type SeenCircuit = Pick<HealthDelta, 'circuit' | 'nextProbeAtMs'>

/** Endpoints of which it is known what is shown; any beyond are merely asked for again. */
const SHOWN_MAX = 200_000

export class HealthCounter {
  readonly #byShard = new Map<number, Map<string, Counting>>()
  /** Those that may be news. */
  readonly #doubtful = new Set<Counting>()
  #shown = new BoundedMap<string, ShownHealth>(SHOWN_MAX)
  #size = 0

  /** Endpoints that wait to be written. */
  get size(): number {
    return this.#size
  }

  count(of: LaneKey, outcome: Outcome, durationMs: number, atMs: number): void {
    const counting = this.#of(of)
    counting.attempts++
    addTo(counting, durationBucket(durationMs), 1)
    if (isSuccess(outcome)) {
      counting.delivered++
      counting.lastSuccessAtMs = atMs
      counting.failingSinceMs = null
      if (this.#shown.get(of.endpointId) !== SHOWN_WELL) this.#doubtful.add(counting)
    } else {
      counting.lastFailureAtMs = atMs
      counting.failingSinceMs ??= atMs
      counting.lastError =
        outcome.kind === 'answered' ? `answered ${outcome.status}` : outcomeCode(outcome)
      this.#doubtful.add(counting)
    }
  }

  /** Endpoints that do not fail, and of which it has to be asked whether they are shown as failing. */
  unknown(endpointsMax: number): readonly LaneKey[] {
    const unknown: LaneKey[] = []
    for (const counting of this.#doubtful) {
      if (unknown.length >= endpointsMax) break
      if (counting.failingSinceMs === null && !this.#shown.has(counting.endpointId))
        unknown.push(counting)
    }
    return unknown
  }

  /** The answer for endpoints that were unknown: those that are not in it are well. */
  learn(keys: readonly LaneKey[], found: ReadonlyMap<string, ShownHealth>): void {
    for (const { endpointId } of keys)
      this.#shown.set(endpointId, found.get(endpointId) ?? SHOWN_WELL)
  }

  /** What is shown may have been changed by another process. */
  forgetShown(): void {
    this.#shown = new BoundedMap(SHOWN_MAX)
  }

  /** Takes what is news, of up to `endpointsMax` endpoints. What is still unknown waits for its answer. */
  takeNews(endpointsMax: number, circuitOf: CircuitOf): Counted[] {
    const taken: Counted[] = []
    for (const counting of this.#doubtful) {
      if (taken.length >= endpointsMax) break
      const { endpointId, failingSinceMs } = counting
      const shown = this.#shown.get(endpointId)
      if (shown === undefined && failingSinceMs === null) continue
      const circuit = toSeenCircuit(circuitOf(endpointId))
      if (shown === undefined || isNews(shown, toSeen(counting, circuit))) {
        taken.push(this.#take(counting, circuit))
      } else this.#doubtful.delete(counting)
    }
    return taken
  }

  /** Takes what was counted of a shard's endpoints, of up to `endpointsMax`. */
  takeShard(shard: number, endpointsMax: number, circuitOf: CircuitOf): Counted[] {
    const taken: Counted[] = []
    for (const counting of this.#byShard.get(shard)?.values() ?? []) {
      if (taken.length >= endpointsMax) break
      taken.push(this.#take(counting, toSeenCircuit(circuitOf(counting.endpointId))))
    }
    return taken
  }

  /** They are on disk: this is shown from now on. */
  written(deltas: readonly HealthDelta[]): void {
    for (const delta of deltas) {
      const isWell = delta.failingSinceMs === null && delta.circuit === 'CLOSED'
      // Most were shown as well before: nothing is set again for those.
      if (!isWell) {
        const { hasSucceeded: _, ...shown } = toSeen(delta, delta)
        this.#shown.set(delta.endpointId, shown)
      } else if (this.#shown.get(delta.endpointId) !== SHOWN_WELL) {
        this.#shown.set(delta.endpointId, SHOWN_WELL)
      }
    }
  }

  /** Puts counts back that could not be written, as older than what was counted since. */
  putBack(deltas: readonly Counted[]): void {
    for (const delta of deltas) {
      const counting = this.#of(delta)
      const hasSucceededSince = counting.lastSuccessAtMs !== null
      counting.attempts += delta.attempts
      counting.delivered += delta.delivered
      for (const [bucket, count] of delta.durations.entries())
        if (count > 0) addTo(counting, bucket, count)
      counting.lastSuccessAtMs ??= delta.lastSuccessAtMs
      counting.lastFailureAtMs ??= delta.lastFailureAtMs
      counting.lastError ??= delta.lastError
      if (!hasSucceededSince) {
        counting.failingSinceMs = delta.failingSinceMs ?? counting.failingSinceMs
      }
      this.#doubtful.add(counting)
    }
  }

  #of({ clientKey, endpointId, shard }: LaneKey): Counting {
    let ofShard = this.#byShard.get(shard)
    if (ofShard === undefined) {
      ofShard = new Map()
      this.#byShard.set(shard, ofShard)
    }
    let counting = ofShard.get(endpointId)
    if (counting === undefined) {
      counting = {
        clientKey,
        endpointId,
        shard,
        attempts: 0,
        delivered: 0,
        durations: NONE,
        hasOwnDurations: false,
        lastSuccessAtMs: null,
        lastFailureAtMs: null,
        lastError: null,
        failingSinceMs: null,
      }
      ofShard.set(endpointId, counting)
      this.#size++
    }
    return counting
  }

  #take(counting: Counting, circuit: SeenCircuit): Counted {
    this.#byShard.get(counting.shard)?.delete(counting.endpointId)
    this.#doubtful.delete(counting)
    this.#size--
    const durations = new Array<number>(DURATION_BUCKETS).fill(0)
    for (let bucket = 0; bucket < counting.durations.length; bucket++)
      durations[bucket] = counting.durations[bucket] as number
    // Named one by one: thousands are written at once, and a spread takes several times as long.
    return {
      clientKey: counting.clientKey,
      endpointId: counting.endpointId,
      shard: counting.shard,
      attempts: counting.attempts,
      delivered: counting.delivered,
      durations,
      lastSuccessAtMs: counting.lastSuccessAtMs,
      lastFailureAtMs: counting.lastFailureAtMs,
      lastError: counting.lastError,
      failingSinceMs: counting.failingSinceMs,
      circuit: circuit.circuit,
      nextProbeAtMs: circuit.nextProbeAtMs,
    }
  }
}

/** Of very many endpoints most are sent one update between two writes: those share what says so. */
const ONE_ATTEMPT: readonly (readonly number[])[] = Array.from(
  { length: DURATION_BUCKETS },
  (_, bucket) => [...new Array<number>(bucket).fill(0), 1],
)
const NONE: readonly number[] = []

function addTo(counting: Counting, bucket: number, count: number): void {
  if (counting.durations === NONE && count === 1) {
    counting.durations = ONE_ATTEMPT[bucket] as readonly number[]
    return
  }
  if (!counting.hasOwnDurations) {
    counting.durations = [...counting.durations]
    counting.hasOwnDurations = true
  }
  const durations = counting.durations as number[]
  while (durations.length <= bucket) durations.push(0)
  durations[bucket] = (durations[bucket] as number) + count
}

function toSeen(
  {
    failingSinceMs,
    lastSuccessAtMs,
    lastError,
  }: Pick<Counting, 'failingSinceMs' | 'lastSuccessAtMs' | 'lastError'>,
  { circuit, nextProbeAtMs }: SeenCircuit,
): SeenHealth {
  const isFailing = failingSinceMs !== null
  const error = isFailing ? lastError : null
  return { isFailing, error, circuit, nextProbeAtMs, hasSucceeded: lastSuccessAtMs !== null }
}

function toSeenCircuit({ state, probeAtMs }: Pick<Circuit, 'state' | 'probeAtMs'>): SeenCircuit {
  return { circuit: state, nextProbeAtMs: state === 'CLOSED' ? null : probeAtMs }
}
