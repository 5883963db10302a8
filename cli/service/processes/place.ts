// The place of one serving process, under its number: when the process ends, another is started after a pause, which grows
// while they end soon; and one that runs can be replaced, without a moment in which there is none.

import type { End, ServingProcess } from './serving-process.ts'

export interface PlaceParts {
  fork(number: number): ServingProcess
  onEnded(one: ServingProcess, end: End, pauseMs: number): void
  /** How long one that was replaced may take to end. */
  stopMsMax: number
}

/** One that has served for so long did not end because of how it was started. */
const STEADY_MS = 10_000
const PAUSE_MS = 200
const PAUSE_MS_MAX = 30_000

/** How long to wait before another start, after so many that have ended soon, one after the other. */
export function restartPauseMs(soonEnded: number): number {
  return Math.min(PAUSE_MS_MAX, PAUSE_MS * 2 ** soonEnded)
}

export class Place {
  readonly #number: number
  readonly #parts: PlaceParts
  /** Null while none is here, or not yet. */
  #current: ServingProcess | null = null
  #isRenewing = false
  #isClosed = false
  #soonEnded = 0
  #pause: NodeJS.Timeout | undefined

  constructor(number: number, parts: PlaceParts) {
    this.#number = number
    this.#parts = parts
  }

  start(): void {
    this.#take(this.#parts.fork(this.#number))
  }

  /**
   * Starts a process and, once it is ready, lets it take the place of the one that is here, if any. Returns the end of one
   * that was never ready: then all is as before.
   */
  async renew(): Promise<End | null> {
    const old = this.#current
    const next = this.#parts.fork(this.#number)
    this.#isRenewing = true
    const isReady = await next.becomesReady
    this.#isRenewing = false
    if (!isReady) {
      const wasLeft = old !== null && this.#current === null
      if (wasLeft) this.#startLater()
      return next.ended
    }
    this.#take(next)
    old?.say('replaced')
    await old?.endsWithin(this.#parts.stopMsMax)
    return null
  }

  /** True while a process is here that could be replaced; otherwise a new one is about to be started anyway. */
  get isTaken(): boolean {
    return this.#current !== null
  }

  /** Starts no more. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#pause)
  }

  #take(one: ServingProcess): void {
    this.#current = one
    void one.ended.then((end) => {
      if (this.#current !== one) return
      this.#current = null
      this.#soonEnded = end.servedMs >= STEADY_MS ? 0 : this.#soonEnded + 1
      if (this.#isClosed) return
      this.#parts.onEnded(one, end, restartPauseMs(this.#soonEnded))
      if (!this.#isRenewing) this.#startLater()
    })
  }

  #startLater(): void {
    if (this.#isClosed) return
    this.#pause = setTimeout(() => this.start(), restartPauseMs(this.#soonEnded))
  }
}
