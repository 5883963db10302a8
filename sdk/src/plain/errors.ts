// The errors of the SDK: PaybellError for a call that failed, SignatureError for a callback that must
// not be trusted. Neither ever carries a secret, a token, a key or a body.

import type { Problem } from '../wire/types.ts'

/** Codes of the SDK itself; every other code comes from the service, and has a page of its own there. */
export type LocalErrorCode =
  | 'network-error'
  | 'timeout'
  | 'unexpected-answer'
  | 'no-document'
  | 'not-genuine'
  | 'key-revoked'
  | 'ids-forgotten'

/**
 * A call that failed. The answer of the service is in `problem`; a page of the service explains each `code`.
 *
 * ```js
 * import { createClient, PaybellError } from '@paybell/sdk'
 *
 * const paybell = createClient({
 *   baseUrl: 'https://paybell.example.com',
 *   clientId: '019a8f6e-1c2d-7a3b-8c4d-5e6f70819203',
 *   clientSecret: 'pbs_the-secret-from-onboarding',
 * })
 * try {
 *   await paybell.payments.get('7c0d0a5e-54c8-4b56-9f0e-2a4f5d1c9b11')
 * } catch (error) {
 *   if (!(error instanceof PaybellError)) throw error
 *   console.log(error.code, error.status) // not-found 404
 * }
 * ```
 */
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
 * - `signature-missing`: the signature that you insist on is not among those that were sent
 * - `unknown-key`: it was made with a key that is not among the public keys that you trust
 * - `timestamp-too-old`, `timestamp-too-new`: the signature holds and was made at another time
 * - `malformed-body`: the signature holds, but the body is not a payment
 */
export type SignatureErrorCode =
  | 'missing-header'
  | 'malformed-header'
  | 'signature-mismatch'
  | 'signature-missing'
  | 'unknown-key'
  | 'timestamp-too-old'
  | 'timestamp-too-new'
  | 'malformed-body'

/**
 * A callback that must not be trusted: answer 401, and do nothing else.
 *
 * ```js
 * import { SignatureError, signForTest, verify } from '@paybell/sdk'
 *
 * const { body, headers } = await signForTest({ sharedKey: 'another key' })
 * try {
 *   await verify(body, headers, 'a-long-random-text-that-only-we-two-know')
 * } catch (error) {
 *   if (!(error instanceof SignatureError)) throw error
 *   console.log(error.code) // signature-mismatch
 * }
 * ```
 */
export class SignatureError extends Error {
  readonly code: SignatureErrorCode

  constructor(code: SignatureErrorCode, message: string) {
    super(message)
    this.name = 'SignatureError'
    this.code = code
  }
}
