// The errors of the SDK: PaybellError for a call that failed, SignatureError for a callback that must
// not be trusted. Neither ever carries a secret, a token, a key or a body.

import type { Problem } from './types.ts'

/** Codes of the SDK itself; every other code comes from the service, and has a page of its own there. */
export type LocalErrorCode = 'network-error' | 'timeout' | 'unexpected-answer'

export class PaybellError extends Error {
  /** Stable, for programs: such as `invalid-fields`, `too-many-requests` or `network-error`. */
  readonly code: string
  /** HTTP status; 0 when there was no answer. */
  readonly status: number
  /** The whole answer of the service, where there was one. */
  readonly problem: Problem | undefined
  /** Name it when you ask the operator about the call. */
  readonly requestId: string | undefined
  /** When the service said how long to wait. */
  readonly retryAfterSeconds: number | undefined

  constructor(
    message: string,
    facts: {
      code: string
      status?: number
      problem?: Problem | undefined
      requestId?: string | undefined
      retryAfterSeconds?: number | undefined
      cause?: unknown
    },
  ) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.name = 'PaybellError'
    this.code = facts.code
    this.status = facts.status ?? 0
    this.problem = facts.problem
    this.requestId = facts.requestId
    this.retryAfterSeconds = facts.retryAfterSeconds
  }
}

/**
 * - `missing-header`: a header that the check needs is not there
 * - `malformed-header`: it is there and cannot be read
 * - `signature-mismatch`: none of the keys made this signature over these bytes
 * - `timestamp-too-old`, `timestamp-too-new`: the signature holds and was made at another time
 * - `malformed-body`: the signature holds, but the body is not a payment
 */
export type SignatureErrorCode =
  | 'missing-header'
  | 'malformed-header'
  | 'signature-mismatch'
  | 'timestamp-too-old'
  | 'timestamp-too-new'
  | 'malformed-body'

export class SignatureError extends Error {
  readonly code: SignatureErrorCode

  constructor(code: SignatureErrorCode, message: string) {
    super(message)
    this.name = 'SignatureError'
    this.code = code
  }
}
