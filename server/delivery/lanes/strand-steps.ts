// What a strand in memory does next: it is ready, waits for a later time, or leaves. Lane, heap, turns and room are kept
// in step here; `Lanes` says when.

import type { QueuedDelivery } from '../../core/delivery/queued-delivery.ts'
import { type NextStep, nextReplay, nextStep } from '../../core/delivery/strand.ts'
import { DueHeap } from './due-heap.ts'
import type { Lane, Strand } from './lane.ts'
import type { LaneEvents } from './lane-events.ts'
import type { LaneRoom } from './lane-room.ts'
import { turnAway } from './turned-away.ts'
import type { Turns } from './turns.ts'

export interface StrandStepsOptions {
  policies: { readonly patienceMs: number }
  /** A strand that waits longer than this leaves memory; the database knows when it is due. */
  keepMsMax: number
}

export class StrandSteps {
  readonly #options: StrandStepsOptions
  readonly #room: LaneRoom
  readonly #turns: Turns
  readonly #events: LaneEvents
  readonly #waiting = new DueHeap<Strand>()

  constructor(options: StrandStepsOptions, room: LaneRoom, turns: Turns, events: LaneEvents) {
    this.#options = options
    this.#room = room
    this.#turns = turns
    this.#events = events
  }

  get nextDueAtMs(): number {
    return this.#waiting.nextDueAtMs
  }

  /** Judges those again whose time has come. */
  wake(nowMs: number): void {
    for (let strand = this.#waiting.take(nowMs); strand; strand = this.#waiting.take(nowMs)) {
      this.evaluate(strand, nowMs)
    }
  }

  /** Judges what a strand may do next, unless it is busy, or a departed flight of its payment is. */
  evaluate(strand: Strand, nowMs: number): void {
    const { lane, state } = strand
    if (state.is !== 'resting' && state.is !== 'waiting') return
    if (lane.departed?.has(strand.key)) return
    lane.waiting?.delete(strand)
    strand.rest()
    if (strand.owed.length === 0) {
      this.#room.drop(strand)
      if (!strand.isComplete) this.#events.onReloadNeeded(strand)
      return
    }
    const step = this.nextStep(strand, nowMs)
    if (step.kind !== 'wait') {
      strand.getReady()
      lane.ready.push(strand)
      this.#turns.join(lane)
    } else if (step.untilMs - nowMs <= this.#options.keepMsMax) {
      strand.wait()
      lane.waiting ??= new Set()
      lane.waiting.add(strand)
      this.#waiting.push(step.untilMs, strand)
    } else {
      const blocked = strand.owed.filter((owed) => owed.nextAttemptAtMs < step.untilMs)
      this.#room.drop(strand)
      if (blocked.length > 0) this.#events.onPostponed(blocked, step.untilMs)
    }
  }

  nextStep({ owed, deliver }: Strand, nowMs: number): NextStep<QueuedDelivery> {
    if (owed[0]?.isReplay) return nextReplay(owed, nowMs)
    return nextStep(owed, this.#options.policies.patienceMs, nowMs, deliver ?? 'every')
  }

  /** A strand that only waits for a later time makes room for one that is due. */
  makeRoom(lane: Lane, due: QueuedDelivery, nowMs: number): boolean {
    const [strand] = lane.waiting ?? []
    if (strand === undefined || due.nextAttemptAtMs > nowMs) return false
    this.#room.drop(strand)
    for (const owed of strand.owed) this.#events.onTooEarly(owed)
    return !this.#room.isFull(lane)
  }

  /** What a lane has no more room for leaves memory. */
  shed(lane: Lane, nowMs: number): void {
    const left: QueuedDelivery[] = []
    for (const strand of this.#room.surplusOf(lane)) {
      this.#room.drop(strand)
      left.push(...strand.owed)
    }
    turnAway(this.#events, lane, left, nowMs)
  }

  readAgain(strand: Strand): void {
    this.#room.drop(strand)
    this.#events.onReloadNeeded(strand)
  }

  /** Those that were read while a flight of their payment was under way, and have waited for it. */
  evaluateSuccessor({ lane, key }: Strand, nowMs: number): void {
    const successor = lane.strands.get(key)
    if (successor) this.evaluate(successor, nowMs)
  }

  /** A strand that was read, or is being read, during the flight knows nothing of its outcome. */
  readSuccessor(strand: Strand): void {
    const successor = strand.lane.strands.get(strand.key)
    if (successor) this.#room.drop(successor)
    this.#events.onReloadNeeded(successor ?? strand)
  }
}
