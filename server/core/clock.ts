// Time is handed in. `nowMs` is anchored to the database's clock, so that all processes agree;
// `monotonicMs` never jumps and is the only one that measures spans.

export interface Clock {
  nowMs(): number
  monotonicMs(): number
}
