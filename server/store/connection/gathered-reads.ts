// Reads that arrive together share one statement, begun after the last of them arrived: as fresh as a
// statement each, and far cheaper. While as many run as may, the next ones gather; those who ask the same
// before it is read get the same answer.

export interface GatheredReadsOptions<Question, Answer> {
  /** One answer per question, in their order. */
  read(questions: readonly Question[]): Promise<readonly Answer[]>
  /** Questions with the same key have the same answer. */
  keyOf(question: Question): string
  perReadMax: number
  readsMax: number
  /** When a read begins: once all is there that should travel together. */
  soon(begin: () => void): void
}

interface Waiting<Question, Answer> {
  question: Question
  answer: Promise<Answer>
  resolve(answer: Answer): void
  reject(error: unknown): void
}

export class GatheredReads<Question, Answer> {
  readonly #options: GatheredReadsOptions<Question, Answer>
  readonly #waiting = new Map<string, Waiting<Question, Answer>>()
  #reads = 0

  constructor(options: GatheredReadsOptions<Question, Answer>) {
    this.#options = options
  }

  ask(question: Question): Promise<Answer> {
    const key = this.#options.keyOf(question)
    const same = this.#waiting.get(key)
    if (same !== undefined) return same.answer
    const { promise: answer, resolve, reject } = Promise.withResolvers<Answer>()
    if (this.#waiting.size === 0) this.#options.soon(() => this.#next())
    this.#waiting.set(key, { question, answer, resolve, reject })
    return answer
  }

  #next(): void {
    while (this.#waiting.size > 0 && this.#reads < this.#options.readsMax) {
      const taken = this.#take()
      this.#reads++
      const done = () => {
        this.#reads--
        this.#next()
      }
      void this.#options
        .read(taken.map(({ question }) => question))
        .then(
          (answers) => {
            for (const [index, { resolve }] of taken.entries()) resolve(answers[index] as Answer)
          },
          (error: unknown) => {
            for (const { reject } of taken) reject(error)
          },
        )
        .then(done)
    }
  }

  #take(): Waiting<Question, Answer>[] {
    const taken: Waiting<Question, Answer>[] = []
    for (const [key, waiting] of this.#waiting) {
      if (taken.length === this.#options.perReadMax) break
      taken.push(waiting)
      this.#waiting.delete(key)
    }
    return taken
  }
}
