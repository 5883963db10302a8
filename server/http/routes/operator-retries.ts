// Retry now, for the operator: one delivery, or everything that an endpoint is owed.

import type { Deps } from '../../operations/parts/deps.ts'
import { retryDelivery } from '../../operations/retry-delivery.ts'
import { retryAnyEndpoint } from '../../operations/retry-endpoint.ts'
import { auditOf } from '../audit.ts'
import { refuseDryRun } from '../dry-run.ts'
import { ABOUT_CLIENT_PROBLEMS, IdParams, problemResponses, readId } from '../schemas.ts'
import type { Routes } from '../typed.ts'
import { ChangedDeliverySchema, toChangedDelivery } from './delivery-actions.ts'
import { ANY_CLIENT } from './operator-delivery-actions.ts'
import { RETRY_ALL_DESCRIPTION, RETRY_DESCRIPTION, RetriedSchema } from './retries.ts'

export function operatorRetryRoutes(deps: Deps): Routes {
  return (app) => {
    app.route({
      method: 'POST',
      url: '/deliveries/:id/retry',
      config: { role: 'admin' },
      schema: {
        operationId: 'operatorRetryDelivery',
        summary: 'Send a pending delivery now',
        description: RETRY_DESCRIPTION,
        params: IdParams,
        response: {
          202: ChangedDeliverySchema,
          ...problemResponses(
            ...ABOUT_CLIENT_PROBLEMS,
            'invalid-query',
            'invalid-fields',
            'not-found',
            'delivery-final',
            'endpoint-not-active',
          ),
        },
      },
      handler: async (request, reply) => {
        refuseDryRun(request)
        const audit = auditOf(deps, request, 'delivery.retry')
        const retried = await retryDelivery(deps, ANY_CLIENT, readId(request.params.id), { audit })
        reply.code(202)
        return toChangedDelivery(retried)
      },
    })

    app.route({
      method: 'POST',
      url: '/endpoints/:id/retry',
      config: { role: 'admin' },
      schema: {
        operationId: 'operatorRetryEndpoint',
        summary: 'Send everything that is pending for an endpoint now',
        description: RETRY_ALL_DESCRIPTION,
        params: IdParams,
        response: {
          202: RetriedSchema,
          ...problemResponses(
            ...ABOUT_CLIENT_PROBLEMS,
            'invalid-query',
            'invalid-fields',
            'not-found',
            'endpoint-not-active',
          ),
        },
      },
      handler: async (request, reply) => {
        refuseDryRun(request)
        const audit = auditOf(deps, request, 'endpoint.retry')
        const retried = await retryAnyEndpoint(deps, readId(request.params.id), audit)
        reply.code(202)
        return { retried }
      },
    })
  }
}
