// Work on bodies so large that it blocks the event loop for tens of milliseconds: reading 14 MB of JSON,
// decoding a file, hashing it several times. One step in each iteration of the loop, so that other work goes
// in between: many large bodies that arrive together would otherwise block the process for a second.

/** Reading less takes a millisecond. */
export const LARGE_BYTES_MIN = 256 * 1_024

export class LargeWork {
  readonly #waiting: (() => void)[] = []
  #isScheduled = false

  /** Resolves with the result of `step`, once it has run. */
  run<T>(step: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => {
        try {
          resolve(step())
        } catch (error) {
          reject(error as Error)
        }
      })
      this.#schedule()
    })
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
