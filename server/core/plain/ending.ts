// The end of something that lasts, for those who wait for something else meanwhile. Promise.race would leave each of
// them, with what it came to, at a promise that is settled days later.

export class Ending {
  readonly #waiting = new Set<() => void>()
  #isOver = false

  get isOver(): boolean {
    return this.#isOver
  }

  end(): void {
    this.#isOver = true
    for (const wake of this.#waiting) wake()
  }

  /** Null where the end comes first. */
  async orEnd<T>(promise: Promise<T>): Promise<T | null> {
    const { promise: over, resolve } = Promise.withResolvers<null>()
    const wake = () => resolve(null)
    if (this.#isOver) wake()
    this.#waiting.add(wake)
    try {
      return await Promise.race([promise, over])
    } finally {
      this.#waiting.delete(wake)
    }
  }
}
