// All lanes of this process, by endpoint. An idle lane is kept for what it knows of its endpoint, as long as
// there is room.

import { type Circuit, CLOSED_CIRCUIT } from '../../core/delivery/circuit.ts'
import type { LaneKey } from '../../store/owed/parked.ts'
import { Lane } from './lane.ts'

/** Lanes that one look for room may forget: a look at all of them would take too long. */
const FORGOTTEN_AT_ONCE = 1_000

export class LaneDirectory {
  readonly #lanesMax: number
  readonly #lanes = new Map<string, Lane>()

  constructor(lanesMax: number) {
    this.#lanesMax = lanesMax
  }

  get all(): IterableIterator<Lane> {
    return this.#lanes.values()
  }

  /** Lanes whose circuit is not closed. */
  get broken(): readonly Lane[] {
    const broken: Lane[] = []
    // A copy of all lanes would be large: there may be a hundred thousand.
    for (const lane of this.#lanes.values()) if (lane.circuit.state !== 'CLOSED') broken.push(lane)
    return broken
  }

  circuitOf(endpointId: string): Circuit {
    return this.#lanes.get(endpointId)?.circuit ?? CLOSED_CIRCUIT
  }

  find(endpointId: string): Lane | undefined {
    return this.#lanes.get(endpointId)
  }

  /** The lane of this endpoint, made if there is none. */
  of(key: LaneKey): Lane {
    let lane = this.#lanes.get(key.endpointId)
    if (lane === undefined) {
      if (this.#lanes.size >= this.#lanesMax) this.#forgetOldest()
      lane = new Lane(key)
      this.#lanes.set(key.endpointId, lane)
    }
    return lane
  }

  #forgetOldest(): void {
    let left = FORGOTTEN_AT_ONCE
    for (const lane of this.#lanes.values()) {
      if (left-- === 0) return
      this.#lanes.delete(lane.endpointId)
      // Those that have to stay go to the end: the next look finds others.
      if (!lane.isForgettable) this.#lanes.set(lane.endpointId, lane)
    }
  }
}
