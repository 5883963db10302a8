// One wide line per request, from an allow-list of fields: the route's pattern, never the address
// (queries are credentials), and no headers or bodies.

import type { FastifyInstance } from 'fastify'

export function logRequests(app: FastifyInstance): void {
  app.addHook('onResponse', async (request, reply) => {
    const line = {
      requestId: request.id,
      method: request.method,
      route: request.is404 ? null : (request.routeOptions.url ?? null),
      status: reply.statusCode,
      code: request.problemCode ?? undefined,
      durationMs: Math.round(reply.elapsedTime * 10) / 10,
      clientId: request.caller?.clientId,
      accountId: request.accountId ?? undefined,
    }
    const isQuiet = request.routeOptions.config?.isProbe && reply.statusCode < 400
    if (isQuiet) app.log.debug(line, 'request.answered')
    else app.log.info(line, 'request.answered')
  })
}
