// Reads by key that share statements. Those asked for in one turn go together; while as many statements
// are under way as may be, the next gathers. So a lone read waits for nobody, and a thousand at a time
// cost a few statements. Each read begins after it was asked for: it is as fresh as one of its own.

export interface GatheredReadsOptions<Key, Value> {
  /** Values by id; what does not exist is left out. */
  read(keys: readonly Key[]): Promise<ReadonlyMap<string, Value>>
  keysMax: number
  statementsMax: number
}

interface Wanted<Key, Value> {
  id: string
  key: Key
  resolve(value: Value | null): void
  reject(error: unknown): void
}

export class GatheredReads<Key, Value> {
  readonly #options: GatheredReadsOptions<Key, Value>
  #wanted: Wanted<Key, Value>[] = []
  #statements = 0
  #isScheduled = false

  constructor(options: GatheredReadsOptions<Key, Value>) {
    this.#options = options
  }

  /** Null when there is no such thing. */
  get(id: string, key: Key): Promise<Value | null> {
    return new Promise((resolve, reject) => {
      this.#wanted.push({ id, key, resolve, reject })
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#isScheduled || this.#statements >= this.#options.statementsMax) return
    this.#isScheduled = true
    queueMicrotask(() => {
      this.#isScheduled = false
      void this.#readNext()
    })
  }

  async #readNext(): Promise<void> {
    const wanted = this.#wanted.splice(0, this.#options.keysMax)
    if (wanted.length === 0) return
    this.#statements++
    // Many at once: the rest goes along in another statement.
    if (this.#wanted.length > 0) this.#schedule()
    try {
      const found = await this.#options.read(wanted.map(({ key }) => key))
      for (const { id, resolve } of wanted) resolve(found.get(id) ?? null)
    } catch (error) {
      for (const { reject } of wanted) reject(error)
    }
    this.#statements--
    if (this.#wanted.length > 0) this.#schedule()
  }
}
