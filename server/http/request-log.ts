// One wide line per request, from an allow-list of fields: the route's pattern, never the address
// (queries are credentials), and no headers or bodies.

import type { FastifyBaseLogger, FastifyInstance } from 'fastify'

export function logRequests(app: FastifyInstance): void {
  // Pino has it; Fastify's type of a logger does not know.
  const log: FastifyBaseLogger & { isLevelEnabled?(level: string): boolean } = app.log
  app.addHook('onResponse', (request, reply, done) => {
    done()
    // The line is not even made when nobody wants it; nobody wants the quiet ones alone.
    if (log.isLevelEnabled?.('info') === false) return
    const isQuiet = request.routeOptions.config?.isProbe && reply.statusCode < 400
    if (isQuiet && log.isLevelEnabled?.('debug') === false) return
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
    if (isQuiet) log.debug(line, 'request.answered')
    else log.info(line, 'request.answered')
  })
}
