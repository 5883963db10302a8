// Asks once, shares the answer, keeps it for a while. `look` returns what is known without a promise, for paths
// on which each promise counts; `get` asks where nothing is known.
// - The age of an answer counts from the moment in which its question was asked, never from its arrival.
// - Callers that come while a question is under way, and young enough, share its answer.
// - A question that fails rejects for all that wait for it, and is not remembered.
// - After `forget`, no answer that was asked for before it is given to later callers.

import { BoundedMap } from './bounded-map.ts'

export interface RememberedOptions<Answer> {
  keysMax: number
  /** Left out, answers stay until they are forgotten, or are too many. */
  expiry?: {
    monotonicMs(): number
    /** How old an answer may get; it may depend on how long the question took, and on the answer. Undefined while
     *  there is none: how old a question may be whose answer is shared. */
    ageMsMax: number | ((tookMs: number, answer?: Answer) => number)
  }
  /**
   * Whether an answer is worth keeping; all are where this is left out. One that is not holds only for
   * callers that came before it was asked for: later ones ask again, as it may have become untrue for them.
   */
  isKept?(answer: Answer): boolean
}

interface Question<Answer> {
  askedAtMs: number
  answer: Promise<Answer>
}

interface Entry<Answer> {
  /** The last answer that was kept; undefined before there is one. */
  answer: Answer | undefined
  askedAtMs: number
  keptUntilMs: number
  /** The newest that is under way. */
  question: Question<Answer> | null
}

export class Remembered<Key, Answer extends NonNullable<unknown> | null> {
  readonly #entries: BoundedMap<Key, Entry<Answer>>
  readonly #monotonicMs: () => number
  readonly #ageMsMax: (tookMs: number, answer?: Answer) => number
  readonly #isKept: ((answer: Answer) => boolean) | undefined

  constructor({ keysMax, expiry, isKept }: RememberedOptions<Answer>) {
    const ageMsMax = expiry?.ageMsMax ?? Number.POSITIVE_INFINITY
    this.#entries = new BoundedMap(keysMax)
    this.#monotonicMs = expiry === undefined ? () => 0 : () => expiry.monotonicMs()
    this.#ageMsMax = typeof ageMsMax === 'number' ? () => ageMsMax : ageMsMax
    this.#isKept = isKept
  }

  get size(): number {
    return this.#entries.size
  }

  /** The answer if it is there and not too old. */
  look(key: Key): Answer | undefined {
    const entry = this.#entries.get(key)
    return entry !== undefined && this.#monotonicMs() < entry.keptUntilMs ? entry.answer : undefined
  }

  /** The last answer that was kept, however old. */
  last(key: Key): Answer | undefined {
    return this.#entries.get(key)?.answer
  }

  /**
   * The answer that is kept, or that of the question under way, or that of a new one. With `ageMsMax` one
   * that is as young as that; 0 asks in any case.
   */
  get(key: Key, ask: () => Promise<Answer>, ageMsMax?: number): Promise<Answer> {
    const nowMs = this.#monotonicMs()
    const entry = this.#entries.get(key)
    if (entry === undefined) return this.#ask(key, ask, nowMs, entry)
    const untilMs = ageMsMax === undefined ? entry.keptUntilMs : entry.askedAtMs + ageMsMax
    if (entry.answer !== undefined && nowMs < untilMs) return Promise.resolve(entry.answer)
    const { question } = entry
    if (question === null) return this.#ask(key, ask, nowMs, entry)
    const ageMs = nowMs - question.askedAtMs
    if (ageMs >= (ageMsMax ?? this.#ageMsMax(ageMs))) return this.#ask(key, ask, nowMs, entry)
    return this.#share(question, key, () => this.get(key, ask, ageMsMax))
  }

  /** What is known without having been asked for. */
  put(key: Key, answer: Answer): void {
    const askedAtMs = this.#monotonicMs()
    const keptUntilMs = askedAtMs + this.#ageMsMax(0, answer)
    this.#entries.set(key, { answer, askedAtMs, keptUntilMs, question: null })
  }

  /** It has changed. Callers that wait for an answer get it, but it is not kept. */
  forget(key: Key): void {
    this.#entries.delete(key)
  }

  #share({ answer }: Question<Answer>, key: Key, askAgain: () => Promise<Answer>): Promise<Answer> {
    const isKept = this.#isKept
    if (isKept === undefined) return answer
    return answer.then((heard) => {
      if (isKept(heard)) return heard
      // A question that is under way by now was asked after the caller came.
      return this.#entries.get(key)?.question?.answer ?? askAgain()
    })
  }

  #ask(
    key: Key,
    ask: () => Promise<Answer>,
    askedAtMs: number,
    entry: Entry<Answer> | undefined,
  ): Promise<Answer> {
    const answer: Promise<Answer> = ask().then(
      (heard) => {
        this.#hear(key, question, heard)
        return heard
      },
      (error: unknown) => {
        this.#fail(key, question)
        throw error
      },
    )
    const question: Question<Answer> = { askedAtMs, answer }
    if (entry === undefined) {
      const never = Number.NEGATIVE_INFINITY
      this.#entries.set(key, { answer: undefined, askedAtMs: never, keptUntilMs: never, question })
    } else {
      entry.question = question
      this.#entries.set(key, entry)
    }
    return answer
  }

  #hear(key: Key, question: Question<Answer>, answer: Answer): void {
    const entry = this.#entries.get(key)
    // Otherwise it was forgotten, or a newer question was asked.
    if (entry?.question !== question) return
    if (this.#isKept?.(answer) === false) {
      this.#entries.delete(key)
      return
    }
    entry.question = null
    entry.answer = answer
    entry.askedAtMs = question.askedAtMs
    const tookMs = this.#monotonicMs() - question.askedAtMs
    entry.keptUntilMs = question.askedAtMs + this.#ageMsMax(tookMs, answer)
  }

  #fail(key: Key, question: Question<Answer>): void {
    const entry = this.#entries.get(key)
    if (entry?.question !== question) return
    entry.question = null
    if (entry.answer === undefined) this.#entries.delete(key)
  }
}
