// The operator's actions on one delivery: replay it, or cancel it.

import { cancelDelivery } from '../../../operations/deliveries/cancel-delivery.ts'
import { replayDelivery } from '../../../operations/deliveries/replay-delivery.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { auditOf } from '../../answers/audit.ts'
import { refuseDryRun } from '../../basics/dry-run.ts'
import type { Routes } from '../../basics/typed.ts'
import { ABOUT_CLIENT_PROBLEMS, IdParams, problemResponses, readId } from '../../schemas/schemas.ts'
import { ChangedDeliverySchema, toChangedDelivery } from '../client/delivery-actions.ts'

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
