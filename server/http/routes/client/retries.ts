// Retry now, for a client whose receiver works again: one delivery, or everything that an endpoint is owed.

import { retryDelivery } from '../../../operations/deliveries/retry-delivery.ts'
import { retryEndpoint } from '../../../operations/deliveries/retry-endpoint.ts'
import { RetryLimits } from '../../../operations/deliveries/retry-limits.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { refuseDryRun } from '../../basics/dry-run.ts'
import { Type } from '../../basics/type.ts'
import type { App, Routes } from '../../basics/typed.ts'
import { callerOf } from '../../requests/authenticate.ts'
import { ENDPOINT_DOORS, type EndpointDoorEntry } from '../../schemas/endpoint-doors.ts'
import {
  CLIENT_PROBLEMS,
  IdParams,
  OptionalAccountHeader,
  problemResponses,
  readId,
} from '../../schemas/schemas.ts'
import { ChangedDeliverySchema, toChangedDelivery } from './delivery-actions.ts'

export const RetriedSchema = Type.Object(
  {
    retried: Type.Integer({
      description: 'Everything that is owed, updates that wait for older ones included.',
    }),
  },
  { examples: [{ retried: 12 }] },
)

export const RETRY_DESCRIPTION =
  'The next attempt is due now, in the same run of 7 days. The order holds: an older update of the payment that is still owed goes first, and is due now too. An endpoint that was down is probed at once.'

export const RETRY_ALL_DESCRIPTION =
  'Everything that it is owed is due now, in order. If it was down, one attempt probes it at once, and the rest follows step by step when that gets its 200.'

export function retryRoutes(deps: Deps): Routes {
  const limits = new RetryLimits(deps.clock)
  return (app) => {
    app.route({
      method: 'POST',
      url: '/v1/deliveries/:id/retry',
      config: { account: 'optional' },
      schema: {
        operationId: 'retryDelivery',
        tags: ['Deliveries'],
        summary: 'Send a pending delivery now',
        description: RETRY_DESCRIPTION,
        headers: OptionalAccountHeader,
        params: IdParams,
        response: {
          202: ChangedDeliverySchema,
          ...problemResponses(
            ...CLIENT_PROBLEMS,
            'invalid-account',
            'invalid-query',
            'invalid-fields',
            'not-found',
            'delivery-final',
            'endpoint-not-active',
            'overloaded',
          ),
        },
      },
      handler: async (request, reply) => {
        refuseDryRun(request)
        const { clientKey } = callerOf(request)
        const owner = { clientKey, accountId: request.accountId }
        const retried = await retryDelivery(deps, owner, readId(request.params.id), { limits })
        reply.code(202)
        return toChangedDelivery(retried)
      },
    })

    for (const door of ENDPOINT_DOORS) addRetry(app, deps, limits, door)
  }
}

function addRetry(
  app: App,
  deps: Deps,
  limits: RetryLimits,
  { kind, path, name, tag }: EndpointDoorEntry,
): void {
  app.route({
    method: 'POST',
    url: `${path}/:id/retry`,
    config: { account: 'optional' },
    schema: {
      operationId: `retry${name}`,
      tags: [tag],
      summary: `Send everything that is pending for a ${kind} now`,
      description: RETRY_ALL_DESCRIPTION,
      headers: OptionalAccountHeader,
      params: IdParams,
      response: {
        202: RetriedSchema,
        ...problemResponses(
          ...CLIENT_PROBLEMS,
          'invalid-account',
          'invalid-query',
          'invalid-fields',
          'not-found',
          'endpoint-not-active',
          'overloaded',
        ),
      },
    },
    handler: async (request, reply) => {
      refuseDryRun(request)
      const { clientKey } = callerOf(request)
      const scope = { clientKey, kind, accountId: request.accountId }
      const retried = await retryEndpoint(deps, scope, readId(request.params.id), limits)
      reply.code(202)
      return { retried }
    },
  })
}
