// The life of one delivery. Pure: the clock and the dice are handed in.
//   PENDING ─▶ DELIVERED    the endpoint answered 200
//           ─▶ PENDING      anything else: a later nextAttemptAt (a retry is a time, not a state)
//           ─▶ EXHAUSTED    anything else, and no time is left
//           ─▶ SUPERSEDED   a newer update of the payment was accepted first, or sent in its place
//           ─▶ CANCELLED    the endpoint was deleted, or the operator said so
//   A replay leads from any final state back to PENDING, for a new run of 7 days.

import type { TokenlessReason } from '../tokens/token-answer.ts'
import { delayAfterMs, type RetryPolicy, retryAfterMs } from './backoff.ts'
import type { FailureCode } from './outcome-words.ts'

export const FINAL_STATES = ['DELIVERED', 'EXHAUSTED', 'SUPERSEDED', 'CANCELLED'] as const
export type FinalState = (typeof FINAL_STATES)[number]
export const DELIVERY_STATES = ['PENDING', ...FINAL_STATES] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

export type UnreachableReason =
  | 'dns-error'
  | 'connect-error'
  | 'tls-error'
  | 'tls-name'
  | 'tls-authority'
  | 'tls-too-costly'
  | 'certificate-refused'
  | 'connection-reset'
  | 'timeout'
  | 'protocol-error'

/** Why an attempt could not even be made: our own stored data would not open. */
export type UnsendableReason =
  | 'undecryptable-key'
  | 'payload-missing'
  | 'invalid-header'
  | 'certificate-missing'

/** What the world did with one attempt: a value, never an exception. */
export type Outcome =
  | {
      kind: 'answered'
      status: number
      /** The raw `Retry-After` header; read only on 429 and 503. */
      retryAfter?: string
      /** At most the first 4 KiB of the response body. */
      excerpt?: Uint8Array
    }
  | { kind: 'unreachable'; reason: UnreachableReason }
  | { kind: 'blocked'; reason: 'blocked-address' }
  | { kind: 'unsendable'; reason: UnsendableReason }
  | { kind: 'tokenless'; reason: TokenlessReason; detail: string }

export type Decision =
  | { state: 'DELIVERED' }
  | { state: 'EXHAUSTED' }
  | { state: 'PENDING'; nextAttemptAtMs: number }

/** What `decide` must know of a delivery whose attempt number `attempt` has just ended. */
export interface RunningDelivery {
  /** Attempts of this run, the one that has just ended included. A replay begins a new run. */
  attemptsInRun: number
  /** No attempt of this run starts later. */
  deadlineAtMs: number
}

// Only 200 is success: the interface retries every other answer, a 204 too.
export function isSuccess(outcome: Outcome): boolean {
  return outcome.kind === 'answered' && outcome.status === 200
}

export function decide(
  delivery: RunningDelivery,
  outcome: Outcome,
  policy: RetryPolicy,
  nowMs: number,
  random: () => number,
): Decision {
  if (isSuccess(outcome)) return { state: 'DELIVERED' }

  // The last attempt is pulled forward to just inside the 7 days; after it there is none.
  const lastStartMs = delivery.deadlineAtMs - policy.lastStartMarginMs
  if (nowMs >= lastStartMs) return { state: 'EXHAUSTED' }
  const delayMs = delayAfterMs(delivery.attemptsInRun, policy, random)
  const waitMs =
    outcome.kind === 'answered' && (outcome.status === 429 || outcome.status === 503)
      ? retryAfterMs(outcome.retryAfter, delayMs, policy, nowMs)
      : delayMs
  return { state: 'PENDING', nextAttemptAtMs: Math.min(nowMs + waitMs, lastStartMs) }
}

/** The code that is stored, and that logs and metrics use: `answered`, `timeout`. Each has its words (outcome-words). */
export function outcomeCode(outcome: Outcome): 'answered' | FailureCode {
  return outcome.kind === 'answered' ? 'answered' : outcome.reason
}
