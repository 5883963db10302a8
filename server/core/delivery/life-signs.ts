// Which processes or leases have shown life, and when, on the watcher's own clock. A mark is whatever the database holds of
// the watched: only whether it has changed counts, never its value, so no other clock is trusted.

interface Sign {
  mark: string
  /** When the reading was received that first showed this mark: it was true then, or before. */
  sinceMs: number
}

export class LifeSigns<Key> {
  readonly #signs = new Map<Key, Sign>()

  /** Everything that is watched, as it was read; what is not in the reading is forgotten. */
  read(marks: ReadonlyMap<Key, string>, receivedAtMs: number): void {
    for (const key of this.#signs.keys()) if (!marks.has(key)) this.#signs.delete(key)
    for (const [key, mark] of marks) {
      if (this.#signs.get(key)?.mark === mark) continue
      this.#signs.set(key, { mark, sinceMs: receivedAtMs })
    }
  }

  /** Those that have not changed for `ms`, with the mark that they had all that time. */
  silentFor(ms: number, nowMs: number): ReadonlyMap<Key, string> {
    const silent = new Map<Key, string>()
    for (const [key, { mark, sinceMs }] of this.#signs) {
      if (nowMs - sinceMs >= ms) silent.set(key, mark)
    }
    return silent
  }

  /** How many have changed, or were first seen, less than `ms` ago, besides those that are known to be gone. */
  countAlive(ms: number, nowMs: number, gone: ReadonlySet<Key> = new Set()): number {
    let count = 0
    for (const [key, { sinceMs }] of this.#signs) {
      if (nowMs - sinceMs < ms && !gone.has(key)) count++
    }
    return count
  }

  /** Of those that are watched. */
  marksOf(keys: readonly Key[]): ReadonlyMap<Key, string> {
    const signs = keys.flatMap((key) => {
      const sign = this.#signs.get(key)
      return sign === undefined ? [] : [[key, sign.mark] as const]
    })
    return new Map(signs)
  }

  /** When the next of them will have been silent for `ms`, unless it shows life before. */
  nextSilentAtMs(ms: number, nowMs: number): number {
    let nextMs = Number.POSITIVE_INFINITY
    for (const { sinceMs } of this.#signs.values()) {
      if (sinceMs + ms > nowMs) nextMs = Math.min(nextMs, sinceMs + ms)
    }
    return nextMs
  }
}
