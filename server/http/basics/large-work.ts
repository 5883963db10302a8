// Work that would block the event loop for tens of milliseconds: reading 14 MB of JSON, decoding a file, hashing it
// several times, trying dozens of spellings. One step in each iteration of the loop, in turn, so that other work goes
// in between: many large bodies that arrive together would otherwise block the process for a second.

import type { Steps } from '../../core/plain/steps.ts'

/** Reading less takes a millisecond. */
export const LARGE_BYTES_MIN = 256 * 1_024

/** Steps that are shorter are joined until so much is spent: an iteration for each would make them late. */
const SLICE_MS = 5

export class LargeWork {
  readonly #waiting: (() => void)[] = []
  readonly #monotonicMs: () => number
  #isScheduled = false

  constructor(monotonicMs: () => number = () => performance.now()) {
    this.#monotonicMs = monotonicMs
  }

  /** Resolves with the result of `step`, once it has run. */
  run<T>(step: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#enqueue(() => {
        try {
          resolve(step())
        } catch (error) {
          reject(error as Error)
        }
      })
    })
  }

  /** Resolves with the result of the last step. What has more to do goes to the end of the line. */
  async runSteps<T>(steps: Steps<T>): Promise<T> {
    for (;;) {
      const slice = await this.run(() => this.#runSlice(steps))
      if (slice.done) return slice.value
    }
  }

  #runSlice<T>(steps: Steps<T>): IteratorResult<void, T> {
    const endMs = this.#monotonicMs() + SLICE_MS
    for (;;) {
      const step = steps.next()
      if (step.done || this.#monotonicMs() >= endMs) return step
    }
  }

  #enqueue(step: () => void): void {
    this.#waiting.push(step)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#waiting.shift()?.()
      this.#schedule()
    })
  }
}
