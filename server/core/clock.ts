// Time is handed in. `nowMs` is anchored to the database's clock, so that all processes agree;
// `monotonicMs` never jumps and is the only one that measures spans.

export interface Clock {
  nowMs(): number
  monotonicMs(): number
  /** True for some minutes after `nowMs` has jumped ahead: nothing is given up, disabled or forgotten by it. */
  readonly hasJumped?: boolean
}
