// Time is handed in. `nowMs` is anchored to the database's clock, so that all processes agree;
// `monotonicMs` never jumps and is the only one that measures durations.

/** One moment by both clocks: when rows are due, and how long something has lasted in this process. */
export interface Moment {
  readonly nowMs: number
  readonly monotonicMs: number
}

export interface Clock {
  nowMs(): number
  monotonicMs(): number
  /** True for some minutes after `nowMs` has jumped ahead: nothing is given up, disabled or forgotten by it. */
  readonly hasJumped?: boolean
}

export function momentOf(clock: Clock): Moment {
  return { nowMs: clock.nowMs(), monotonicMs: clock.monotonicMs() }
}
