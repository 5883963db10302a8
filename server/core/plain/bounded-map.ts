// A map that never outgrows its limit: what was set longest ago goes first. Reading moves nothing, so it costs
// no more than in a plain Map; a caller that wants the least recently used to go first sets the value again
// with each use.

/**
 * A large map forgets this share of its limit at once: to find its oldest key, a Map skips the entries of all that it has
 * deleted (50 to 300 µs in a large one; shared by fewer, it cost more than all else that `set` does). An iterator that is
 * kept would skip them only once, but it holds every table that the Map has outgrown: memory grows without end.
 */
const FORGOTTEN_SHARE = 1 / 128

export class BoundedMap<Key, Value> {
  readonly #limit: number
  /** Null: each weighs 1, and is deleted without a look at it. */
  readonly #weigh: ((value: Value) => number) | null
  readonly #values = new Map<Key, Value>()
  #weight = 0

  /** The limit is a number of entries, or what they may weigh together. A value's weight never changes. */
  constructor(limit: number, weigh: ((value: Value) => number) | null = null) {
    this.#limit = limit
    this.#weigh = weigh
  }

  get size(): number {
    return this.#values.size
  }

  get(key: Key): Value | undefined {
    return this.#values.get(key)
  }

  has(key: Key): boolean {
    return this.#values.has(key)
  }

  set(key: Key, value: Value): void {
    if (this.#weigh !== null) this.delete(key)
    const sizeBefore = this.#values.size
    this.#values.set(key, value)
    if (this.#values.size > sizeBefore) this.#weight += this.#weigh?.(value) ?? 1
    else this.#moveToEnd(key, value)
    if (this.#weight > this.#limit) this.#forgetOldest()
  }

  delete(key: Key): boolean {
    const value = this.#weigh === null ? undefined : this.#values.get(key)
    if (!this.#values.delete(key)) return false
    this.#weight -= this.#weigh?.(value as Value) ?? 1
    return true
  }

  /** Only what was there: most keys are new, and to look for one in vain takes as long as to set it. */
  #moveToEnd(key: Key, value: Value): void {
    this.#values.delete(key)
    this.#values.set(key, value)
  }

  #forgetOldest(): void {
    const left = this.#limit - Math.floor(this.#limit * FORGOTTEN_SHARE)
    for (const key of this.#values.keys()) {
      if (this.#weight <= left) return
      this.delete(key)
    }
  }
}
