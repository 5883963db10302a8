// Writes what the HealthCounter has counted: news with the next poll, the rest once a minute. The minute goes
// round by shard, so each poll writes a share, and never everything at once. Where little waits the
// round is faster: with a hundred busy endpoints or fewer, each poll writes all of them.

import { SHARD_COUNT } from '../../core/delivery/lease.ts'
import { momentOf } from '../../core/plain/clock.ts'
import type { LaneDirectory } from '../lanes/lane-directory.ts'
import type { EngineEnvironment } from '../seams/environment.ts'
import type { Counted, HealthCounter } from './health-counter.ts'

/** Counts wait no longer than this: a crash loses them, and nothing else. */
const ROUND_MS = 60_000
/** A poll goes on to the next shards until it has so many endpoints. */
const ENDPOINTS_MIN = 100
/** A poll stops here, unless more than WAITING_MAX wait. */
const ENDPOINTS_MAX = 5_000
const WAITING_MAX = 100_000
/** Endpoints that one poll asks about. */
const ASKED_MAX = 10_000

export class HealthWriter {
  readonly #environment: EngineEnvironment
  readonly #counter: HealthCounter
  readonly #circuitOf: LaneDirectory['circuitOf']
  #nextShard = 0
  /** Shards that the minute asks for. */
  #shardsDue = 0
  #wroteAtMs: number

  constructor(environment: EngineEnvironment, counter: HealthCounter, lanes: LaneDirectory) {
    this.#environment = environment
    this.#counter = counter
    // A lane knows when it may probe by the process's own clock; what is shown is the time of the rows.
    this.#circuitOf = (endpointId) => {
      const circuit = lanes.circuitOf(endpointId)
      if (circuit.state === 'CLOSED') return circuit
      const { nowMs, monotonicMs } = momentOf(environment.clock)
      return { ...circuit, probeAtMs: Math.round(circuit.probeAtMs - monotonicMs + nowMs) }
    }
    this.#wroteAtMs = environment.clock.monotonicMs()
  }

  /** Writes what a poll has to; rejects when the database does. */
  async write(): Promise<void> {
    const counter = this.#counter
    // With few endpoints all of them are written: nothing has to be known for it.
    if (counter.size > ENDPOINTS_MIN) await this.#learn()
    const nowMs = this.#environment.clock.monotonicMs()
    const roundShare = (nowMs - this.#wroteAtMs) / ROUND_MS
    this.#shardsDue = Math.min(SHARD_COUNT, this.#shardsDue + roundShare * SHARD_COUNT)
    this.#wroteAtMs = nowMs
    const endpointsMax = Math.max(ENDPOINTS_MAX, counter.size - WAITING_MAX)
    const counted = counter.takeNews(endpointsMax, this.#circuitOf)
    this.#takeRound(counted, endpointsMax)
    await this.#save(counted)
  }

  async writeAll(): Promise<void> {
    const counted: Counted[] = []
    for (let shard = 0; shard < SHARD_COUNT; shard++)
      counted.push(...this.#counter.takeShard(shard, Number.POSITIVE_INFINITY, this.#circuitOf))
    await this.#save(counted)
  }

  /** Shards were gained: their former owners may have written since what is known was learnt. */
  forgetShown(): void {
    this.#counter.forgetShown()
  }

  /** Adds the endpoints of the shards that come next. */
  #takeRound(counted: Counted[], endpointsMax: number): void {
    for (let looked = 0; looked < SHARD_COUNT; looked++) {
      if (this.#shardsDue < 1 && counted.length >= ENDPOINTS_MIN) return
      const room = endpointsMax - counted.length
      const ofShard = this.#counter.takeShard(this.#nextShard, room, this.#circuitOf)
      counted.push(...ofShard)
      // The shard may have more: the next poll goes on with it.
      if (ofShard.length === room) return
      this.#nextShard = (this.#nextShard + 1) % SHARD_COUNT
      this.#shardsDue = Math.max(0, this.#shardsDue - 1)
    }
  }

  /** An endpoint that answers may be shown as failing: by a former owner, or by this process before a restart. */
  async #learn(): Promise<void> {
    const unknown = this.#counter.unknown(ASKED_MAX)
    if (unknown.length === 0) return
    this.#counter.learn(unknown, await this.#environment.store.readShownHealth(unknown))
  }

  async #save(counted: readonly Counted[]): Promise<void> {
    if (counted.length === 0) return
    const { store, clock } = this.#environment
    try {
      await store.saveHealth(counted, clock.nowMs())
    } catch (error) {
      // A success that got lost would let an endpoint look as if it had failed for days.
      this.#counter.putBack(counted)
      throw error
    }
    this.#counter.written(counted)
  }
}
