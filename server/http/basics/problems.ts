// The one place where an error becomes an answer (RFC 9457). An ErrorCode without a row here does not
// compile. `title` never varies for a code; `meaning` and `remedy` are its page at /problems/<code>.
// Long because it is one catalogue, which is read by code.

import { CELL_HEADER, MOVED_HEADER } from '../../core/network/cell.ts'
import type { ErrorCode, FieldError, ServiceError } from '../../core/plain/errors.ts'

export interface ProblemKind {
  status: number
  title: string
  /** What happened, and what to do about it: sentences for a person. */
  meaning: string
  remedy: string
  /** Sent as `WWW-Authenticate` (RFC 6750 §3). */
  challenge?: string
}

export const PROBLEMS: Record<ErrorCode, ProblemKind> = {
  'not-found': {
    status: 404,
    title: 'Nothing was found',
    meaning:
      'This service has no such address, or nothing of yours has this id. What was deleted, and what belongs to another client, looks exactly the same.',
    remedy: 'Check the path and the id. GET a list to see the ids that you have.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'The method is not allowed here',
    meaning: 'The address exists, but not for this method.',
    remedy: 'Use one of the methods in the Allow header of the answer.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'The content type is not supported',
    meaning: 'The body must be sent as the content type that the operation takes, in UTF-8.',
    remedy:
      'Send the header Content-Type: application/json; for a batch of payments, application/x-ndjson.',
  },
  'body-too-large': {
    status: 413,
    title: 'The request body is too large',
    meaning:
      'The body has more bytes than this operation reads: 8 KiB for tokens, 14 MB for a payment, 64 MiB or 50,000 lines for a batch of them, 18 MiB for the signature doctor, 64 KiB for everything else.',
    remedy:
      'Send less. Of a batch, some lines may have been taken already: sending them again is harmless.',
  },
  'malformed-json': {
    status: 400,
    title: 'The request body is not JSON',
    meaning:
      'The body could not be read as JSON (RFC 8259) in UTF-8, or it is nested too deeply or made of too many values.',
    remedy: 'Send one JSON object. Let a library write it.',
  },
  'malformed-request': {
    status: 400,
    title: 'The request is malformed',
    meaning:
      'The request does not follow HTTP: its address, its headers or its length cannot be read safely.',
    remedy: 'Send the request with an ordinary HTTP library, and percent-encode the address.',
  },
  'headers-too-large': {
    status: 431,
    title: 'The request headers are too large',
    meaning: 'Address and headers together have more than 16 KiB.',
    remedy: 'Send fewer or shorter headers.',
  },
  'request-timeout': {
    status: 408,
    title: 'The request took too long to arrive',
    meaning:
      'Headers must arrive within 10 seconds and the whole request within 30. Of a batch of payments the sender may be silent for 30 seconds at most.',
    remedy: 'Send it again on a new connection.',
  },
  'invalid-fields': {
    status: 400,
    title: 'The request body does not conform',
    meaning:
      'Fields are missing or do not conform. The list `errors` names all of them at once, each with a JSON pointer and a code of its own.',
    remedy: 'Correct every field that is named and send the request again.',
  },
  'invalid-query': {
    status: 400,
    title: 'The query parameters do not conform',
    meaning:
      'Query parameters are not what the operation takes, or were given twice. The list `errors` names all of them.',
    remedy: 'Correct every parameter that is named and send the request again.',
  },
  'invalid-credentials': {
    status: 401,
    title: 'The credentials are wrong',
    meaning:
      'No active client has this clientId and clientSecret. The answer is the same for an unknown client and for a wrong secret.',
    remedy: 'Use the credentials from onboarding. The operator can issue a new secret.',
    challenge: 'Bearer',
  },
  'unsupported-grant-type': {
    status: 400,
    title: 'The grant type is not supported',
    meaning:
      'The form asks for a token by another grant than client_credentials. This service knows no users and no refresh tokens.',
    remedy: 'Send grant_type=client_credentials. Get a new token in the same way when one expires.',
  },
  'missing-token': {
    status: 401,
    title: 'An access token is required',
    meaning: 'The request carries no Authorization header with a Bearer token.',
    remedy: 'Get a token from POST /auth/token and send it as Authorization: Bearer <token>.',
    challenge: 'Bearer',
  },
  'invalid-token': {
    status: 401,
    title: 'The access token is not valid',
    meaning:
      'The token is malformed, forged or expired, belongs to a disabled client, or is not meant for this part of the service.',
    remedy: 'Get a new token from POST /auth/token. A token lasts one hour by default.',
    challenge: 'Bearer error="invalid_token"',
  },
  'invalid-account': {
    status: 403,
    title: 'The account is not valid',
    meaning:
      'The AccountId header is missing, is not a uuid, was sent twice, or is not the id of an account of yours.',
    remedy: 'Send the id of one of your accounts in the header AccountId, once.',
  },
  'role-not-allowed': {
    status: 403,
    title: 'The key’s role does not allow this',
    meaning:
      'The operator’s key is right, but not for this: `ingest` only writes payments, `viewer` only reads.',
    remedy: 'Use a key whose role allows it. An admin can make one with POST /operator/v1/keys.',
  },
  'too-many-requests': {
    status: 429,
    title: 'Too many requests',
    meaning:
      'More requests, or more failed logins, came from you than are allowed in this time. Each process of the service counts for itself.',
    remedy: 'Wait for the seconds in the Retry-After header, then go on more slowly.',
  },
  'client-moved': {
    status: 308,
    title: 'The client has moved to another cell',
    meaning:
      'All data of this client is at the address in the Location header, under the same ids. Nothing was done here.',
    remedy:
      'Send the request to that address, with its Authorization header, and use the address from now on. Many HTTP libraries drop the header when they follow a redirect to another host.',
  },
  'too-many-endpoints': {
    status: 409,
    title: 'There are too many endpoints',
    meaning: 'The account has as many webhooks, or the client as many subscriptions, as it may.',
    remedy: 'Delete one that is no longer used. The same callbackUrl again never counts twice.',
  },
  'too-many-secrets': {
    status: 409,
    title: 'The client has two secrets already',
    meaning: 'Two secrets may live at once, so that a client can rotate without a gap.',
    remedy: 'Delete the older secret, then issue a new one.',
  },
  'client-disabled': {
    status: 409,
    title: 'The client is disabled',
    meaning: 'A disabled client cannot be signed in as.',
    remedy: 'Enable the client, then try again.',
  },
  'too-many-keys': {
    status: 409,
    title: 'There are too many operator’s keys',
    meaning: 'As many keys are live as there may be: 100.',
    remedy: 'Revoke keys that are no longer used. The list tells when each was last used.',
  },
  'key-name-taken': {
    status: 409,
    title: 'The name belongs to another key',
    meaning:
      'The audit calls actors by the names of their keys, so a name belongs to one live key; `operator` is the key of PAYBELL_OPERATOR_KEY.',
    remedy: 'Choose another name, or revoke the key that has it.',
  },
  'account-required': {
    status: 400,
    title: 'An account is required',
    meaning: 'The AccountId header is missing or is not a uuid; it names the payment’s account.',
    remedy: 'Send the account’s id in the header AccountId, once.',
  },
  'unknown-account': {
    status: 404,
    title: 'The account is not known',
    meaning: 'No client has an account with this id.',
    remedy: 'Check the id, or open the account first.',
  },
  'payment-of-another-account': {
    status: 409,
    title: 'The payment belongs to another account',
    meaning: 'A payment stays with the account that it was first written for.',
    remedy: 'Send the AccountId of the first write, or use another payment id.',
  },
  'forbidden-move': {
    status: 409,
    title: 'The payment cannot move to this state',
    meaning:
      'DRAFT leads to PENDING_APPROVAL, DUE or CANCELLED; PENDING_APPROVAL to DRAFT, DUE or CANCELLED; DUE to PAID or CANCELLED. PAID and CANCELLED are final.',
    remedy: 'Read the payment as it is now and send the change that is meant.',
  },
  'delivery-not-final': {
    status: 409,
    title: 'The delivery is still under way',
    meaning:
      'Only a delivery that has ended can be replayed. This one is pending: Paybell attempts it by itself.',
    remedy:
      'To have it sent now, retry it: POST …/retry. GET the delivery to see when the next attempt is.',
  },
  'delivery-final': {
    status: 409,
    title: 'The delivery has ended',
    meaning: 'Only a delivery that is still pending can be retried or cancelled.',
    remedy: 'To send it again, replay it. It is not sent again by itself.',
  },
  'no-receipt': {
    status: 409,
    title: 'The delivery has no receipt',
    meaning:
      'Only a delivery that was answered with 200 has a receipt, and none of the attempts was.',
    remedy: 'GET the delivery to see its attempts. While it is pending, ask again later.',
  },
  'payload-expired': {
    status: 410,
    title: 'The payload is no longer kept',
    meaning:
      'The exact bytes of this event were removed when their time was over, or the payment was erased.',
    remedy:
      'GET the payment to see it as it is now. If that is gone as well, it was erased, for good.',
  },
  'link-ended': {
    status: 410,
    title: 'The link is no longer good',
    meaning:
      'A link to a document holds for some days after its event, while the endpoint exists that it was sent to, and while its client is active. This one is over, for now or for ever.',
    remedy:
      'GET /v1/events/{id} with a token: it has the file for as long as the event is kept. Fetch files soon after their callback.',
  },
  'endpoint-deleted': {
    status: 409,
    title: 'The endpoint of the delivery was deleted',
    meaning: 'The history of a deleted endpoint can be read, but nothing is sent to it any more.',
    remedy:
      'Register the address again: it gets every change from then on. GET the payment to see it as it is now.',
  },
  'endpoint-not-active': {
    status: 409,
    title: 'The endpoint is not active',
    meaning:
      'It is paused or disabled: what it is owed waits, and cannot be retried until it is active.',
    remedy:
      'Resume it: PATCH the endpoint with {"status": "ACTIVE"}. Everything that it is owed is due at once then, without a retry.',
  },
  'offer-gone': {
    status: 410,
    title: 'The time for this outcome is over',
    meaning:
      'An attempt ends 15 seconds after it began, and is answered once. What was offered is unknown, answered already, or its time is over; then it is tried again.',
    remedy: 'Ask for the next callback. Answer each within its timeoutMs.',
  },
  'filter-too-wide': {
    status: 400,
    title: 'The filter matches too many deliveries',
    meaning:
      'At most 100,000 deliveries are replayed, recovered, retried or cancelled at once, of at most 200 payments with the same externalId, and only as many are looked through as fit into a few seconds.',
    remedy:
      'Narrow the filter, for instance to a shorter time, one endpoint or one state, and act several times. A dry run tells how many match.',
  },
  'cursor-expired': {
    status: 410,
    title: 'The cursor is older than what is kept',
    meaning:
      'Events that this cursor had not reached were removed when their time was over: going on from it would hide a gap.',
    remedy:
      'Ask without `after` to begin with the oldest event that is kept, and GET the payments that you know to see them as they are now.',
  },
  'check-running': {
    status: 409,
    title: 'A check of this receiver is running',
    meaning: 'A receiver is checked by one caller at a time, so that its answers mean something.',
    remedy: 'Wait for the running check to end, a minute at most, then ask again.',
  },
  'database-away': {
    status: 503,
    title: 'The service cannot reach its database',
    meaning: 'The request was not carried out, or its answer got lost. It says nothing about you.',
    remedy:
      'Send it again after the seconds in Retry-After. Writes of payments, subscriptions and webhooks may be repeated without harm.',
  },
  'not-ready': {
    status: 503,
    title: 'The service is not ready',
    meaning: 'The process runs but cannot serve yet, or no longer; the detail says why.',
    remedy: 'Ask again after the seconds in Retry-After. Send no traffic to it until then.',
  },
  overloaded: {
    status: 503,
    title: 'The service is busy',
    meaning:
      'More is waiting than can be answered in time, so this request was turned away at once; or the client is being moved to another cell.',
    remedy: 'Send it again after the seconds in Retry-After.',
  },
  'cell-required': {
    status: 400,
    title: 'The request does not say which cell it is for',
    meaning:
      'There are several cells, and nothing in this request says which one is meant: a new client, statistics, a bulk replay, or a number of no cell.',
    remedy:
      'Send the header X-Paybell-Cell with the number of the cell. GET /operator/v1/cells lists them.',
  },
  'cell-away': {
    status: 503,
    title: 'The cell cannot be reached',
    meaning:
      'The cell that has this client does not answer. Nothing was done. Clients of other cells are not affected.',
    remedy: 'Send it again after the seconds in Retry-After.',
  },
  'answer-lost': {
    status: 502,
    title: 'The answer of the cell was lost',
    meaning:
      'The request reached the cell, and the connection broke before the answer. It may have been carried out.',
    remedy:
      'Look whether it was carried out, then send it again if not. Writes of payments, subscriptions and webhooks may be repeated without harm.',
  },
  internal: {
    status: 500,
    title: 'Something went wrong inside the service',
    meaning: 'This is a mistake of ours. It is in our log under the request id.',
    remedy: 'Try again; if it happens again, tell the operator the request id.',
  },
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
