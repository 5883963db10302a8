// What this process holds in memory, by endpoint (a lane) and, within it, by payment (a strand). A strand in
// memory holds every owed update up to its newest, or of a very long one those that decide its order. So
// the next update that may go is known without asking the database. The states are drawn in lane.ts.

import type { CircuitPolicy } from '../../core/delivery/circuit.ts'
import type { DeliverMode } from '../../core/delivery/endpoint-settings.ts'
import type { QueuedDelivery } from '../../core/delivery/queued-delivery.ts'
import type { Moment } from '../../core/plain/clock.ts'
import { type Flight, type Lane, strandKey } from './lane.ts'
import { LaneDirectory } from './lane-directory.ts'
import type { LaneEvents } from './lane-events.ts'
import { LaneFeeder } from './lane-feeder.ts'
import { type LanePolicy, SLOW_MS, type Verdict } from './lane-pace.ts'
import { LaneRoom, type LaneRoomLimits } from './lane-room.ts'
import { ReadWatches } from './read-watches.ts'
import { ReplayStrands } from './replay-strands.ts'
import { StrandSteps, type StrandStepsOptions } from './strand-steps.ts'
import { parkDue, turnAway } from './turned-away.ts'
import { Turns } from './turns.ts'

export interface LanePolicies {
  readonly circuit: CircuitPolicy
  readonly patienceMs: number
}

export interface LanesOptions extends LaneRoomLimits, StrandStepsOptions {
  policy: LanePolicy
  policies: LanePolicies
  /** What an endpoint asked for, where that is at hand. */
  endpoints: { deliverOf(endpointId: string): DeliverMode | undefined }
  /** Attempts in flight at proven endpoints; slow ones together get half as many. */
  slots: number
  /** Endpoints whose lanes are kept. */
  lanesMax: number
}

export class Lanes {
  readonly directory: LaneDirectory
  readonly feeder: LaneFeeder
  readonly watches = new ReadWatches()
  readonly #options: LanesOptions
  readonly #events: LaneEvents
  readonly #room: LaneRoom
  readonly #replays: ReplayStrands
  readonly #turns: Turns
  readonly #steps: StrandSteps
  /** The earliest first; also those whose strand has left memory. */
  readonly #flights = new Set<Flight>()

  constructor(options: LanesOptions, events: LaneEvents) {
    this.directory = new LaneDirectory(options.lanesMax)
    this.#options = options
    this.#events = events
    this.#room = new LaneRoom(options)
    this.feeder = new LaneFeeder(this.directory, this.#room, events)
    this.#replays = new ReplayStrands(this.#room, this.feeder, events)
    this.#turns = new Turns(options.slots)
    this.#steps = new StrandSteps(options, this.#room, this.#turns, events)
  }

  /** Deliveries in memory. */
  get size(): number {
    return this.#room.size
  }

  get inFlight(): number {
    return this.#turns.inFlight
  }

  /** How long until the next waiting strand or lane may move. Updates are due by the time of their rows; what a lane
   *  has learnt of its endpoint holds by the process's own clock. */
  restMs({ nowMs, monotonicMs }: Moment): number {
    return Math.min(this.#steps.nextDueAtMs - nowMs, this.#turns.nextStartAtMs - monotonicMs)
  }

  /**
   * Adds a delivery where its position in the order is certain. False when the database has to be asked
   * first: updates between it and those in memory, or before it, may be owed.
   */
  add(delivery: QueuedDelivery, hasElders: boolean, nowMs: number): boolean {
    if (this.#room.holds(delivery)) return true
    const strand = this.directory.find(delivery.endpointId)?.strands.get(strandKey(delivery))
    if (strand === undefined) {
      if (hasElders && !delivery.isReplay) return false
      const lane = this.directory.of(delivery)
      if (this.#room.isFull(lane) && !this.#steps.makeRoom(lane, delivery, nowMs)) {
        turnAway(this.#events, lane, [delivery], nowMs)
        return true
      }
      this.#steps.evaluate(this.#room.open(lane, [delivery], true), nowMs)
      return true
    }
    if (delivery.isReplay) {
      this.#replays.insert(strand, delivery, nowMs)
      this.#steps.evaluate(strand, nowMs)
      return true
    }
    strand.deliver ??= this.#options.endpoints.deliverOf(delivery.endpointId) ?? null
    if (strand.deliver === null) return false
    if (strand.deliver === 'latest') strand.flight?.overtakeBy(delivery)
    // It will be read when the strand has nothing left in memory; the latest when the flight has landed, or now.
    if (!strand.isComplete) return strand.deliver === 'every' || strand.flight !== null
    const newest = strand.owed.at(-1)
    if (newest !== undefined && delivery.sequence !== newest.sequence + 1) return false
    if (this.#room.isFull(strand.lane)) {
      if (strand.deliver === 'latest' && strand.flight === null) return false
      strand.noteUnread()
      turnAway(this.#events, strand.lane, [delivery], nowMs)
      return true
    }
    strand.owed.push(delivery)
    this.#room.hold(strand, delivery)
    this.#steps.evaluate(strand, nowMs)
    return true
  }

  /** There is no memory for this one: a strand that would send an older update in its stead is read again. */
  leaveOut(delivery: QueuedDelivery): void {
    const strand = this.directory.find(delivery.endpointId)?.strands.get(strandKey(delivery))
    if (strand === undefined || delivery.isReplay) return
    strand.deliver ??= this.#options.endpoints.deliverOf(delivery.endpointId) ?? null
    if (strand.deliver === 'every') return
    strand.noteUnread()
    strand.flight?.overtakeBy(delivery)
    if (strand.flight === null) this.#steps.readAgain(strand)
  }

  /** Takes in a whole strand as it was read, with what its endpoint asks for. */
  putStrand(
    owed: readonly QueuedDelivery[],
    isComplete: boolean,
    nowMs: number,
    deliver: DeliverMode = 'every',
  ): void {
    const [first] = owed
    if (first === undefined) return
    const lane = this.directory.of(first)
    const present = lane.strands.get(strandKey(first))
    if (present?.state.is === 'flying') {
      // Its flight settles against what is in memory. When that is done, the strand is read again.
      present.noteUnread()
      present.deliver = deliver
      if (deliver === 'latest') present.flight?.overtakeBy(owed.at(-1) ?? first)
      return
    }
    // One that was handed off while the strand was read is in memory, but not in what was read.
    const newest = present?.owed.at(-1)?.sequence ?? 0
    const isWhole = isComplete && newest <= (owed.at(-1)?.sequence ?? 0)
    if (present) this.#room.drop(present)
    // Strands of broken lanes are let in all the same: their elders decide what a probe may be.
    if (this.#room.isFull(lane) && lane.circuit.state === 'CLOSED') {
      parkDue(this.#events, lane, owed, nowMs)
    } else {
      const strand = this.#room.open(lane, [...owed], isWhole)
      strand.deliver = deliver
      this.#steps.evaluate(strand, nowMs)
    }
  }

  /** The next update to send, with a slot taken for it; lanes that may not send are passed over. */
  next(at: Moment, maySend: (lane: Lane) => boolean): Flight | null {
    const { nowMs, monotonicMs } = at
    this.#steps.wake(nowMs)
    for (;;) {
      const lane = this.#turns.next(monotonicMs, maySend)
      if (lane === null) return null
      const flight = this.#takeOff(lane, at)
      this.feeder.feed(lane)
      if (flight) return flight
    }
  }

  /** The answer is in: the slot is free. The strand moves on only when the outcome is recorded. */
  answered(flight: Flight, verdict: Verdict, { nowMs, monotonicMs }: Moment): void {
    const { lane } = flight
    flight.answer()
    this.#turns.ended(lane)
    const { policy, policies } = this.#options
    lane.answered(verdict, policy, policies.circuit, monotonicMs, flight.startedAtMs)
    this.#turns.setSlow(lane, verdict.durationMs > SLOW_MS)
    if (lane.circuit.state !== 'CLOSED') this.#steps.shed(lane, nowMs)
    this.#turns.join(lane)
  }

  /** The attempt is recorded: `after` is what is left of the delivery, or null when it is final. */
  settle(flight: Flight, after: QueuedDelivery | null, nowMs: number): void {
    if (flight.state === 'landed') return
    const { strand, update: sent } = flight
    this.#land(flight)
    this.watches.note(sent.id)
    if (strand.isGone) {
      if (sent.isReplay) {
        this.#replays.readAgain(flight)
        this.#steps.evaluateSuccessor(strand, nowMs)
      } else this.#steps.readSuccessor(strand)
      return
    }
    if (after === null) {
      this.#room.forget(strand.lane, sent)
      this.#events.onEnded(sent)
      // Nearly always it was the only one.
      if (strand.owed.length === 1) strand.owed.length = 0
      else strand.owed = strand.owed.filter((owed) => owed.id !== sent.id)
      const isAhead = strand.owed.some((owed) => owed.sequence < sent.sequence)
      const isLatest = strand.deliver === 'latest' && strand.owed.length > 0
      // It was ahead of these, and of others that were not read, or the newest is among those: the database knows
      // which goes on.
      if (!strand.isComplete && (isAhead || isLatest)) this.#steps.readAgain(strand)
    } else {
      strand.owed = strand.owed.map((owed) => (owed.id === sent.id ? after : owed))
      // The newest of all is not among these: it goes now, and they do not.
      if (!strand.isComplete && strand.deliver === 'latest') this.#steps.readAgain(strand)
    }
    this.#steps.evaluate(strand, nowMs)
    this.feeder.feed(strand.lane)
  }

  /** The attempt could not be recorded: only the database knows what the delivery is now. */
  settleUnknown(flight: Flight, nowMs: number): void {
    if (flight.state === 'landed') return
    const { strand, update } = flight
    // Other replays of the payment are what they were: this one alone is read again.
    if (update.isReplay) this.#events.onTooEarly(update)
    else if (!strand.isGone) this.#room.drop(strand)
    this.settle(flight, null, nowMs)
    this.feeder.feed(flight.lane)
  }

  /** Gives the slot back: the attempt was never made. */
  callOff(flight: Flight, after: QueuedDelivery | null, nowMs: number): void {
    if (flight.state === 'landed') return
    this.#freeSlot(flight)
    if (after !== null && flight.update.isReplay && flight.strand.isGone) {
      // Without a note for what is being read: its row has not moved.
      this.#land(flight)
      this.#replays.giveBack(flight)
      this.#steps.evaluateSuccessor(flight.strand, nowMs)
    } else this.settle(flight, after, nowMs)
    this.#turns.join(flight.lane)
  }

  /**
   * The endpoint of a flight turns out not to be active: everything of it leaves memory, and the slot is
   * given back. Returns what was owed. Nothing is read again: the strand would come straight back, and go
   * round for as long as the endpoint is paused.
   */
  abandon(flight: Flight): readonly QueuedDelivery[] {
    if (flight.state === 'landed') return []
    // A lane that went on reading what is parked would only settle it again, page after page.
    flight.lane.parked.release()
    const removed = this.removeEndpoint(flight.update.endpointId)
    this.#freeSlot(flight)
    this.#land(flight)
    this.watches.note(flight.update.id)
    return [flight.update, ...removed]
  }

  /** The update in flight has superseded the older ones of its strand: they leave. */
  dropElders({ strand, update }: Flight): void {
    for (const owed of strand.owed) {
      if (owed.sequence >= update.sequence) continue
      this.watches.note(owed.id)
      this.#room.forget(strand.lane, owed)
      this.#events.onEnded(owed)
    }
    strand.owed = strand.owed.filter((owed) => owed.sequence >= update.sequence)
  }

  /** Attempts that have been under way for long make their lane a slow one; slow lanes share memory. */
  noticeSlow({ nowMs, monotonicMs }: Moment): void {
    for (const flight of this.#flights) {
      if (monotonicMs - flight.startedAtMs < SLOW_MS) break
      if (flight.state === 'under-way') this.#turns.setSlow(flight.lane, true)
    }
    const lanes = this.#room.shareOut(this.directory.all)
    for (const lane of lanes) this.#steps.shed(lane, nowMs)
  }

  /** Takes everything of an endpoint out of memory; returns what was not in flight. */
  removeEndpoint(endpointId: string): readonly QueuedDelivery[] {
    const lane = this.directory.find(endpointId)
    if (!lane) return []
    lane.parked.restart()
    const removed: QueuedDelivery[] = []
    for (const strand of [...lane.strands.values()]) {
      const inFlight = strand.flight?.update
      for (const owed of strand.owed) if (owed !== inFlight) removed.push(owed)
      this.#room.drop(strand)
    }
    return removed
  }

  removeShard(shard: number): void {
    for (const lane of [...this.directory.all]) {
      if (lane.shard !== shard) continue
      lane.parked.release()
      this.removeEndpoint(lane.endpointId)
    }
  }

  /** Attempts of the shard that are under way or not yet recorded. */
  unsettledOf(shard: number): number {
    let count = 0
    for (const { lane } of this.#flights) if (lane.shard === shard) count++
    return count
  }

  #takeOff(lane: Lane, { nowMs, monotonicMs }: Moment): Flight | null {
    for (let strand = lane.ready.shift(); strand; strand = lane.ready.shift()) {
      if (strand.isGone) continue
      const step = this.#steps.nextStep(strand, nowMs)
      if (step.kind === 'wait') {
        strand.rest()
        this.#steps.evaluate(strand, nowMs)
        continue
      }
      const flight = strand.takeOff(step.update, step.kind, monotonicMs)
      this.#flights.add(flight)
      this.#turns.started(lane)
      lane.started(this.#options.policy, monotonicMs, lane.parked.areParked)
      return flight
    }
    return null
  }

  /** An answer has freed it already. */
  #freeSlot({ state, lane }: Flight): void {
    if (state === 'answered') return
    this.#turns.ended(lane)
    lane.calledOff()
  }

  #land(flight: Flight): void {
    const { strand, lane } = flight
    flight.land()
    this.#flights.delete(flight)
    if (strand.isGone) lane.departed?.delete(strand.key)
  }
}
