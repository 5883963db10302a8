// Retry now, for the operator: one delivery, or everything that an endpoint is owed.

import { retryDelivery } from '../../../operations/deliveries/retry-delivery.ts'
import { retryAnyEndpoint } from '../../../operations/deliveries/retry-endpoint.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { auditOf } from '../../answers/audit.ts'
import { refuseDryRun } from '../../basics/dry-run.ts'
import type { Routes } from '../../basics/typed.ts'
import { ABOUT_CLIENT_PROBLEMS, IdParams, problemResponses, readId } from '../../schemas/schemas.ts'
import { ChangedDeliverySchema, toChangedDelivery } from '../client/delivery-actions.ts'
import { RETRY_ALL_DESCRIPTION, RETRY_DESCRIPTION, RetriedSchema } from '../client/retries.ts'
import { ANY_CLIENT } from './operator-delivery-actions.ts'

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
