// One wide line per request, from an allow-list of fields: the route's pattern, never the address
// (queries are credentials), and no headers or bodies.

import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Mode } from '../../config/config.ts'

/**
 * The level of a refused call. A sandbox shows warnings only: there a refusal is a warning, so that the
 * request id of a problem can be found in the log.
 */
export function refusalLevel(mode: Mode): 'info' | 'warn' {
  return mode === 'sandbox' ? 'warn' : 'info'
}

export function logRequests(app: FastifyInstance, mode: Mode): void {
  // Pino has this method; Fastify's logger type does not.
  const log: FastifyBaseLogger & { isLevelEnabled?(level: string): boolean } = app.log
  app.addHook('onResponse', (request, reply, done) => {
    done()
    const level = levelOf(request, reply, mode)
    // Skip building the line when the level is off.
    if (log.isLevelEnabled?.(level) === false) return
    const line = {
      requestId: request.id,
      method: request.method,
      route: request.route?.url ?? null,
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
  if (request.route?.config?.isProbe) return statusCode < 400 ? 'debug' : 'info'
  // A mistake of ours already has a line of its own.
  return statusCode >= 400 && statusCode < 500 ? refusalLevel(mode) : 'info'
}
