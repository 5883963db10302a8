// What the route answers by itself: problems, and lists that several cells have given.

import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { ServiceError } from '../core/plain/errors.ts'
import { SECURITY_HEADERS } from '../http/answers/security-headers.ts'
import { PROBLEMS, problemHeaders, toProblem } from '../http/basics/problems.ts'
import { lingerAfterAnswer } from '../http/sockets/lingering-close.ts'

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string | string[]>> = {},
): void {
  const bytes = Buffer.from(JSON.stringify(body))
  response
    .writeHead(status, {
      ...SECURITY_HEADERS,
      'x-request-id': randomUUID(),
      'content-type': 'application/json; charset=utf-8',
      ...headers,
      'content-length': bytes.length,
    })
    .end(bytes)
}

export function sendProblem(response: ServerResponse, error: ServiceError, baseUrl: string): void {
  const requestId = randomUUID()
  if (response.req) lingerAfterAnswer(response.req)
  sendJson(
    response,
    PROBLEMS[error.code].status,
    toProblem(error, { baseUrl, requestId }),
    problemHeaders(error, requestId),
  )
}
