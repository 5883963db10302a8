// Writes what the HealthCounter has counted, a thousand endpoints at a time: with ten thousand busy ones, each
// is written every ten polls.

import type { EngineEnvironment } from './environment.ts'
import type { HealthCounter } from './health-counter.ts'
import type { LaneDirectory } from './lane-directory.ts'

/** Endpoints whose health is written at once, unless more than HEALTH_WAITING_MAX wait. */
const HEALTH_ROWS_MAX = 1_000
const HEALTH_WAITING_MAX = 20_000

export class HealthWriter {
  readonly #environment: EngineEnvironment
  readonly #counter: HealthCounter
  readonly #lanes: LaneDirectory

  constructor(environment: EngineEnvironment, counter: HealthCounter, lanes: LaneDirectory) {
    this.#environment = environment
    this.#counter = counter
    this.#lanes = lanes
  }

  /** Writes the next endpoints; rejects when the database does. */
  async write(): Promise<void> {
    const backlog = this.#counter.size - HEALTH_WAITING_MAX
    await this.#write(Math.max(HEALTH_ROWS_MAX, backlog))
  }

  async writeAll(): Promise<void> {
    await this.#write(this.#counter.size)
  }

  async #write(endpointsMax: number): Promise<void> {
    const { store, clock } = this.#environment
    const deltas = this.#counter.take(endpointsMax, (id) => this.#lanes.circuitOf(id))
    if (deltas.length === 0) return
    try {
      await store.saveHealth(deltas, clock.nowMs())
    } catch (error) {
      // A success that got lost would let an endpoint look as if it had failed for days.
      this.#counter.putBack(deltas)
      throw error
    }
  }
}
