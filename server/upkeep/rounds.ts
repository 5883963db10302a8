// Round after round: the next is set when the one before is over, so two never overlap.

/** Returns what calls it off. */
export type SetTimer = (ms: number, run: () => void) => () => void

export class Rounds {
  readonly #setTimer: SetTimer
  readonly #afterMs: () => number
  readonly #round: () => Promise<void>
  #callOff: () => void = () => {}
  #underWay: Promise<void> = Promise.resolve()
  #isStopped = false

  /** `round` never rejects. */
  constructor(setTimer: SetTimer, afterMs: () => number, round: () => Promise<void>) {
    this.#setTimer = setTimer
    this.#afterMs = afterMs
    this.#round = round
  }

  start(): void {
    this.#callOff = this.#setTimer(this.#afterMs(), () => {
      this.#underWay = this.#round().then(() => {
        if (!this.#isStopped) this.start()
      })
    })
  }

  /** No round begins any more; returns when the one under way is over. */
  stop(): Promise<void> {
    this.#isStopped = true
    this.#callOff()
    return this.#underWay
  }
}

export const setTimer: SetTimer = (ms, run) => {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}

/** Timers that do not keep the process alive. */
export const setUnheldTimer: SetTimer = (ms, run) => {
  const timer = setTimeout(run, ms)
  timer.unref()
  return () => clearTimeout(timer)
}
