// The closed list of errors that a caller can get. Throw a ServiceError for the caller's mistakes;
// what the world does (an endpoint's 500, a timeout) is a value, and our own mistakes are plain Errors.
// http/basics/problems.ts holds the one table from code to status and title; docs/problems.md a section each.

export type ErrorCode =
  // the request as such
  | 'not-found'
  | 'method-not-allowed'
  | 'unsupported-media-type'
  | 'body-too-large'
  | 'malformed-json'
  | 'malformed-request'
  | 'headers-too-large'
  | 'request-timeout'
  | 'invalid-fields'
  | 'invalid-query'
  // who is asking
  | 'invalid-credentials'
  | 'keys-only'
  | 'unsupported-grant-type'
  | 'missing-token'
  | 'invalid-token'
  | 'invalid-account'
  | 'role-not-allowed'
  | 'too-many-requests'
  | 'client-moved'
  // what it collides with
  | 'too-many-endpoints'
  | 'too-many-secrets'
  | 'too-many-client-keys'
  | 'client-key-taken'
  | 'client-disabled'
  | 'too-many-keys'
  | 'key-name-taken'
  | 'too-many-certificates'
  | 'certificate-name-taken'
  | 'certificate-in-use'
  | 'account-required'
  | 'unknown-account'
  | 'payment-of-another-account'
  | 'forbidden-move'
  | 'key-mismatch'
  | 'unreadable-batch'
  | 'delivery-not-final'
  | 'delivery-final'
  | 'no-receipt'
  | 'payload-expired'
  | 'link-ended'
  | 'endpoint-deleted'
  | 'endpoint-not-active'
  | 'offer-gone'
  | 'filter-too-wide'
  | 'cursor-expired'
  | 'check-running'
  // ourselves
  | 'database-away'
  | 'not-ready'
  | 'overloaded'
  | 'cell-required'
  | 'cell-away'
  | 'answer-lost'
  | 'internal'

/** One wrong field of a request body; `pointer` is an RFC 6901 JSON pointer. */
export interface FieldError {
  pointer: string
  code: string
  detail: string
}

export class ServiceError extends Error {
  readonly code: ErrorCode
  readonly errors: readonly FieldError[] | undefined
  /** Whole seconds after which trying again makes sense; becomes `Retry-After`. */
  readonly retryAfterSeconds: number | undefined
  /** The address at which the same request is answered; becomes `Location`, with the request's path. */
  readonly movedTo: string | undefined
  /** The cell of that address; becomes `X-Paybell-Cell`. */
  readonly movedToCell: number | undefined
  /** The client or the account that is there, if the caller may speak for it; becomes `X-Paybell-Moved`. */
  readonly movedId: string | undefined

  constructor(
    code: ErrorCode,
    detail: string,
    more: {
      errors?: readonly FieldError[]
      retryAfterSeconds?: number
      movedTo?: string
      movedToCell?: number
      movedId?: string
      cause?: unknown
    } = {},
  ) {
    super(detail, more.cause === undefined ? undefined : { cause: more.cause })
    this.name = 'ServiceError'
    this.code = code
    this.errors = more.errors
    this.retryAfterSeconds = more.retryAfterSeconds
    this.movedTo = more.movedTo
    this.movedToCell = more.movedToCell
    this.movedId = more.movedId
  }
}
