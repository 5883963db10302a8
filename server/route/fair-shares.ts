// A number of slots that many ask for. Half of them anyone may take; beyond that nobody holds more than a tenth of all,
// so that one caller alone never keeps the others out. Pure.

export class FairShares {
  readonly #max: number
  readonly #ofKeys = new Map<string, number>()
  #taken = 0

  constructor(max: number) {
    this.#max = max
  }

  get taken(): number {
    return this.#taken
  }

  /** Returns the function that gives the slot back, which may be called twice; null when there is none for these. */
  take(keys: readonly string[]): (() => void) | null {
    const shareMax = Math.max(1, Math.floor(this.#max / 10))
    const isScarce = this.#taken >= this.#max / 2
    if (this.#taken >= this.#max) return null
    if (isScarce && keys.some((key) => this.#of(key) >= shareMax)) return null
    return this.#hold(keys)
  }

  /** A slot beyond all limits: for those that are counted, and never refused. */
  takeAnyway(): () => void {
    return this.#hold([])
  }

  #hold(keys: readonly string[]): () => void {
    this.#taken++
    for (const key of keys) this.#ofKeys.set(key, this.#of(key) + 1)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#taken--
      for (const key of keys) this.#giveBack(key)
    }
  }

  #of(key: string): number {
    return this.#ofKeys.get(key) ?? 0
  }

  #giveBack(key: string): void {
    const left = this.#of(key) - 1
    if (left > 0) this.#ofKeys.set(key, left)
    else this.#ofKeys.delete(key)
  }
}
