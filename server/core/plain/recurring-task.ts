// A task that comes again some time after it has ended, so two of it never overlap. It deals with what the world does to
// it. If it rejects, it has met a fault of our own, such as a strand that leaves twice: memory is then wrong, and order
// rests on it. So nothing here catches it: Node ends the process, and others take over.

/** Returns a function that cancels the timer. */
export type SetTimer = (ms: number, task: () => void) => () => void

export class RecurringTask {
  readonly #setTimer: SetTimer
  readonly #afterMs: () => number
  readonly #task: () => Promise<void>
  #callOff: () => void = () => {}
  #underWay: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(setTimer: SetTimer, afterMs: () => number, task: () => Promise<void>) {
    this.#setTimer = setTimer
    this.#afterMs = afterMs
    this.#task = task
  }

  start(): void {
    this.#callOff = this.#setTimer(this.#afterMs(), () => {
      this.#underWay = this.#task().then(() => {
        if (!this.#isStopped) this.start()
      })
    })
  }

  /** It does not begin again; resolves when the one under way is over. */
  stop(): Promise<void> {
    this.#isStopped = true
    this.#callOff()
    return this.#underWay
  }
}
