// Headers that every answer carries, and the one header that every HTTP/1.1 request must.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ServiceError } from '../core/errors.ts'
import { headerValues } from './authenticate.ts'

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
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(SECURITY_HEADERS).header('x-request-id', request.id)
    if (request.raw.httpVersion === '1.1' && !hasHost(request)) {
      throw new ServiceError('malformed-request', 'Send one Host header that names a host.')
    }
  })
}

/** RFC 9112 §3.2: a missing, invalid or repeated Host is refused with 400. */
function hasHost(request: FastifyRequest): boolean {
  const [host, ...others] = headerValues(request, 'host')
  if (host === undefined || others.length > 0) return false
  return /^[^\s/?#@\\]+$/.test(host) && URL.canParse(`http://${host}`)
}
