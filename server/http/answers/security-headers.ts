// Headers that every answer carries, and the one header that every HTTP/1.1 request must.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ServiceError } from '../../core/plain/errors.ts'
import { onlyHeaderValue } from '../basics/header-values.ts'

export const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  // Answers are a client's own; what may be cached says so itself.
  'cache-control': 'no-store',
}

export function setSecurityHeaders(app: FastifyInstance): void {
  // Not async: it runs for every request, and a promise would cost more than the work.
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(SECURITY_HEADERS).header('x-request-id', request.id)
    if (request.raw.httpVersion === '1.1' && !hasHost(request)) {
      done(new ServiceError('malformed-request', 'Send one Host header that names a host.'))
    } else done()
  })
}

let lastGoodHost: string | undefined

/** RFC 9112 §3.2: a missing, invalid or repeated Host is refused with 400. */
function hasHost(request: FastifyRequest): boolean {
  const host = onlyHeaderValue(request, 'host')
  if (host === undefined) return false
  // Nearly all requests name the same host.
  if (host === lastGoodHost) return true
  const isGood = /^[^\s/?#@\\]+$/.test(host) && URL.canParse(`http://${host}`)
  if (isGood) lastGoodHost = host
  return isGood
}
