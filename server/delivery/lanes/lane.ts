// A lane is one endpoint's queue in memory, a strand one payment's updates in it, a flight one update of a
// strand from when it takes a slot until its outcome is on disk. They refer to each other and share a file.
// Which update of a strand may go is decided in core/delivery/strand. `Lanes` alone moves
// strands and flights, with its `LaneRoom`, which drops strands.
//
// A strand is always in one of these states:
//
// - `resting`: in memory, and not judged yet. It stays so while a flight of the same payment is under way
//   that began before the strand left memory and was read again (`Lane.departed`); it then leaves memory.
// - `waiting`: its next update waits for a time. In `Lane.waiting` and in the heap of `Lanes`.
// - `ready`: one of its updates may go. In `Lane.ready`.
// - `flying`: one of its updates is in flight.
// - `gone`: out of memory, for good. A queue or heap that still holds it skips it.
//
//     resting ─wait─▶ waiting ─rest─▶ resting        takes up again what may go by now
//     resting ─getReady─▶ ready ─takeOff─▶ flying ─rest─▶ resting    the flight has landed
//                         ready ─rest─▶ resting      its time was moved before the lane got a turn
//     resting, waiting, ready, flying ─leave─▶ gone  delivered, no room, endpoint changed, shard lost
//
// A flight is always in one of these states, whether or not its strand is still in memory:
//
// - `under-way`: holds a slot.
// - `answered`: the answer is in and the slot is free; the outcome is not recorded.
// - `landed`: over, for good.
//
//     under-way ─answer─▶ answered ─land─▶ landed
//     under-way ─land─▶ landed                       called off: nothing was sent

import { CLOSED_CIRCUIT } from '../../core/delivery/circuit.ts'
import type { DeliverMode } from '../../core/delivery/endpoint-settings.ts'
import type { QueuedDelivery } from '../../core/delivery/queued-delivery.ts'
import { LanePace } from './lane-pace.ts'
import { ParkedRows } from './parked-rows.ts'
import { Queue } from './queue.ts'

export class Lane extends LanePace {
  readonly clientKey: number
  readonly endpointId: string
  readonly shard: number
  /** By their keys. */
  readonly strands = new Map<string, Strand>()
  readonly ready = new Queue<Strand>()
  // Null until there is one: most of very many endpoints are sent one update now and then, and never have either.
  waiting: Set<Strand> | null = null
  /** Flights whose strand is gone, by its key: one payment's updates are in flight one at a time, even
   *  when its strand is read again before the outcome is on disk. */
  departed: Map<string, Flight> | null = null
  readonly parked = new ParkedRows()
  /** Deliveries in memory. */
  count = 0
  /** Set by `Turns` alone: the lane is in the ring of lanes that can move. */
  isTurning = false

  constructor(of: { clientKey: number; endpointId: string; shard: number }) {
    super()
    this.clientKey = of.clientKey
    this.endpointId = of.endpointId
    this.shard = of.shard
  }

  /** True when the lane holds no state worth keeping. */
  get isForgettable(): boolean {
    return (
      this.strands.size === 0 &&
      (this.departed?.size ?? 0) === 0 &&
      this.inFlight === 0 &&
      this.parked.state.is === 'none' &&
      this.circuit === CLOSED_CIRCUIT
    )
  }
}

export type StrandState =
  | { readonly is: 'resting' | 'waiting' | 'ready' | 'gone' }
  | { readonly is: 'flying'; readonly flight: Flight }

// Shared, because tens of thousands of strands exist.
const RESTING: StrandState = { is: 'resting' }
const WAITING: StrandState = { is: 'waiting' }
const READY: StrandState = { is: 'ready' }
const GONE: StrandState = { is: 'gone' }

export class Strand {
  /** Its name within the lane. */
  readonly key: string
  readonly paymentId: string
  readonly lane: Lane
  /** In sequence. Of replays those that are in memory: others may be owed, and nothing waits for them. */
  owed: QueuedDelivery[]
  /** As its endpoint asked; null while it is not known, and then the strand holds one update at most. An endpoint
   *  that is changed has its strands read again. */
  deliver: DeliverMode | null = null
  #state: StrandState = RESTING
  #isComplete: boolean

  /** `owed` becomes the strand's: at least one, all of the same payment. */
  constructor(lane: Lane, owed: QueuedDelivery[], isComplete: boolean) {
    const first = owed[0] as QueuedDelivery
    this.key = strandKey(first)
    this.paymentId = first.paymentId
    this.lane = lane
    this.owed = owed
    this.#isComplete = isComplete
  }

  get state(): StrandState {
    return this.#state
  }

  get isGone(): boolean {
    return this.#state.is === 'gone'
  }

  /** What is in flight of it. */
  get flight(): Flight | null {
    return this.#state.is === 'flying' ? this.#state.flight : null
  }

  /** False: updates are owed that were not read. When those in memory are done, the strand is read again. */
  get isComplete(): boolean {
    return this.#isComplete
  }

  /** An update of it was left in the database. */
  noteUnread(): void {
    this.#isComplete = false
  }

  wait(): void {
    this.#move('resting', WAITING)
  }

  getReady(): void {
    this.#move('resting', READY)
  }

  /** Takes a slot for one of its updates: to be sent, or to end because its 7 days are over. */
  takeOff(update: QueuedDelivery, purpose: 'send' | 'end', monotonicMs: number): Flight {
    const flight = new Flight(this, update, purpose, monotonicMs)
    this.#move('ready', { is: 'flying', flight })
    return flight
  }

  rest(): void {
    if (this.#state.is === 'gone') throw new Error('a strand that is gone does not move')
    this.#state = RESTING
  }

  leave(): void {
    if (this.#state.is === 'gone') throw new Error('a strand leaves once')
    this.#state = GONE
  }

  #move(from: StrandState['is'], to: StrandState): void {
    if (this.#state.is !== from)
      throw new Error(`a strand does not go ${this.#state.is} → ${to.is}`)
    this.#state = to
  }
}

export class Flight {
  readonly strand: Strand
  readonly update: QueuedDelivery
  /** `end`: the 7 days of the update are over, and it ends without an attempt. */
  readonly purpose: 'send' | 'end'
  /** By the monotonic clock. */
  readonly startedAtMs: number
  #state: 'under-way' | 'answered' | 'landed' = 'under-way'
  #isOvertaken = false

  constructor(
    strand: Strand,
    update: QueuedDelivery,
    purpose: 'send' | 'end',
    startedAtMs: number,
  ) {
    this.strand = strand
    this.update = update
    this.purpose = purpose
    this.startedAtMs = startedAtMs
  }

  get state(): 'under-way' | 'answered' | 'landed' {
    return this.#state
  }

  get lane(): Lane {
    return this.strand.lane
  }

  /** Under `latest`: a newer update is known. What has not been sent yet is called off in its favour. */
  get isOvertaken(): boolean {
    return this.#isOvertaken
  }

  overtakeBy(newer: QueuedDelivery): void {
    if (newer.sequence > this.update.sequence) this.#isOvertaken = true
  }

  answer(): void {
    if (this.#state !== 'under-way') throw new Error(`a flight that is ${this.#state} has no slot`)
    this.#state = 'answered'
  }

  land(): void {
    if (this.#state === 'landed') throw new Error('a flight lands once')
    this.#state = 'landed'
    if (this.strand.flight === this) this.strand.rest()
  }
}

/** The payment's id as it is, not a text of its own. Replays keep no order among other updates: those of a
 *  payment are a strand of their own. */
export function strandKey(delivery: QueuedDelivery): string {
  return delivery.isReplay ? `replay/${delivery.paymentId}` : delivery.paymentId
}
