// What this process holds in memory, by endpoint (a lane) and, within it, by payment (a strand). A
// strand that is here holds every owed update up to its newest, so its order can be decided without
// asking the database. Lanes that can move take turns; idle ones cost nothing.

import type { QueuedDelivery } from '../core/queued-delivery.ts'
import { nextTurn } from '../core/strand.ts'
import { DueHeap } from './due-heap.ts'

export interface LaneLimits {
  /** Attempts in flight at one endpoint. */
  inFlightPerLaneMax: number
  /** A strand that waits longer than this leaves memory; the database knows when it is due. */
  keepMsMax: number
  patienceMs: number
}

export interface Lane {
  readonly clientKey: number
  readonly endpointId: string
  readonly shard: number
  readonly ready: Strand[]
  readonly strands: Set<Strand>
  inFlight: number
  /** In the ring of lanes that can move. */
  isTurning: boolean
}

export interface Strand {
  readonly key: string
  readonly paymentId: string
  readonly lane: Lane
  /** In sequence. */
  owed: QueuedDelivery[]
  /** Later updates exist that were not read: when these are done, the strand is read again. */
  isComplete: boolean
  inFlight: QueuedDelivery | null
  isReady: boolean
  /** Dropped from memory; what still comes back for it is ignored. */
  isGone: boolean
}

/** What the lanes ask of their owner. */
export interface LaneEvents {
  /** Rows that are due but blocked until a later time, and leave memory. */
  onPostponed(deliveries: readonly QueuedDelivery[], untilMs: number): void
  /** A strand has to be read again: it has run dry, or is out of date. */
  onDry(strand: Strand): void
}

export function strandKey(delivery: QueuedDelivery): string {
  // A replay keeps no order among other updates: it is a strand of its own.
  return delivery.isReplay
    ? `replay/${delivery.id}`
    : `${delivery.endpointId}/${delivery.paymentId}`
}

export class Lanes {
  readonly #limits: LaneLimits
  readonly #events: LaneEvents
  readonly #lanes = new Map<string, Lane>()
  readonly #strands = new Map<string, Strand>()
  readonly #ids = new Set<string>()
  /** Strands with an attempt under way, also those that have left memory: one payment's updates are
   *  in flight one at a time, even when its strand is dropped and read anew meanwhile. */
  readonly #flying = new Map<string, Strand>()
  readonly #waiting = new DueHeap<Strand>()
  #ring: Lane[] = []

  constructor(limits: LaneLimits, events: LaneEvents) {
    this.#limits = limits
    this.#events = events
  }

  /** Deliveries in memory. */
  get size(): number {
    return this.#ids.size
  }

  /** When the next waiting strand may move. */
  get nextDueAtMs(): number {
    return this.#waiting.nextDueAtMs
  }

  has(deliveryId: string): boolean {
    return this.#ids.has(deliveryId)
  }

  /**
   * Adds a delivery where its place is certain. False when the database has to be asked first:
   * updates between it and those in memory, or before it, may be owed.
   */
  add(delivery: QueuedDelivery, hasElders: boolean, nowMs: number): boolean {
    if (this.#ids.has(delivery.id)) return true
    const key = strandKey(delivery)
    const strand = this.#strands.get(key)
    if (strand === undefined) {
      if (hasElders && !delivery.isReplay) return false
      this.#evaluate(this.#open(delivery, key, [delivery], true), nowMs)
      return true
    }
    const newest = strand.owed.at(-1)
    if (!strand.isComplete) return true // It will be read when the strand runs dry.
    if (newest !== undefined && delivery.sequence !== newest.sequence + 1) return false
    this.#ids.add(delivery.id)
    strand.owed.push(delivery)
    this.#evaluate(strand, nowMs)
    return true
  }

  /** Puts a whole strand in place as it was read. Does nothing while one of it is in flight. */
  putStrand(owed: readonly QueuedDelivery[], isComplete: boolean, nowMs: number): void {
    const [first] = owed
    if (first === undefined) return
    const key = strandKey(first)
    const known = this.#strands.get(key)
    if (known?.inFlight) {
      // What is in flight will settle against what is in memory: read again when that is done.
      known.isComplete = false
      return
    }
    if (known) this.#drop(known)
    this.#evaluate(this.#open(first, key, [...owed], isComplete), nowMs)
  }

  /** The next strand whose turn it is, marked as in flight; lanes that may not send are passed over. */
  next(nowMs: number, maySend: (lane: Lane) => boolean): Strand | null {
    this.#wake(nowMs)
    for (let left = this.#ring.length; left > 0; left--) {
      const lane = this.#ring.shift() as Lane
      if (lane.ready.length === 0 || lane.inFlight >= this.#limits.inFlightPerLaneMax) {
        lane.isTurning = false
        continue
      }
      this.#ring.push(lane)
      if (!maySend(lane)) continue
      const strand = this.#takeReady(lane, nowMs)
      if (strand) return strand
    }
    return null
  }

  /** The attempt is over and recorded: `after` is what is left of it, or null when it is final. */
  settle(strand: Strand, after: QueuedDelivery | null, nowMs: number): void {
    const sent = strand.inFlight
    if (sent === null) return
    strand.inFlight = null
    strand.lane.inFlight--
    this.#flying.delete(strand.key)
    if (strand.isGone) {
      this.#readSuccessorAgain(strand)
      this.#forgetIfIdle(strand.lane)
      return
    }
    strand.owed = strand.owed.flatMap((owed) => {
      if (owed.id !== sent.id) return [owed]
      return after === null ? [] : [after]
    })
    if (after === null) this.#ids.delete(sent.id)
    this.#turn(strand.lane)
    this.#evaluate(strand, nowMs)
  }

  /** Older updates than `sequence` are superseded: they leave. */
  dropElders(strand: Strand, sequence: number): void {
    for (const owed of strand.owed) if (owed.sequence < sequence) this.#ids.delete(owed.id)
    strand.owed = strand.owed.filter((owed) => owed.sequence >= sequence)
  }

  /** Gives the turn back: the attempt was never made. */
  putBack(strand: Strand, nowMs: number): void {
    this.settle(strand, strand.inFlight, nowMs)
  }

  /** Takes everything of an endpoint out of memory; returns what was not in flight. */
  removeEndpoint(endpointId: string): readonly QueuedDelivery[] {
    const lane = this.#lanes.get(endpointId)
    if (!lane) return []
    const removed: QueuedDelivery[] = []
    for (const strand of [...lane.strands]) {
      for (const owed of strand.owed) if (owed !== strand.inFlight) removed.push(owed)
      this.#drop(strand)
    }
    return removed
  }

  removeShard(shard: number): void {
    for (const lane of [...this.#lanes.values()]) {
      if (lane.shard === shard) this.removeEndpoint(lane.endpointId)
    }
  }

  inFlightOf(shard: number): number {
    let count = 0
    for (const lane of this.#lanes.values()) if (lane.shard === shard) count += lane.inFlight
    return count
  }

  #open(of: QueuedDelivery, key: string, owed: QueuedDelivery[], isComplete: boolean): Strand {
    let lane = this.#lanes.get(of.endpointId)
    if (!lane) {
      lane = {
        clientKey: of.clientKey,
        endpointId: of.endpointId,
        shard: of.shard,
        ready: [],
        strands: new Set(),
        inFlight: 0,
        isTurning: false,
      }
      this.#lanes.set(of.endpointId, lane)
    }
    const strand: Strand = {
      key,
      paymentId: of.paymentId,
      lane,
      owed,
      isComplete,
      inFlight: null,
      isReady: false,
      isGone: false,
    }
    lane.strands.add(strand)
    this.#strands.set(key, strand)
    for (const delivery of owed) this.#ids.add(delivery.id)
    return strand
  }

  #evaluate(strand: Strand, nowMs: number): void {
    if (strand.isReady || strand.isGone || this.#flying.has(strand.key)) return
    if (strand.owed.length === 0) {
      this.#drop(strand)
      if (!strand.isComplete) this.#events.onDry(strand)
      return
    }
    const turn = nextTurn(strand.owed, this.#limits.patienceMs, nowMs)
    if (turn.kind === 'send') {
      strand.isReady = true
      strand.lane.ready.push(strand)
      this.#turn(strand.lane)
    } else if (turn.untilMs - nowMs <= this.#limits.keepMsMax) {
      this.#waiting.push(turn.untilMs, strand)
    } else {
      const blocked = strand.owed.filter((owed) => owed.nextAttemptAtMs < turn.untilMs)
      this.#drop(strand)
      if (blocked.length > 0 && Number.isFinite(turn.untilMs)) {
        this.#events.onPostponed(blocked, turn.untilMs)
      }
    }
  }

  #takeReady(lane: Lane, nowMs: number): Strand | null {
    while (lane.ready.length > 0) {
      const strand = lane.ready.shift() as Strand
      strand.isReady = false
      if (strand.isGone) continue
      const turn = nextTurn(strand.owed, this.#limits.patienceMs, nowMs)
      if (turn.kind === 'wait') {
        this.#evaluate(strand, nowMs)
        continue
      }
      strand.inFlight = turn.update
      lane.inFlight++
      this.#flying.set(strand.key, strand)
      return strand
    }
    return null
  }

  #wake(nowMs: number): void {
    for (let strand = this.#waiting.take(nowMs); strand; strand = this.#waiting.take(nowMs)) {
      this.#evaluate(strand, nowMs)
    }
  }

  #turn(lane: Lane): void {
    if (lane.isTurning || lane.ready.length === 0) return
    lane.isTurning = true
    this.#ring.push(lane)
  }

  #drop(strand: Strand): void {
    strand.isGone = true
    strand.lane.strands.delete(strand)
    this.#strands.delete(strand.key)
    for (const owed of strand.owed) this.#ids.delete(owed.id)
    this.#forgetIfIdle(strand.lane)
  }

  /** Read while the attempt was still under way, so it does not know of its outcome. */
  #readSuccessorAgain(strand: Strand): void {
    const successor = this.#strands.get(strand.key)
    if (!successor) return
    this.#drop(successor)
    this.#events.onDry(successor)
  }

  #forgetIfIdle(lane: Lane): void {
    if (lane.strands.size === 0 && lane.inFlight === 0) this.#lanes.delete(lane.endpointId)
  }
}
