// One limit on time: calls back when the time is over, unless it is cleared before. It is never over early:
// Node counts a timer from the loop's last look at the clock, so after a busy moment a timer fires too soon.

export class TimeLimit {
  readonly #monotonicMs: () => number
  readonly #onOver: () => void
  #endsAtMs = 0
  #timer: NodeJS.Timeout | null = null

  constructor(monotonicMs: () => number, onOver: () => void) {
    this.#monotonicMs = monotonicMs
    this.#onOver = onOver
  }

  /** Starts the limit, or moves it. */
  set(endsAtMs: number): void {
    this.clear()
    this.#endsAtMs = endsAtMs
    this.#wait(endsAtMs - this.#monotonicMs())
  }

  /** Harmless when none is set. */
  clear(): void {
    if (this.#timer === null) return
    clearTimeout(this.#timer)
    this.#timer = null
  }

  #wait(ms: number): void {
    this.#timer = setTimeout(() => this.#look(), Math.ceil(ms))
  }

  /** The timer has fired: the time is over, or a rest of it is left. */
  #look(): void {
    this.#timer = null
    const leftMs = this.#endsAtMs - this.#monotonicMs()
    if (leftMs > 0) this.#wait(leftMs)
    else this.#onOver()
  }
}
