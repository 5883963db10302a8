// Reports each answer to the metrics: the route's pattern, never the address.

import type { FastifyInstance } from 'fastify'

export interface AnsweredRequest {
  method: string
  /** The route's pattern; null when the address led to none. */
  route: string | null
  status: number
  seconds: number
}

export function countRequests(
  app: FastifyInstance,
  count: (request: AnsweredRequest) => void,
): void {
  app.addHook('onResponse', (request, reply, done) => {
    count({
      method: request.method,
      route: request.route?.url ?? null,
      status: reply.statusCode,
      seconds: reply.elapsedTime / 1_000,
    })
    done()
  })
}
