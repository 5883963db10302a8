// The tokens that receivers ask for, in memory alone. One request at a time for an endpoint: those who wait share what
// comes of it, and so do those who come soon after one that was in vain.

import { Remembered } from '../../core/plain/remembered.ts'
import type { BearerToken, NoToken, TokenAnswer } from '../../core/tokens/token-answer.ts'

/** Of endpoints, with tokens of 8 KiB at most. */
const TOKENS_MAX = 5_000
/** After a request in vain, then twice as long. It ends before a delivery's own retry, which then finds out more. */
const PAUSE_MS = 1_000
/** By then a request has ended, or never will. */
const SHARED_MS_MAX = 60_000
/** A retry that a person asks for is real again soon. */
const PAUSE_MS_MAX = 15_000

type Kept = BearerToken | (NoToken & { failures: number; retriedAtMs: number })

export class BearerTokens {
  readonly #answers: Remembered<string, Kept>

  constructor(monotonicMs: () => number) {
    const ageMsMax = (_tookMs: number, answer?: Kept) => (answer ? keptMsOf(answer) : SHARED_MS_MAX)
    this.#answers = new Remembered({ keysMax: TOKENS_MAX, expiry: { monotonicMs, ageMsMax } })
  }

  /** The token, if it is here. */
  look(key: string): string | undefined {
    const kept = this.#answers.look(key)
    return kept && 'token' in kept ? kept.token : undefined
  }

  /**
   * A failure from before `retriedAtMs` does not count, because a person has said since that it is fixed; with `isFresh` none
   * does, because a person wants to know how it is now.
   */
  get(
    key: string,
    fetch: () => Promise<TokenAnswer>,
    { isFresh, retriedAtMs }: { isFresh: boolean; retriedAtMs: number },
  ): Promise<TokenAnswer> {
    const kept = this.#answers.look(key)
    const isFailure = kept !== undefined && 'reason' in kept
    if (isFailure && (isFresh || kept.retriedAtMs < retriedAtMs)) this.#answers.forget(key)
    return this.#answers.get(key, async () => {
      const last = this.#answers.last(key)
      const answer = await fetch()
      if ('token' in answer) return answer
      const failures = last && 'reason' in last ? last.failures + 1 : 1
      return { ...answer, failures, retriedAtMs }
    })
  }

  /** A receiver did not take it. One that has come since stays, and so does a request for one. */
  drop(key: string, token: string): void {
    if (this.look(key) === token) this.#answers.forget(key)
  }
}

function keptMsOf(answer: Kept): number {
  if ('token' in answer) return answer.keptMs
  return Math.min(PAUSE_MS * 2 ** (answer.failures - 1), PAUSE_MS_MAX)
}
