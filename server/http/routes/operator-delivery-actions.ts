// The operator's actions on one delivery: replay it, or cancel it.

import { cancelDelivery } from '../../operations/cancel-delivery.ts'
import type { Deps } from '../../operations/parts/deps.ts'
import { replayDelivery } from '../../operations/replay-delivery.ts'
import { auditOf } from '../audit.ts'
import { refuseDryRun } from '../dry-run.ts'
import { ABOUT_CLIENT_PROBLEMS, IdParams, problemResponses, readId } from '../schemas.ts'
import type { Routes } from '../typed.ts'
import { ChangedDeliverySchema, toChangedDelivery } from './delivery-actions.ts'

export const ANY_CLIENT = { clientKey: null, accountId: null }

export function operatorDeliveryActionRoutes(deps: Deps): Routes {
  return (app) => {
    app.route({
      method: 'POST',
      url: '/deliveries/:id/replay',
      config: { role: 'admin' },
      schema: {
        operationId: 'operatorReplayDelivery',
        summary: 'Send a delivery again',
        description:
          'Begins a new run of 7 days for a delivery that has ended: the same bytes and the same webhook-id.',
        params: IdParams,
        response: {
          202: ChangedDeliverySchema,
          ...problemResponses(
            ...ABOUT_CLIENT_PROBLEMS,
            'invalid-query',
            'invalid-fields',
            'not-found',
            'delivery-not-final',
            'endpoint-deleted',
            'payload-expired',
          ),
        },
      },
      handler: async (request, reply) => {
        refuseDryRun(request)
        const audit = auditOf(deps, request, 'delivery.replay')
        const replayed = await replayDelivery(deps, ANY_CLIENT, readId(request.params.id), audit)
        reply.code(202)
        return toChangedDelivery(replayed)
      },
    })

    app.route({
      method: 'POST',
      url: '/deliveries/:id/cancel',
      config: { role: 'admin' },
      schema: {
        operationId: 'cancelDelivery',
        summary: 'Cancel a pending delivery',
        description:
          'No attempt of it starts any more. One that is under way ends by itself and changes nothing. It can be replayed later.',
        params: IdParams,
        response: {
          200: ChangedDeliverySchema,
          ...problemResponses(
            ...ABOUT_CLIENT_PROBLEMS,
            'invalid-query',
            'invalid-fields',
            'not-found',
            'delivery-final',
          ),
        },
      },
      handler: async (request) => {
        refuseDryRun(request)
        const audit = auditOf(deps, request, 'delivery.cancel')
        return toChangedDelivery(
          await cancelDelivery(deps, ANY_CLIENT, readId(request.params.id), audit),
        )
      },
    })
  }
}
