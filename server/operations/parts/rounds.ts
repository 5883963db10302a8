// Recurring work: the next round is scheduled when the one before is over, so two never overlap.

/** Returns a function that cancels the timer. */
export type SetTimer = (ms: number, task: () => void) => () => void

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

  /** No further round begins; resolves when the one under way is over. */
  stop(): Promise<void> {
    this.#isStopped = true
    this.#callOff()
    return this.#underWay
  }
}

export const setTimer: SetTimer = (ms, task) => {
  const timer = setTimeout(task, ms)
  return () => clearTimeout(timer)
}

/** Timers that do not keep the process alive. */
export const setUnheldTimer: SetTimer = (ms, task) => {
  const timer = setTimeout(task, ms)
  timer.unref()
  return () => clearTimeout(timer)
}
