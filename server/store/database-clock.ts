// The clock that is handed down: the database's time as it was last read, plus the monotonic time
// since. So a machine whose own clock is wrong neither sends early nor gives up early.

import type { Clock } from '../core/clock.ts'

/** A reading that took longer than this says little about when it was true: wrong by half of it at worst. */
const ROUND_TRIP_MS_MAX = 2_000

export class DatabaseClock implements Clock {
  readonly #monotonicMs: () => number
  #offsetMs: number
  /** What the reading in use has taken. */
  #roundTripMs = Number.POSITIVE_INFINITY

  /** Until the database has been asked, the machine's own clock has to do. */
  constructor(
    wallMs: () => number = Date.now,
    monotonicMs: () => number = () => performance.now(),
  ) {
    this.#monotonicMs = monotonicMs
    this.#offsetMs = wallMs() - monotonicMs()
  }

  /** False until the database has been asked: nothing may be accepted or sent by such a clock. */
  get isAnchored(): boolean {
    return this.#roundTripMs < Number.POSITIVE_INFINITY
  }

  nowMs(): number {
    return this.#offsetMs + this.#monotonicMs()
  }

  monotonicMs(): number {
    return this.#monotonicMs()
  }

  /** The database's time, read at some moment between the two given ones. */
  adjust(databaseMs: number, sentAtMs: number, receivedAtMs: number): void {
    const roundTripMs = receivedAtMs - sentAtMs
    // Any reading is better than none, since the machine's own clock may be wrong by days; and a slow one
    // is better than a slower one.
    if (roundTripMs > ROUND_TRIP_MS_MAX && roundTripMs >= this.#roundTripMs) return
    this.#roundTripMs = roundTripMs
    this.#offsetMs = databaseMs - (sentAtMs + receivedAtMs) / 2
  }
}
