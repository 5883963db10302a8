// The clock that is handed down: the database's time as it was last read, plus the monotonic time
// since. So a machine whose own clock is wrong neither sends early nor gives up early.

import type { Clock } from './core/clock.ts'

/** A reading that took longer than this says too little about when it was true. */
const ROUND_TRIP_MS_MAX = 2_000

export class DatabaseClock implements Clock {
  readonly #monotonicMs: () => number
  #offsetMs: number
  #isAnchored = false

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
    return this.#isAnchored
  }

  nowMs(): number {
    return this.#offsetMs + this.#monotonicMs()
  }

  monotonicMs(): number {
    return this.#monotonicMs()
  }

  /** The database's time, read at some moment between the two given ones. */
  adjust(databaseMs: number, sentAtMs: number, receivedAtMs: number): void {
    // Any reading is better than none: the machine's own clock may be wrong by days.
    if (this.#isAnchored && receivedAtMs - sentAtMs > ROUND_TRIP_MS_MAX) return
    this.#isAnchored = true
    this.#offsetMs = databaseMs - (sentAtMs + receivedAtMs) / 2
  }
}
