// Work that must not run twice at a time for the same key: the rest waits in line, in order of arrival.
// Made once in app.ts and passed down: two instances would be two lines.

import { ServiceError } from '../../core/errors.ts'

interface Line {
  last: Promise<unknown>
  /** The work under way and all that waits. */
  length: number
}

export class OneAtATime<Key> {
  readonly #lengthMax: number
  readonly #lines = new Map<Key, Line>()

  /** Work that finds a line of `lengthMax` is refused. */
  constructor(lengthMax = Number.POSITIVE_INFINITY) {
    this.#lengthMax = lengthMax
  }

  async run<T>(key: Key, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(key) ?? { last: Promise.resolve(), length: 0 }
    if (line.length >= this.#lengthMax) throw tooBusy()
    this.#lines.set(key, line)
    line.length++
    const mine = line.last.catch(() => {}).then(work)
    line.last = mine
    try {
      return await mine
    } finally {
      line.length--
      if (line.length === 0) this.#lines.delete(key)
    }
  }
}

export function tooBusy(): ServiceError {
  return new ServiceError(
    'overloaded',
    'Too much of this kind is under way. Try again in a while.',
    { retryAfterSeconds: 5 },
  )
}
