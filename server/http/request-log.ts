// One wide line per request, from an allow-list of fields: the route's pattern, never the address
// (queries are credentials), and no headers or bodies.

import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Mode } from '../config/config.ts'

/**
 * Of a call that was refused. A sandbox shows warnings alone: there a refusal is one, so that the request
 * id of a problem can be found in the log.
 */
export function refusalLevel(mode: Mode): 'info' | 'warn' {
  return mode === 'sandbox' ? 'warn' : 'info'
}

export function logRequests(app: FastifyInstance, mode: Mode): void {
  // Pino has it; Fastify's type of a logger does not know.
  const log: FastifyBaseLogger & { isLevelEnabled?(level: string): boolean } = app.log
  app.addHook('onResponse', (request, reply, done) => {
    done()
    const level = levelOf(request, reply, mode)
    // The line is not even made when nobody wants it.
    if (log.isLevelEnabled?.(level) === false) return
    const line = {
      requestId: request.id,
      method: request.method,
      route: request.is404 ? null : (request.routeOptions.url ?? null),
      status: reply.statusCode,
      code: request.problemCode ?? undefined,
      durationMs: Math.round(reply.elapsedTime * 10) / 10,
      clientId: request.caller?.clientId,
      actor: request.operator?.actor,
      accountId: request.accountId ?? undefined,
      ...request.logged,
    }
    log[level](line, 'request.answered')
  })
}

function levelOf(
  request: FastifyRequest,
  { statusCode }: FastifyReply,
  mode: Mode,
): 'debug' | 'info' | 'warn' {
  if (request.routeOptions.config?.isProbe) return statusCode < 400 ? 'debug' : 'info'
  // A mistake of ours has a line of its own already.
  return statusCode >= 400 && statusCode < 500 ? refusalLevel(mode) : 'info'
}
