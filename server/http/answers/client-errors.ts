// Failures before there is a request: broken HTTP, oversized headers, a sender that is too slow, CONNECT.
// Node hands over the bare socket; it gets an answer as a problem, and is closed.

import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import { ServiceError } from '../../core/plain/errors.ts'
import { PROBLEMS, problemHeaders, toProblem } from '../basics/problems.ts'
import { isPatientWith } from '../requests/patient-body.ts'

/** How long a peer may go on sending after the answer before the socket is destroyed. */
const LINGER_MS = 1_000

const METHODS_ALLOWED = 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT'

/** Sockets that have been answered: further bytes are dropped. */
const answered = new WeakSet<Socket>()

interface AnswerContext {
  baseUrl: string
  logger: FastifyBaseLogger
  level: 'info' | 'warn'
}

export function answerClientError(
  error: Error & { code?: string },
  socket: Socket,
  context: AnswerContext,
): void {
  if (answered.has(socket)) return
  // Such a body has a time limit on the sender's silence instead (patient-body.ts).
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isPatientWith(socket)) return
  // The peer is gone, or an answer is already under way on this socket: another would corrupt it.
  if (error.code === 'ECONNRESET' || !socket.writable || hasBegunAnswer(socket)) {
    socket.destroy(error)
    return
  }
  answerOnSocket(socket, toFailure(error.code), context)
}

/** CONNECT asks for a tunnel, and Node hands over the socket: without this it would be closed unanswered. */
export function answerConnect(socket: Socket, context: AnswerContext): void {
  // What a tunnel would carry is not read.
  socket.on('error', () => socket.destroy())
  socket.resume()
  const failure = new ServiceError('method-not-allowed', 'This service is no proxy.')
  answerOnSocket(socket, failure, context, { allow: METHODS_ALLOWED })
}

function answerOnSocket(
  socket: Socket,
  failure: ServiceError,
  context: AnswerContext,
  more: Readonly<Record<string, string>> = {},
): void {
  const requestId = randomUUID()
  const { status } = PROBLEMS[failure.code]
  const body = JSON.stringify(toProblem(failure, { baseUrl: context.baseUrl, requestId }))
  const headers = {
    ...problemHeaders(failure, requestId),
    ...more,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  context.logger[context.level]({ requestId, status, code: failure.code }, 'request.unreadable')
  answered.add(socket)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
  // Closed at once with unread bytes, the connection would be reset and the answer lost (RFC 9112 §9.6).
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref()
  socket.once('close', () => clearTimeout(timer))
}

function toFailure(code: string | undefined): ServiceError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new ServiceError('headers-too-large', 'Address and headers have more than 16 KiB.')
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new ServiceError('request-timeout', 'The request did not arrive in time.')
  }
  return new ServiceError('malformed-request', 'The request does not follow HTTP.')
}

/** Node keeps the answer under way on the socket; a second status line would corrupt the first. */
function hasBegunAnswer(socket: Socket): boolean {
  const answer = (socket as Socket & { _httpMessage?: { headersSent: boolean } })._httpMessage
  return answer?.headersSent === true
}
