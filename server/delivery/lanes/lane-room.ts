// The deliveries in memory, and how many of them each lane may hold. What is more is parked in the database.
// Lanes that hardly move must not fill the memory that the others move through: once they could, they share
// a part of it.

import type { QueuedDelivery } from '../../core/delivery/queued-delivery.ts'
import { type Lane, Strand } from './lane.ts'

export interface LaneRoomLimits {
  /** Deliveries of one lane. */
  perLaneMax: number
  /** The same while its circuit is not closed: enough for its probes. */
  perBrokenLaneMax: number
  /** Deliveries of all slow and broken lanes together, once memory is short. */
  unprovenMax: number
}

export class LaneRoom {
  readonly #limits: LaneRoomLimits
  readonly #ids = new Set<string>()
  /** Upper bound per slow or broken lane; Infinity while memory is not short. */
  #unprovenShare = Number.POSITIVE_INFINITY

  constructor(limits: LaneRoomLimits) {
    this.#limits = limits
  }

  /** Deliveries in memory. */
  get size(): number {
    return this.#ids.size
  }

  holds(delivery: QueuedDelivery): boolean {
    return this.#ids.has(delivery.id)
  }

  /** Takes a strand in; `owed` becomes its own. */
  open(lane: Lane, owed: QueuedDelivery[], isComplete: boolean): Strand {
    const strand = new Strand(lane, owed, isComplete)
    lane.strands.set(strand.key, strand)
    for (const delivery of owed) this.hold(strand, delivery)
    return strand
  }

  /** The strand leaves memory. A flight of it goes on, and its lane remembers that. */
  drop(strand: Strand): void {
    const { lane, key, flight } = strand
    if (flight !== null) {
      lane.departed ??= new Map()
      lane.departed.set(key, flight)
    }
    strand.leave()
    lane.strands.delete(key)
    lane.waiting?.delete(strand)
    for (const owed of strand.owed) this.forget(lane, owed)
  }

  hold(strand: Strand, delivery: QueuedDelivery): void {
    // Each row was read with texts of its own: a lane and a strand need only one of each.
    delivery.endpointId = strand.lane.endpointId
    delivery.paymentId = strand.paymentId
    this.#ids.add(delivery.id)
    strand.lane.count++
  }

  forget(lane: Lane, delivery: QueuedDelivery): void {
    if (this.#ids.delete(delivery.id)) lane.count--
  }

  /** How many deliveries the lane may hold. */
  of(lane: Lane): number {
    const { perLaneMax, perBrokenLaneMax } = this.#limits
    const room = lane.circuit.state === 'CLOSED' ? perLaneMax : perBrokenLaneMax
    return lane.isProven ? room : Math.min(room, this.#unprovenShare)
  }

  isFull(lane: Lane): boolean {
    return lane.count >= this.of(lane)
  }

  /**
   * Shares memory out again; returns the lanes that may now hold too much. Sharing begins when too
   * many deliveries are in memory and ends well below that: to park and refill at every look would cost more.
   */
  shareOut(lanes: Iterable<Lane>): readonly Lane[] {
    const { unprovenMax } = this.#limits
    const isShared = this.#unprovenShare < Number.POSITIVE_INFINITY
    if (this.size <= (isShared ? unprovenMax / 2 : unprovenMax)) {
      this.#unprovenShare = Number.POSITIVE_INFINITY
      return []
    }
    const unproven = [...lanes].filter((lane) => lane.count > 0 && !lane.isProven)
    this.#unprovenShare = Math.max(1, Math.floor(unprovenMax / unproven.length))
    return unproven
  }

  /** Strands that have to leave, none of them in flight. The caller drops each before it asks for the next. */
  *surplusOf(lane: Lane): Generator<Strand> {
    const room = this.of(lane)
    for (const strand of lane.strands.values()) {
      // A strand that is too large alone would only come back.
      if (lane.count <= room || (lane.strands.size === 1 && room > 0)) return
      if (strand.state.is !== 'flying') yield strand
    }
  }
}
