// Reads that arrive together share one statement, begun after the last of them arrived: as fresh as a
// statement each, and far cheaper. A read that arrives meanwhile waits for the next one.

export class GatheredReads<Question, Answer> {
  readonly #read: (questions: readonly Question[]) => Promise<readonly Answer[]>
  readonly #perReadMax: number
  readonly #readsMax: number
  #waiting: {
    question: Question
    resolve(answer: Answer): void
    reject(error: unknown): void
  }[] = []
  #reads = 0

  /** `read` gives one answer per question, in their order. */
  constructor(
    read: (questions: readonly Question[]) => Promise<readonly Answer[]>,
    limits: { perReadMax: number; readsMax: number } = { perReadMax: 100, readsMax: 2 },
  ) {
    this.#read = read
    this.#perReadMax = limits.perReadMax
    this.#readsMax = limits.readsMax
  }

  ask(question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ question, resolve, reject })
      // After this turn, so that whatever arrived in it travels together.
      if (this.#waiting.length === 1) queueMicrotask(() => this.#next())
    })
  }

  #next(): void {
    while (this.#waiting.length > 0 && this.#reads < this.#readsMax) {
      const asked = this.#waiting.splice(0, this.#perReadMax)
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
}
