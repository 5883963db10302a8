// The round robin of lanes that can move. Proven lanes and slow ones (unknown endpoints included) have slots of
// their own: the attempts of a lane that turns out to be slow leave the slots of the proven, and all slow ones
// together get half as many. Idle and blocked lanes cost nothing.

import { DueHeap } from './due-heap.ts'
import type { Lane } from './lane.ts'
import { Queue } from './queue.ts'

export class Turns {
  readonly #slots: number
  readonly #fast = new Queue<Lane>()
  readonly #slow = new Queue<Lane>()
  readonly #waiting = new DueHeap<Lane>()
  #fastInFlight = 0
  #slowInFlight = 0
  #startWithSlow = false

  constructor(slots: number) {
    this.#slots = slots
  }

  get inFlight(): number {
    return this.#fastInFlight + this.#slowInFlight
  }

  /** When a lane that has to wait may start an attempt; as all times here, by the monotonic clock. */
  get nextStartAtMs(): number {
    return this.#waiting.nextDueAtMs
  }

  /** The lane has something to send: it takes part. */
  join(lane: Lane): void {
    if (lane.isTurning || lane.ready.length === 0) return
    lane.isTurning = true
    const ring = lane.isSlow ? this.#slow : this.#fast
    ring.push(lane)
  }

  /** The next lane that may start an attempt now. */
  next(nowMs: number, maySend: (lane: Lane) => boolean): Lane | null {
    for (let lane = this.#waiting.take(nowMs); lane; lane = this.#waiting.take(nowMs)) {
      this.join(lane)
    }
    // Alternates, so that neither kind of lane starves the other while both have slots.
    this.#startWithSlow = !this.#startWithSlow
    // The first kind once more: looking at the second moves lanes over that have changed their kind.
    return this.#startWithSlow
      ? (this.#nextSlow(nowMs, maySend) ??
          this.#nextFast(nowMs, maySend) ??
          this.#nextSlow(nowMs, maySend))
      : (this.#nextFast(nowMs, maySend) ??
          this.#nextSlow(nowMs, maySend) ??
          this.#nextFast(nowMs, maySend))
  }

  started(lane: Lane): void {
    if (lane.isSlow) this.#slowInFlight++
    else this.#fastInFlight++
  }

  ended(lane: Lane): void {
    if (lane.isSlow) this.#slowInFlight--
    else this.#fastInFlight--
  }

  /** Its attempts in flight move to the slots of its new kind. */
  setSlow(lane: Lane, isSlow: boolean): void {
    if (lane.isSlow === isSlow) return
    lane.isSlow = isSlow
    const moved = isSlow ? lane.inFlight : -lane.inFlight
    this.#slowInFlight += moved
    this.#fastInFlight -= moved
  }

  #nextFast(nowMs: number, maySend: (lane: Lane) => boolean): Lane | null {
    return this.#fastInFlight < this.#slots ? this.#pick(this.#fast, nowMs, maySend) : null
  }

  #nextSlow(nowMs: number, maySend: (lane: Lane) => boolean): Lane | null {
    return this.#slowInFlight < this.#slots / 2 ? this.#pick(this.#slow, nowMs, maySend) : null
  }

  #pick(ring: Queue<Lane>, nowMs: number, maySend: (lane: Lane) => boolean): Lane | null {
    // Once around, and once more whenever a lane has paid off a turn instead of taking one.
    let hasPaid = false
    for (let left = ring.length; left > 0 || hasPaid; left--) {
      if (left === 0) {
        left = ring.length
        hasPaid = false
      }
      const lane = ring.shift() as Lane
      lane.isTurning = false
      // It is in the ring of its former kind, and moves to the other one.
      if (lane.isSlow !== (ring === this.#slow)) {
        this.join(lane)
        continue
      }
      if (lane.ready.length === 0) continue
      const startsAtMs = lane.startsAtMs(nowMs)
      if (startsAtMs > nowMs) {
        // Infinity: the end of one of its attempts lets it join again.
        if (Number.isFinite(startsAtMs)) this.#waiting.push(startsAtMs, lane)
        continue
      }
      this.join(lane)
      if (lane.debt > 0) {
        lane.debt--
        hasPaid = true
        continue
      }
      if (maySend(lane)) return lane
    }
    return null
  }
}
