// A binary heap of things by the time at which they are due. Entries are not removed when they become
// meaningless: the caller checks each one that it takes.

export class DueHeap<T> {
  readonly #entries: { dueAtMs: number; item: T }[] = []

  get nextDueAtMs(): number {
    return this.#entries[0]?.dueAtMs ?? Number.POSITIVE_INFINITY
  }

  push(dueAtMs: number, item: T): void {
    const entries = this.#entries
    let index = entries.length
    entries.push({ dueAtMs, item })
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (this.#dueAt(parent) <= dueAtMs) break
      this.#swap(index, parent)
      index = parent
    }
  }

  /** The earliest entry, if it is due. */
  take(nowMs: number): T | undefined {
    const first = this.#entries[0]
    if (first === undefined || first.dueAtMs > nowMs) return undefined
    const last = this.#entries.pop() as { dueAtMs: number; item: T }
    if (this.#entries.length > 0) {
      this.#entries[0] = last
      this.#sink()
    }
    return first.item
  }

  #sink(): void {
    let index = 0
    for (;;) {
      const left = 2 * index + 1
      const right = left + 1
      let least = index
      if (this.#dueAt(left) < this.#dueAt(least)) least = left
      if (this.#dueAt(right) < this.#dueAt(least)) least = right
      if (least === index) return
      this.#swap(index, least)
      index = least
    }
  }

  #dueAt(index: number): number {
    return this.#entries[index]?.dueAtMs ?? Number.POSITIVE_INFINITY
  }

  #swap(one: number, other: number): void {
    const entries = this.#entries
    const entry = entries[one] as { dueAtMs: number; item: T }
    entries[one] = entries[other] as { dueAtMs: number; item: T }
    entries[other] = entry
  }
}
