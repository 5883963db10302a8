// Every failure of a request ends here, the framework's own included, and becomes a problem. A mistake of
// ours is a 500 without details; its stack goes to the log under the request id.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../core/plain/errors.ts'
import { toServiceError } from '../../operations/shared/service-errors.ts'
import { PROBLEMS, problemHeaders, toProblem } from '../basics/problems.ts'
import { formProblem, isTokenForm } from '../requests/token-form.ts'
import { lingerAfterAnswer } from '../sockets/lingering-close.ts'

export function sendFailure(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  baseUrl: string,
  /** Additional members of this problem (RFC 9457 §3.2). */
  extension: Readonly<Record<string, unknown>> = {},
): FastifyReply {
  const failure = toFailure(error)
  const { status } = PROBLEMS[failure.code]
  if (status >= 500 && failure.code !== 'not-ready') logFailure(request, failure)
  request.problemCode = failure.code
  lingerAfterAnswer(request.raw)
  const isTokenRequest = request.route?.config?.isTokenRequest === true
  const form = isTokenForm(request) ? formProblem(request, failure, status) : null
  const problem = toProblem(failure, { baseUrl, requestId: request.id, isTokenRequest })
  // As bytes: to text the framework adds a charset parameter that this media type does not have.
  return reply
    .code(status)
    .headers(problemHeaders(failure, request.id, request.url))
    .headers(form?.headers ?? {})
    .send(Buffer.from(JSON.stringify({ ...problem, ...form?.members, ...extension })))
}

function logFailure(request: FastifyRequest, failure: ServiceError): void {
  const err = toLogged(failure.cause ?? failure)
  const line = { requestId: request.id, code: failure.code, err }
  if (failure.code === 'internal') request.log.error(line, 'request.failed')
  else request.log.warn(line, 'request.failed')
}

/** An allow-list, because other fields of a database error quote the row that it refused. */
function toLogged(error: unknown) {
  if (!(error instanceof Error)) return { type: typeof error }
  const { code } = error as Error & { code?: unknown }
  return { type: error.name, message: error.message, code, stack: error.stack }
}

// The framework's codes for callers' mistakes; anything else that it refuses with a 4xx is a malformed
// request. Their messages are not passed on, because some quote the request.
const FRAMEWORK_FAILURES: Readonly<Record<string, ServiceError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: new ServiceError(
    'body-too-large',
    'The request body is larger than this operation takes.',
  ),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: new ServiceError(
    'unsupported-media-type',
    'This operation does not take a body of this content type.',
  ),
  FST_ERR_CTP_EMPTY_TYPE: new ServiceError('unsupported-media-type', 'Send a Content-Type header.'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: new ServiceError(
    'malformed-request',
    'The Content-Length header does not match the body.',
  ),
  FST_ERR_BAD_URL: new ServiceError(
    'malformed-request',
    'The address is not percent-encoded correctly.',
  ),
}

function toFailure(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  if (error instanceof Error) {
    const { code, statusCode } = error as Error & { code?: unknown; statusCode?: unknown }
    if (typeof code === 'string' && Object.hasOwn(FRAMEWORK_FAILURES, code)) {
      return FRAMEWORK_FAILURES[code] as ServiceError
    }
    const isFromFramework = typeof code === 'string' && code.startsWith('FST_')
    // A request that breaks off mid-body surfaces as an error of its stream.
    const isBrokenOff = code === 'ECONNRESET' && statusCode === 400
    if (isBrokenOff || (isFromFramework && typeof statusCode === 'number' && statusCode < 500)) {
      return new ServiceError('malformed-request', 'The request could not be read.')
    }
  }
  return toServiceError(error)
}
