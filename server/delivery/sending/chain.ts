// Things in order: added at the end, taken out anywhere, seen from the front. For what comes and goes
// with every attempt, where a Set would be costly: V8 replaces a Set's table after so many changes, the
// old table points to the new one, and as soon as one of them is old enough to be collected rarely, it
// keeps all that came after it alive. Attempts that were over were copied and promoted for nothing.

/** The link of an item; it can be in one chain at a time. */
export class Link<T> {
  readonly item: T
  previous: Link<T> | null = null
  next: Link<T> | null = null
  isIn = false

  constructor(item: T) {
    this.item = item
  }
}

export class Chain<T> {
  #first: Link<T> | null = null
  #last: Link<T> | null = null

  get first(): Link<T> | null {
    return this.#first
  }

  get isEmpty(): boolean {
    return this.#first === null
  }

  add(link: Link<T>): void {
    link.isIn = true
    link.previous = this.#last
    if (this.#last === null) this.#first = link
    else this.#last.next = link
    this.#last = link
  }

  /** False when it was not in. A link that is out points nowhere, so that it keeps nothing alive. */
  remove(link: Link<T>): boolean {
    if (!link.isIn) return false
    const { previous, next } = link
    if (previous === null) this.#first = next
    else previous.next = next
    if (next === null) this.#last = previous
    else next.previous = previous
    link.previous = null
    link.next = null
    link.isIn = false
    return true
  }
}
