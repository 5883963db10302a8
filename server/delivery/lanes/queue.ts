// First in, first out, without moving the rest at each step.

export class Queue<T> {
  #items: T[] = []
  #head = 0

  get length(): number {
    return this.#items.length - this.#head
  }

  push(item: T): void {
    // An array of its own for the first: `push` would make room for seventeen, and most lanes are sent one update.
    if (this.#items.length === 0) this.#items = [item]
    else this.#items.push(item)
  }

  shift(): T | undefined {
    if (this.#head >= this.#items.length) return undefined
    const item = this.#items[this.#head]
    this.#items[this.#head] = undefined as T
    this.#head++
    // The empty front is given back once it outweighs the rest: each item is moved once at most.
    if (this.#head > 64 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return item
  }
}
