// Work on bodies so large that it holds the loop for tens of milliseconds: reading 14 MB of JSON, decoding a
// file, hashing it several times over. One piece of it in a turn of the loop, and everything else has a turn
// in between: many large bodies that arrive together would otherwise hold up the whole process for a second.

/** Reading less takes a millisecond. */
export const LARGE_BYTES_MIN = 256 * 1_024

export class LargeWork {
  readonly #waiting: (() => void)[] = []
  #isTurnAsked = false

  /** What `step` gives, once its turn has come. */
  run<T>(step: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => {
        try {
          resolve(step())
        } catch (error) {
          reject(error as Error)
        }
      })
      this.#askForTurn()
    })
  }

  #askForTurn(): void {
    if (this.#isTurnAsked || this.#waiting.length === 0) return
    this.#isTurnAsked = true
    setImmediate(() => {
      this.#isTurnAsked = false
      this.#waiting.shift()?.()
      this.#askForTurn()
    })
  }
}
