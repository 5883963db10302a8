// What this process holds in memory, by endpoint (a lane) and, within it, by payment (a strand). A
// strand that is here holds every owed update up to its newest, or of a very long one those that decide
// its order, so whose turn it is can be told without asking the database.

import type { CircuitPolicy } from '../core/circuit.ts'
import type { QueuedDelivery } from '../core/queued-delivery.ts'
import { nextTurn } from '../core/strand.ts'
import { NIL_UUID } from '../core/uuid.ts'
import { DueHeap } from './due-heap.ts'
import { Lane, type LanePolicy, newStrand, type Strand, strandKey, type Verdict } from './lane.ts'
import { Turns } from './turns.ts'

export type { Lane, Strand } from './lane.ts'

/** Asked with each decision, because the sandbox replaces it while it runs. */
export interface LanePolicies {
  readonly circuit: CircuitPolicy
  readonly patienceMs: number
}

export interface LanesOptions {
  policy: LanePolicy
  policies: { readonly current: LanePolicies }
  /** Attempts in flight at proven endpoints; slow ones together get half as many. */
  slots: number
  /** Deliveries of one lane in memory; what is more is parked. Few while its circuit is not closed. */
  perLaneMax: number
  perBrokenLaneMax: number
  /** Deliveries of slow and broken lanes together, once memory is short: others need the rest. */
  unprovenMax: number
  /** Endpoints of which something is remembered. */
  lanesMax: number
  /** A strand that waits longer than this leaves memory; the database knows when it is due. */
  keepMsMax: number
}

/** What the lanes ask of their owner. */
export interface LaneEvents {
  /** Rows that are due but blocked until a later time, and leave memory. */
  onPostponed(deliveries: readonly QueuedDelivery[], untilMs: number): void
  /** Rows that are due but have no place in their lane, and wait in the database. */
  onParked(deliveries: readonly QueuedDelivery[]): void
  /** A row that was read ahead has no place: to be read again when it is due. */
  onTooEarly(delivery: QueuedDelivery): void
  /** A strand has to be read again: it has run dry, or is out of date. */
  onDry(strand: Strand): void
  /** A lane that can move runs low, and has parked deliveries. */
  onHungry(lane: Lane, room: number): void
  /** A delivery is over: nothing of it is needed again. */
  onEnded(delivery: QueuedDelivery): void
}

const FORGOTTEN_AT_ONCE = 1_000

export class Lanes {
  readonly #options: LanesOptions
  readonly #events: LaneEvents
  readonly #lanes = new Map<string, Lane>()
  readonly #ids = new Set<string>()
  /** When the attempts began that are under way or not yet recorded, the earliest first; also those of
   *  strands that have left memory. */
  readonly #flying = new Map<Strand, number>()
  readonly #waiting = new DueHeap<Strand>()
  readonly #turns: Turns
  /** What one slow or broken lane may hold of what they may hold together. */
  #unprovenRoom = Number.POSITIVE_INFINITY
  /** One for each read of the database that is under way. */
  readonly #watches = new Set<Set<string>>()

  constructor(options: LanesOptions, events: LaneEvents) {
    this.#options = options
    this.#events = events
    this.#turns = new Turns(options.slots)
  }

  /** Deliveries in memory. */
  get size(): number {
    return this.#ids.size
  }

  get inFlight(): number {
    return this.#turns.inFlight
  }

  /** When the next waiting strand or lane may move. */
  get nextDueAtMs(): number {
    return Math.min(this.#waiting.nextDueAtMs, this.#turns.nextDueAtMs)
  }

  circuitOf(endpointId: string): Lane['circuit']['state'] {
    return this.#lanes.get(endpointId)?.circuit.state ?? 'CLOSED'
  }

  /** Lanes whose circuit is not closed. */
  get broken(): readonly Lane[] {
    return [...this.#lanes.values()].filter((lane) => lane.circuit.state !== 'CLOSED')
  }

  /**
   * A read of the database begins: gathers the deliveries that move on meanwhile, of which it may
   * bring back what they were before. Without this a delivery could be sent again after its 200.
   */
  watch(): { isOutdated(delivery: QueuedDelivery): boolean; end(): void } {
    const moved = new Set<string>()
    this.#watches.add(moved)
    return {
      isOutdated: (delivery) => moved.has(delivery.id) || moved.has(delivery.endpointId),
      end: () => this.#watches.delete(moved),
    }
  }

  /**
   * Adds a delivery where its place is certain. False when the database has to be asked first:
   * updates between it and those in memory, or before it, may be owed.
   */
  add(delivery: QueuedDelivery, hasElders: boolean, nowMs: number): boolean {
    if (this.#ids.has(delivery.id)) return true
    const strand = this.#lanes.get(delivery.endpointId)?.strands.get(strandKey(delivery))
    if (strand === undefined) {
      if (hasElders && !delivery.isReplay) return false
      const lane = this.#laneOf(delivery)
      if (this.#isFull(lane) && !this.#makeRoom(lane, delivery, nowMs)) {
        this.#turnAway(delivery, nowMs)
        return true
      }
      this.#evaluate(this.#open(lane, [delivery], true), nowMs)
      return true
    }
    if (!strand.isComplete) return true // It will be read when the strand runs dry.
    const newest = strand.owed.at(-1)
    if (newest !== undefined && delivery.sequence !== newest.sequence + 1) return false
    if (this.#isFull(strand.lane)) {
      strand.isComplete = false
      this.#turnAway(delivery, nowMs)
      return true
    }
    strand.owed.push(delivery)
    this.#hold(strand, delivery)
    this.#evaluate(strand, nowMs)
    return true
  }

  /** Puts a whole strand in place as it was read. */
  putStrand(owed: readonly QueuedDelivery[], isComplete: boolean, nowMs: number): void {
    const [first] = owed
    if (first === undefined) return
    const lane = this.#laneOf(first)
    const known = lane.strands.get(strandKey(first))
    if (known?.inFlight) {
      // What is in flight settles against what is in memory: read again when that is done.
      known.isComplete = false
      return
    }
    // One that was handed off while the strand was read is in memory, but not in what was read.
    const newest = known?.owed.at(-1)?.sequence ?? 0
    const isWhole = isComplete && newest <= (owed.at(-1)?.sequence ?? 0)
    if (known) this.#drop(known)
    // Strands of broken lanes are let in all the same: their elders decide what a probe may be.
    if (this.#isFull(lane) && lane.circuit.state === 'CLOSED') {
      this.#events.onParked(owed.filter((delivery) => delivery.nextAttemptAtMs <= nowMs))
    } else {
      this.#evaluate(this.#open(lane, [...owed], isWhole), nowMs)
    }
  }

  /** The next strand whose turn it is, marked as in flight; lanes that may not send are passed over. */
  next(nowMs: number, maySend: (lane: Lane) => boolean): Strand | null {
    for (let strand = this.#waiting.take(nowMs); strand; strand = this.#waiting.take(nowMs)) {
      this.#evaluate(strand, nowMs)
    }
    for (;;) {
      const lane = this.#turns.next(nowMs, maySend)
      if (lane === null) return null
      const strand = this.#takeReady(lane, nowMs)
      this.#feed(lane)
      if (strand) return strand
    }
  }

  /** The answer is in: its place is free. The strand moves on only when that is recorded. */
  answered(strand: Strand, verdict: Verdict, nowMs: number): void {
    const { lane } = strand
    strand.isAnswered = true
    this.#turns.ended(lane)
    const { policy, policies } = this.#options
    lane.answered(verdict, policy, policies.current.circuit, nowMs)
    this.#turns.setSlow(lane, verdict.durationMs > policy.slowMs)
    if (lane.circuit.state !== 'CLOSED') this.#shed(lane, nowMs)
    this.#turns.join(lane)
  }

  /** The attempt is recorded: `after` is what is left of the delivery, or null when it is final. */
  settle(strand: Strand, after: QueuedDelivery | null, nowMs: number): void {
    const sent = strand.inFlight
    if (sent === null) return
    this.#land(strand)
    this.#noteMoved(sent)
    if (strand.isGone) {
      this.#readSuccessor(strand)
      return
    }
    if (after === null) {
      this.#forget(strand.lane, sent)
      this.#events.onEnded(sent)
      // Nearly always it was the only one.
      if (strand.owed.length === 1) strand.owed.length = 0
      else strand.owed = strand.owed.filter((owed) => owed.id !== sent.id)
      if (!strand.isComplete && strand.owed.some((owed) => owed.sequence < sent.sequence)) {
        // It was ahead of these, and of others that were not read: who goes on, the database knows.
        this.#drop(strand)
        this.#events.onDry(strand)
      }
    } else {
      strand.owed = strand.owed.map((owed) => (owed.id === sent.id ? after : owed))
    }
    this.#evaluate(strand, nowMs)
    this.#feed(strand.lane)
  }

  /** The attempt could not be recorded: only the database knows what the delivery is now. */
  settleUnknown(strand: Strand, nowMs: number): void {
    if (!strand.isGone) this.#drop(strand)
    this.settle(strand, null, nowMs)
    this.#feed(strand.lane)
  }

  /** Gives the turn back: the attempt was never made. */
  callOff(strand: Strand, after: QueuedDelivery | null, nowMs: number): void {
    if (strand.inFlight === null) return
    this.#turns.ended(strand.lane)
    strand.lane.calledOff()
    this.settle(strand, after, nowMs)
    this.#turns.join(strand.lane)
  }

  /**
   * The endpoint of an attempt turns out not to be active: everything of it leaves memory, and the
   * turn is given back. Returns what was owed. Nothing is read again: the strand would come straight
   * back, and go round for as long as the endpoint is paused.
   */
  abandon(strand: Strand): readonly QueuedDelivery[] {
    const sent = strand.inFlight
    if (sent === null) return []
    const removed = this.removeEndpoint(sent.endpointId)
    this.#turns.ended(strand.lane)
    strand.lane.calledOff()
    this.#land(strand)
    this.#noteMoved(sent)
    return [sent, ...removed]
  }

  /** Older updates than `sequence` are superseded: they leave. */
  dropElders(strand: Strand, sequence: number): void {
    for (const owed of strand.owed) {
      if (owed.sequence >= sequence) continue
      this.#noteMoved(owed)
      if (this.#ids.has(owed.id)) this.#forget(strand.lane, owed)
      this.#events.onEnded(owed)
    }
    strand.owed = strand.owed.filter((owed) => owed.sequence >= sequence)
  }

  /** Attempts that have been under way for long make their lane a slow one. */
  noticeSlow(nowMs: number): void {
    for (const [strand, startedAtMs] of this.#flying) {
      if (nowMs - startedAtMs < this.#options.policy.slowMs) break
      if (!strand.isAnswered) this.#turns.setSlow(strand.lane, true)
    }
    this.#shareOut(nowMs)
  }

  /**
   * Lanes that hardly move must not fill the memory that the others move through. Begins when they could,
   * and ends well below that: what is parked and taken up again at every look would cost more.
   */
  #shareOut(nowMs: number): void {
    const { unprovenMax } = this.#options
    const isShared = this.#unprovenRoom < Number.POSITIVE_INFINITY
    if (this.size <= (isShared ? unprovenMax / 2 : unprovenMax)) {
      this.#unprovenRoom = Number.POSITIVE_INFINITY
      return
    }
    const unproven = [...this.#lanes.values()].filter((lane) => lane.count > 0 && !isProven(lane))
    this.#unprovenRoom = Math.max(1, Math.floor(unprovenMax / unproven.length))
    for (const lane of unproven) this.#shed(lane, nowMs)
  }

  /** The database holds parked deliveries of this lane. */
  noteParked(of: { clientKey: number; endpointId: string; shard: number }): void {
    const lane = this.#laneOf(of)
    lane.hasParked = true
    lane.isParkedAnew = true
    this.#feed(lane)
  }

  /** A refill has ended: `upTo` is the last id that was read, or null when there are no more. */
  refilled(lane: Lane, upTo: string | null): void {
    lane.isRefilling = false
    if (upTo === null) {
      lane.hasParked = lane.isParkedAnew
      lane.parkedUpTo = NIL_UUID
    } else {
      lane.parkedUpTo = upTo
    }
    this.#feed(lane)
  }

  /** What is being read of this endpoint is no longer believed: some of it may have been cancelled. */
  outdate(endpointId: string): void {
    for (const moved of this.#watches) moved.add(endpointId)
  }

  /** Takes everything of an endpoint out of memory; returns what was not in flight. */
  removeEndpoint(endpointId: string): readonly QueuedDelivery[] {
    const lane = this.#lanes.get(endpointId)
    if (!lane) return []
    const removed: QueuedDelivery[] = []
    for (const strand of [...lane.strands.values()]) {
      for (const owed of strand.owed) if (owed !== strand.inFlight) removed.push(owed)
      this.#drop(strand)
    }
    return removed
  }

  removeShard(shard: number): void {
    for (const lane of [...this.#lanes.values()]) {
      if (lane.shard !== shard) continue
      lane.hasParked = false
      lane.isParkedAnew = false
      this.removeEndpoint(lane.endpointId)
    }
  }

  /** Attempts of the shard that are under way or not yet recorded. */
  unsettledOf(shard: number): number {
    let count = 0
    for (const strand of this.#flying.keys()) if (strand.lane.shard === shard) count++
    return count
  }

  #laneOf(of: { clientKey: number; endpointId: string; shard: number }): Lane {
    let lane = this.#lanes.get(of.endpointId)
    if (!lane) {
      if (this.#lanes.size >= this.#options.lanesMax) this.#forgetOldest()
      lane = new Lane(of)
      this.#lanes.set(of.endpointId, lane)
    }
    return lane
  }

  /** Idle lanes are kept for what is known of their endpoints, as long as there is room. */
  #forgetOldest(): void {
    let left = FORGOTTEN_AT_ONCE
    for (const lane of this.#lanes.values()) {
      if (left-- === 0) return
      this.#lanes.delete(lane.endpointId)
      // Those that have to stay go to the end: the next look finds others.
      if (!lane.isForgettable) this.#lanes.set(lane.endpointId, lane)
    }
  }

  #isFull(lane: Lane): boolean {
    return lane.count >= this.#roomOf(lane)
  }

  #roomOf(lane: Lane): number {
    const { perLaneMax, perBrokenLaneMax } = this.#options
    const room = lane.circuit.state === 'CLOSED' ? perLaneMax : perBrokenLaneMax
    return isProven(lane) ? room : Math.min(room, this.#unprovenRoom)
  }

  #open(lane: Lane, owed: QueuedDelivery[], isComplete: boolean): Strand {
    const strand = newStrand(lane, owed, isComplete)
    lane.strands.set(strand.key, strand)
    for (const delivery of owed) this.#hold(strand, delivery)
    return strand
  }

  #hold(strand: Strand, delivery: QueuedDelivery): void {
    // Each row was read with texts of its own: a lane and a strand need only one of each.
    delivery.endpointId = strand.lane.endpointId
    delivery.paymentId = strand.paymentId
    this.#ids.add(delivery.id)
    strand.lane.count++
  }

  #evaluate(strand: Strand, nowMs: number): void {
    if (strand.isReady || strand.isGone || isFlying(strand)) return
    strand.lane.waiting.delete(strand)
    if (strand.owed.length === 0) {
      this.#drop(strand)
      if (!strand.isComplete) this.#events.onDry(strand)
      return
    }
    const turn = nextTurn(strand.owed, this.#options.policies.current.patienceMs, nowMs)
    if (turn.kind !== 'wait') {
      strand.isReady = true
      strand.lane.ready.push(strand)
      this.#turns.join(strand.lane)
    } else if (turn.untilMs - nowMs <= this.#options.keepMsMax) {
      this.#waiting.push(turn.untilMs, strand)
      strand.lane.waiting.add(strand)
    } else {
      const blocked = strand.owed.filter((owed) => owed.nextAttemptAtMs < turn.untilMs)
      this.#drop(strand)
      if (blocked.length > 0) this.#events.onPostponed(blocked, turn.untilMs)
    }
  }

  #takeReady(lane: Lane, nowMs: number): Strand | null {
    for (let strand = lane.ready.shift(); strand; strand = lane.ready.shift()) {
      strand.isReady = false
      if (strand.isGone) continue
      const turn = nextTurn(strand.owed, this.#options.policies.current.patienceMs, nowMs)
      if (turn.kind === 'wait') {
        this.#evaluate(strand, nowMs)
        continue
      }
      strand.inFlight = turn.update
      strand.isOver = turn.kind === 'end'
      strand.isAnswered = false
      this.#flying.set(strand, nowMs)
      this.#turns.started(lane)
      lane.started(this.#options.policy, nowMs)
      return strand
    }
    return null
  }

  /** Asks for more before the lane has nothing left to do. */
  #feed(lane: Lane): void {
    if (!lane.hasParked || lane.isRefilling) return
    const max = this.#roomOf(lane)
    if (lane.count > max / 4) return
    lane.isRefilling = true
    if (lane.parkedUpTo === NIL_UUID) lane.isParkedAnew = false
    this.#events.onHungry(lane, max - lane.count)
  }

  /** Whoever only waits for a later time gives its place to one that is due. */
  #makeRoom(lane: Lane, due: QueuedDelivery, nowMs: number): boolean {
    const [strand] = lane.waiting
    if (strand === undefined || due.nextAttemptAtMs > nowMs) return false
    this.#drop(strand)
    for (const owed of strand.owed) this.#events.onTooEarly(owed)
    return !this.#isFull(lane)
  }

  /** Parked ones count as due as soon as they are taken up again, so only due ones are parked. */
  #turnAway(delivery: QueuedDelivery, nowMs: number): void {
    if (delivery.nextAttemptAtMs <= nowMs) this.#events.onParked([delivery])
    else this.#events.onTooEarly(delivery)
  }

  /** What a lane has no more room for leaves memory; one that cannot move keeps enough for its probes. */
  #shed(lane: Lane, nowMs: number): void {
    const room = this.#roomOf(lane)
    const parked: QueuedDelivery[] = []
    for (const strand of lane.strands.values()) {
      // A strand that is too large alone would only come back.
      if (lane.count <= room || (lane.strands.size === 1 && room > 0)) break
      if (strand.inFlight !== null) continue
      this.#drop(strand)
      for (const owed of strand.owed) {
        if (owed.nextAttemptAtMs <= nowMs) parked.push(owed)
        else this.#events.onTooEarly(owed)
      }
    }
    if (parked.length > 0) this.#events.onParked(parked)
  }

  #drop(strand: Strand): void {
    const { lane, key } = strand
    strand.isGone = true
    if (strand.inFlight !== null) lane.departed.set(key, strand)
    lane.strands.delete(key)
    lane.waiting.delete(strand)
    for (const owed of strand.owed) if (this.#ids.has(owed.id)) this.#forget(lane, owed)
  }

  #forget(lane: Lane, delivery: QueuedDelivery): void {
    this.#ids.delete(delivery.id)
    lane.count--
  }

  /** The attempt is over, and known to be. */
  #land(strand: Strand): void {
    strand.inFlight = null
    this.#flying.delete(strand)
    if (strand.isGone) strand.lane.departed.delete(strand.key)
  }

  #noteMoved(delivery: QueuedDelivery): void {
    for (const moved of this.#watches) moved.add(delivery.id)
  }

  /** What was read of it, or is being read, while the attempt was under way knows nothing of it. */
  #readSuccessor(strand: Strand): void {
    const successor = strand.lane.strands.get(strand.key)
    if (successor) this.#drop(successor)
    this.#events.onDry(successor ?? strand)
  }
}

function isProven(lane: Lane): boolean {
  return !lane.isSlow && lane.circuit.state === 'CLOSED'
}

/** It, or what it was before it was read anew. */
function isFlying({ inFlight, lane, key }: Strand): boolean {
  return inFlight !== null || lane.departed.has(key)
}
