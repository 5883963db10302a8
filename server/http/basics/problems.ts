// The one place where an error becomes an answer (RFC 9457). An ErrorCode without a row here does not
// compile. `title` never varies for a code; what it means, and what to do about it, is its section of docs/problems.md.

import { CELL_HEADER, MOVED_HEADER } from '../../core/network/cell.ts'
import type { ErrorCode, FieldError, ServiceError } from '../../core/plain/errors.ts'

export interface ProblemKind {
  status: number
  title: string
  /** Sent as `WWW-Authenticate` (RFC 6750 §3). */
  challenge?: string
}

export const PROBLEMS: Record<ErrorCode, ProblemKind> = {
  'not-found': { status: 404, title: 'Nothing was found' },
  'method-not-allowed': { status: 405, title: 'The method is not allowed here' },
  'unsupported-media-type': { status: 415, title: 'The content type is not supported' },
  'body-too-large': { status: 413, title: 'The request body is too large' },
  'malformed-json': { status: 400, title: 'The request body is not JSON' },
  'malformed-request': { status: 400, title: 'The request is malformed' },
  'headers-too-large': { status: 431, title: 'The request headers are too large' },
  'request-timeout': { status: 408, title: 'The request took too long to arrive' },
  'invalid-fields': { status: 400, title: 'The request body is invalid' },
  'invalid-query': { status: 400, title: 'The query parameters are invalid' },
  'invalid-credentials': { status: 401, title: 'The credentials are wrong', challenge: 'Bearer' },
  'keys-only': {
    status: 401,
    title: 'The client gets tokens with its keys only',
    challenge: 'Bearer',
  },
  'unsupported-grant-type': { status: 400, title: 'The grant type is not supported' },
  'missing-token': { status: 401, title: 'An access token is required', challenge: 'Bearer' },
  'invalid-token': {
    status: 401,
    title: 'The access token is not valid',
    challenge: 'Bearer error="invalid_token"',
  },
  'invalid-account': { status: 403, title: 'The account is not valid' },
  'role-not-allowed': { status: 403, title: 'The key’s role does not allow this' },
  'too-many-requests': { status: 429, title: 'Too many requests' },
  'client-moved': { status: 308, title: 'The client has moved to another cell' },
  'too-many-endpoints': { status: 409, title: 'There are too many endpoints' },
  'too-many-secrets': { status: 409, title: 'The client has two secrets already' },
  'too-many-client-keys': { status: 409, title: 'The client has five keys already' },
  'client-key-taken': { status: 409, title: 'The client has a key with this id' },
  'client-disabled': { status: 409, title: 'The client is disabled' },
  'too-many-keys': { status: 409, title: 'There are too many operator’s keys' },
  'key-name-taken': { status: 409, title: 'The name belongs to another key' },
  'too-many-certificates': { status: 409, title: 'There are too many certificates' },
  'certificate-name-taken': { status: 409, title: 'The name belongs to another certificate' },
  'certificate-in-use': { status: 409, title: 'Endpoints are shown this certificate' },
  'account-required': { status: 400, title: 'An account is required' },
  'unknown-account': { status: 404, title: 'The account is not known' },
  'payment-of-another-account': { status: 409, title: 'The payment belongs to another account' },
  'forbidden-move': { status: 409, title: 'The payment cannot move to this state' },
  'key-mismatch': { status: 400, title: 'The key is not the id of the payment' },
  'unreadable-batch': { status: 400, title: 'The batch of records cannot be read' },
  'delivery-not-final': { status: 409, title: 'The delivery is still under way' },
  'delivery-final': { status: 409, title: 'The delivery has ended' },
  'no-receipt': { status: 409, title: 'The delivery has no receipt' },
  'payload-expired': { status: 410, title: 'The payload is no longer kept' },
  'link-ended': { status: 410, title: 'The link is no longer good' },
  'endpoint-deleted': { status: 409, title: 'The endpoint of the delivery was deleted' },
  'endpoint-not-active': { status: 409, title: 'The endpoint is not active' },
  'offer-gone': { status: 410, title: 'The time for this outcome is over' },
  'filter-too-wide': { status: 400, title: 'The filter matches too many deliveries' },
  'cursor-expired': { status: 410, title: 'The cursor is older than what is kept' },
  'check-running': { status: 409, title: 'A check of this receiver is running' },
  'database-away': { status: 503, title: 'The service cannot reach its database' },
  'not-ready': { status: 503, title: 'The service is not ready' },
  overloaded: { status: 503, title: 'The service is busy' },
  'cell-required': { status: 400, title: 'The request does not say which cell it is for' },
  'cell-away': { status: 503, title: 'The cell cannot be reached' },
  'answer-lost': { status: 502, title: 'The answer of the cell was lost' },
  internal: { status: 500, title: 'Something went wrong inside the service' },
}

export interface Problem {
  type: string
  title: string
  status: number
  detail: string
  instance: string
  code: ErrorCode
  /** RFC 6749 §5.2, on the token operation only. */
  error?: string
  errors?: readonly FieldError[]
}

export function toProblem(
  error: ServiceError,
  context: { baseUrl: string; requestId: string; isTokenRequest?: boolean },
): Problem {
  const { status, title } = PROBLEMS[error.code]
  return {
    type: `${context.baseUrl}/problems/${error.code}`,
    title,
    status,
    detail: error.message,
    instance: `urn:request:${context.requestId}`,
    code: error.code,
    ...(context.isTokenRequest && status < 500 ? { error: toOauthError(error.code) } : {}),
    ...(error.errors ? { errors: error.errors } : {}),
  }
}

/** RFC 6749 §5.2 knows no word for what is our own fault. */
function toOauthError(code: ErrorCode): string {
  if (code === 'unsupported-grant-type') return 'unsupported_grant_type'
  return PROBLEMS[code].status === 401 ? 'invalid_client' : 'invalid_request'
}

/** The headers of a problem, however it is sent. */
export function problemHeaders(
  error: ServiceError,
  requestId: string,
  path = '',
): Record<string, string> {
  const { challenge } = PROBLEMS[error.code]
  const headers: Record<string, string> = {
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    'x-request-id': requestId,
  }
  if (challenge) headers['www-authenticate'] = challenge
  if (error.retryAfterSeconds !== undefined) {
    headers['retry-after'] = String(error.retryAfterSeconds)
  }
  if (error.movedTo !== undefined) headers.location = `${error.movedTo}${path}`
  if (error.movedToCell !== undefined) headers[CELL_HEADER] = String(error.movedToCell)
  if (error.movedId !== undefined) headers[MOVED_HEADER] = error.movedId
  return headers
}

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(PROBLEMS, text)
}
