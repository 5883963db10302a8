// What is learned by reading all of a very long list (decision 0104): how many it has, and where its far pages begin. It is
// kept for half a minute, and learned again beside the requests of those who go on looking, so that they do not wait.

import { Remembered } from '../../core/plain/remembered.ts'
import type { Deps } from './deps.ts'

/** Counting reads something of each: a hundred thousand take ten milliseconds, a million a hundred. */
export const COUNTED_EACH_TIME_MAX = 100_000
const KEPT_MS = 30_000
/** Before it is too old, by more than the five seconds after which the console asks again. */
const COUNTED_AGAIN_AFTER_MS = 20_000
const LISTS_MAX = 1_000

export class KeptCounts<Answer extends NonNullable<unknown>> {
  readonly #answers: Remembered<string, Answer>
  readonly #isKept: (answer: Answer) => boolean

  constructor({ clock }: Pick<Deps, 'clock'>, isKept: (answer: Answer) => boolean = () => true) {
    this.#isKept = isKept
    this.#answers = new Remembered({
      keysMax: LISTS_MAX,
      expiry: { monotonicMs: () => clock.monotonicMs(), ageMsMax: KEPT_MS },
      isKept,
    })
  }

  /** What is kept, and null otherwise: the caller then learns it with its page. */
  look(list: string, count: () => Promise<Answer>): Answer | null {
    const kept = this.#answers.look(list)
    if (kept === undefined) return null
    // A failure shows where somebody has to wait for the answer.
    this.#answers.get(list, count, COUNTED_AGAIN_AFTER_MS).catch(() => {})
    return kept
  }

  async get(list: string, count: () => Promise<Answer>): Promise<Answer> {
    return this.look(list, count) ?? this.#answers.get(list, count)
  }

  /** What a caller has learned with its page. */
  put(list: string, answer: Answer): void {
    if (this.#isKept(answer)) this.#answers.put(list, answer)
  }
}
