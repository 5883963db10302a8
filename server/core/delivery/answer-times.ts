// How long an endpoint's answers take while few are in flight, and whether they take longer now. Averages of
// many are compared: one slow answer says nothing. What is usual is measured with few in flight, and again where
// answers have slowed down and the measure is old: the endpoint may have become slower for good.

export interface AnswerTimes {
  readonly usualMs: number
  readonly measuredAtMs: number
}

export const NEVER_MEASURED: AnswerTimes = {
  usualMs: Number.POSITIVE_INFINITY,
  measuredAtMs: Number.NEGATIVE_INFINITY,
}

/** `slower`: more at once would only make it slower. `pressed`: even what is in flight is too much. */
export type Slowdown = 'none' | 'slower' | 'pressed'

/** A measure holds for so long. */
const MEASURED_EVERY_MS = 60_000
/** Where answers take twice as long, twice as many at once bring nothing. */
const SLOWER_TIMES = 2
/** Timers, sockets and a busy processor of our own make a quick answer so much later. */
const SLOWER_MS = 5
const PRESSED_MS = 10

/** The average of answers with as many in flight as the window allows. */
export function afterFullWindow(times: AnswerTimes, averageMs: number): AnswerTimes {
  return averageMs < times.usualMs ? { ...times, usualMs: averageMs } : times
}

export function slowdownOf({ usualMs }: AnswerTimes, averageMs: number): Slowdown {
  if (averageMs > usualMs * SLOWER_TIMES + PRESSED_MS) return 'pressed'
  return averageMs > usualMs * SLOWER_TIMES + SLOWER_MS ? 'slower' : 'none'
}

/** True when what is usual has to be measured again. */
export function isOutdated(times: AnswerTimes, slowdown: Slowdown, nowMs: number): boolean {
  return slowdown !== 'none' && nowMs - times.measuredAtMs >= MEASURED_EVERY_MS
}
