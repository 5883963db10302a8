// Loaded before anything else (--import): this process's wall clock is wrong by CHAOS_CLOCK_SHIFT_MS
// (F10). Only what asks the machine for the time is fooled; monotonic clocks go on.

const shiftMs = Number(process.env.CHAOS_CLOCK_SHIFT_MS ?? 0)
const RealDate = Date

class ShiftedDate extends RealDate {
  constructor(...given: [] | ConstructorParameters<DateConstructor>) {
    if (given.length === 0) super(RealDate.now() + shiftMs)
    else super(...(given as ConstructorParameters<DateConstructor>))
  }

  static override now(): number {
    return RealDate.now() + shiftMs
  }
}

globalThis.Date = ShiftedDate as DateConstructor
