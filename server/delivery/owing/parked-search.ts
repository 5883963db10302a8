// Finds the lanes that have something parked: after a take-over, and now and then. One statement at a time; shards that
// are named while it runs share the next, and those that could not be asked about are asked about again.

import type { LaneKey } from '../../store/owed/parked.ts'
import type { DeliveryStore } from '../seams/delivery-store.ts'

export interface ParkedSearchParts {
  store: Pick<DeliveryStore, 'readParkedLanes'>
  holds(shard: number): boolean
  onFound(lane: LaneKey): void
}

export class ParkedSearch {
  readonly #parts: ParkedSearchParts
  /** Shards of which it is not known whether they have something parked. */
  readonly #unsearched = new Set<number>()
  #searching: Promise<void> | null = null

  constructor(parts: ParkedSearchParts) {
    this.#parts = parts
  }

  lose(shard: number): void {
    this.#unsearched.delete(shard)
  }

  async search(shards: readonly number[]): Promise<void> {
    for (const shard of shards) this.#unsearched.add(shard)
    if (this.#unsearched.size === 0) return
    this.#searching ??= this.#searchAll()
    await this.#searching
  }

  async #searchAll(): Promise<void> {
    try {
      while (this.#unsearched.size > 0) {
        const shards = [...this.#unsearched]
        this.#unsearched.clear()
        const lanes = await this.#read(shards)
        for (const lane of lanes) if (this.#parts.holds(lane.shard)) this.#parts.onFound(lane)
      }
    } finally {
      this.#searching = null
    }
  }

  async #read(shards: readonly number[]): Promise<readonly LaneKey[]> {
    try {
      return await this.#parts.store.readParkedLanes(shards)
    } catch (error) {
      for (const shard of shards) if (this.#parts.holds(shard)) this.#unsearched.add(shard)
      throw error
    }
  }
}
