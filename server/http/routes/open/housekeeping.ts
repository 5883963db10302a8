// What machines ask of a running process: is it alive, may traffic come, what are its numbers.

import type { FastifyReply } from 'fastify'
import { ServiceError } from '../../../core/plain/errors.ts'
import type { OperatorKeys } from '../../../operations/access/live-operator-keys.ts'
import { sendFailure } from '../../answers/failures.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { authenticateOperator } from '../../requests/authenticate.ts'
import { answer, forAnyone, OPERATOR_PROBLEMS, problemResponses } from '../../schemas/calls.ts'
import type { ServerDeps, Surface } from '../server-deps.ts'

const tags = ['Housekeeping']

export function housekeepingRoutes(deps: ServerDeps, keys: OperatorKeys, surface: Surface): Routes {
  return (app) => {
    app.route({
      method: 'GET',
      url: '/livez',
      config: { isProbe: true },
      schema: {
        operationId: 'isAlive',
        tags,
        summary: 'Whether the process runs',
        description: 'For a supervisor: restart the process when this is not answered with 200.',
        security: [],
        response: {
          200: answer(
            'The process runs.',
            Type.Object({ status: Type.String({ examples: ['alive'] }) }),
          ),
        },
      },
      handler: async () => ({ status: 'alive' }),
    })

    app.route({
      method: 'GET',
      url: '/readyz',
      config: { isProbe: true },
      ...forAnyone({
        operationId: 'isReady',
        tags,
        summary: 'Whether traffic may come',
        description:
          'For a load balancer: send traffic to the process only while this is 200. A 503 says why not, in `reasons`.',
        answers: {
          200: answer(
            'The process can do its work.',
            Type.Object({ status: Type.String({ examples: ['ready'] }) }),
          ),
        },
        problems: ['not-ready'],
      }),
      handler: async (request, reply) => {
        const { ready, reasons } = await deps.readiness()
        if (ready) return { status: 'ready' }
        const failure = new ServiceError('not-ready', `Not ready. ${reasons.join(' ')}`, {
          retryAfterSeconds: 2,
        })
        return sendFailure(failure, request, asReply(reply), deps.baseUrl(), { reasons })
      },
    })

    if (surface === 'public') return
    const isGuarded = deps.config.mode === 'production' && surface === 'all'
    app.route({
      method: 'GET',
      url: '/metrics',
      config: { isProbe: true, role: 'viewer' },
      onRequest: isGuarded ? [authenticateOperator(keys)] : [],
      schema: {
        operationId: 'readMetrics',
        tags,
        summary: 'Numbers in Prometheus format',
        description:
          'Open in the sandbox and on the operator’s port; elsewhere it needs an operator’s key with the role `admin` or `viewer`.',
        security: isGuarded ? [{ operatorKey: [] }] : [],
        produces: ['text/plain'],
        response: {
          200: answer('Metrics in the text format of Prometheus.', Type.String()),
          ...(isGuarded ? problemResponses(...OPERATOR_PROBLEMS) : {}),
        },
      },
      handler: async (_request, reply) => {
        reply.header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
        return deps.metrics()
      },
    })
  }
}

/** A problem has another shape than the route's own answer: the reply's type forgets that shape. */
function asReply(reply: unknown): FastifyReply {
  return reply as FastifyReply
}
