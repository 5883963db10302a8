// Work that must not run twice at a time for the same key: the rest waits in line, in order of arrival.
// Made once in app.ts and passed down: two instances would be two lines.

import { ServiceError } from '../../core/plain/errors.ts'

interface Line {
  last: Promise<unknown>
  /** The work under way and all that waits. */
  length: number
}

export class OneAtATime<Key> {
  readonly #lengthMax: number
  readonly #waitMsMax: number | null
  readonly #lines = new Map<Key, Line>()

  /** Work that finds a line of `lengthMax` is refused, and work that has waited for `waitMsMax` is never begun. */
  constructor(lengthMax = Number.POSITIVE_INFINITY, waitMsMax: number | null = null) {
    this.#lengthMax = lengthMax
    this.#waitMsMax = waitMsMax
  }

  async run<T>(key: Key, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(key) ?? { last: Promise.resolve(), length: 0 }
    if (line.length >= this.#lengthMax) throw tooBusy()
    this.#lines.set(key, line)
    line.length++
    const wait = this.#patience(line.length > 1)
    const mine = line.last
      .catch(() => {})
      .then(() => {
        wait.end()
        return work()
      })
    line.last = mine
    try {
      return await Promise.race([wait.isOver, mine])
    } finally {
      line.length--
      if (line.length === 0) this.#lines.delete(key)
    }
  }

  /** Rejects when the time is over; `end` throws then, and otherwise ends the wait. */
  #patience(isBehindOthers: boolean): { isOver: Promise<never>; end(): void } {
    const { promise: isOver, reject } = Promise.withResolvers<never>()
    if (this.#waitMsMax === null || !isBehindOthers) return { isOver, end() {} }
    let isGivenUp = false
    const timer = setTimeout(() => {
      isGivenUp = true
      reject(tooBusy())
    }, this.#waitMsMax)
    const end = () => {
      clearTimeout(timer)
      if (isGivenUp) throw tooBusy()
    }
    return { isOver, end }
  }
}

export function tooBusy(): ServiceError {
  return new ServiceError(
    'overloaded',
    'Too much of this kind is under way. Try again in a while.',
    { retryAfterSeconds: 5 },
  )
}
