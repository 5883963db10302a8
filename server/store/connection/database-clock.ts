// The clock that is handed down: the database's time as it was last read, plus the monotonic time
// since. So a machine whose own clock is wrong neither sends early nor gives up early. A database whose clock jumps
// ahead is followed at once, but for what cannot be undone, which waits until the jump has lasted (decision 0059).

import type { Clock } from '../../core/plain/clock.ts'

/** A reading that took longer than this says little about when it was true: wrong by half of it at worst. */
const ROUND_TRIP_MS_MAX = 2_000

/** A reading that is further ahead of this clock is a jump. Readings of the same clock differ by a second or two. */
const JUMP_MS_MIN = 60_000
/** A jump that has lasted for so long, through some two hundred readings, is the time. */
const DOUBT_MS = 10 * 60_000

export class DatabaseClock implements Clock {
  readonly #monotonicMs: () => number
  #offsetMs: number
  /** What the reading in use has taken. */
  #roundTripMs = Number.POSITIVE_INFINITY
  #doubtfulUntilMonotonicMs = Number.NEGATIVE_INFINITY

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

  get hasJumped(): boolean {
    return this.#monotonicMs() < this.#doubtfulUntilMonotonicMs
  }

  /**
   * The database's time, read at some moment between the two given ones. Returns by how much it has jumped ahead, 0
   * where it has not. The first reading is held against the machine's own clock.
   */
  adjust(databaseMs: number, sentAtMs: number, receivedAtMs: number): number {
    const roundTripMs = receivedAtMs - sentAtMs
    // Any reading is better than none, since the machine's own clock may be wrong by days; and a slow one
    // is better than a slower one.
    if (roundTripMs > ROUND_TRIP_MS_MAX && roundTripMs >= this.#roundTripMs) return 0
    const offsetMs = databaseMs - (sentAtMs + receivedAtMs) / 2
    const aheadMs = offsetMs - this.#offsetMs
    this.#roundTripMs = roundTripMs
    this.#offsetMs = offsetMs
    if (aheadMs < JUMP_MS_MIN) return 0
    this.#doubtfulUntilMonotonicMs = this.#monotonicMs() + DOUBT_MS
    return aheadMs
  }
}
