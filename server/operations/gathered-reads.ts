// Reads that arrive together share one statement, begun after the last of them arrived: as fresh as a
// statement each, and far cheaper. A read that arrives meanwhile waits for the next one, and those who
// ask the same get the same answer.

interface Asked<Question, Answer> {
  question: Question
  answer: Promise<Answer>
  resolve(answer: Answer): void
  reject(error: unknown): void
}

export interface GatheredReadsOptions<Question> {
  /** Questions with the same key have the same answer. */
  keyOf(question: Question): string
  perReadMax?: number
  /** One by default: what comes meanwhile gathers, and the rest of the pool stays free. */
  readsMax?: number
}

export class GatheredReads<Question, Answer> {
  readonly #read: (questions: readonly Question[]) => Promise<readonly Answer[]>
  readonly #keyOf: (question: Question) => string
  readonly #perReadMax: number
  readonly #readsMax: number
  #waiting = new Map<string, Asked<Question, Answer>>()
  #reads = 0

  /** `read` gives one answer per question, in their order. */
  constructor(
    read: (questions: readonly Question[]) => Promise<readonly Answer[]>,
    { keyOf, perReadMax = 100, readsMax = 1 }: GatheredReadsOptions<Question>,
  ) {
    this.#read = read
    this.#keyOf = keyOf
    this.#perReadMax = perReadMax
    this.#readsMax = readsMax
  }

  ask(question: Question): Promise<Answer> {
    const key = this.#keyOf(question)
    const same = this.#waiting.get(key)
    if (same !== undefined) return same.answer
    const { promise: answer, resolve, reject } = Promise.withResolvers<Answer>()
    // Once all that has arrived is read: each request has a turn of its own, and microtasks run between
    // them, so that whatever waited in the sockets would not travel together.
    if (this.#waiting.size === 0) setImmediate(() => this.#next())
    this.#waiting.set(key, { question, answer, resolve, reject })
    return answer
  }

  #next(): void {
    while (this.#waiting.size > 0 && this.#reads < this.#readsMax) {
      const asked = this.#take()
      this.#reads++
      const done = () => {
        this.#reads--
        this.#next()
      }
      void this.#read(asked.map(({ question }) => question))
        .then(
          (answers) => {
            for (const [index, { resolve }] of asked.entries()) resolve(answers[index] as Answer)
          },
          (error: unknown) => {
            for (const { reject } of asked) reject(error)
          },
        )
        .then(done)
    }
  }

  #take(): Asked<Question, Answer>[] {
    const taken: Asked<Question, Answer>[] = []
    for (const [key, asked] of this.#waiting) {
      if (taken.length === this.#perReadMax) break
      taken.push(asked)
      this.#waiting.delete(key)
    }
    return taken
  }
}
