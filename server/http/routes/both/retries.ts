// Retry now, for a receiver that works again: one delivery, or everything that an endpoint is owed. For clients and for
// the operator.

import { retryDelivery } from '../../../operations/deliveries/retry-delivery.ts'
import { retryAnyEndpoint, retryEndpoint } from '../../../operations/deliveries/retry-endpoint.ts'
import { RetryLimits } from '../../../operations/deliveries/retry-limits.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { auditOf } from '../../answers/audit.ts'
import { NoDryRunQuery } from '../../basics/dry-run.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { ownerOf, scopeOf } from '../../requests/authenticate.ts'
import { ABOUT_CLIENT, answer, forClients, forOperators } from '../../schemas/calls.ts'
import { ENDPOINT_DOORS } from '../../schemas/endpoint-doors.ts'
import { IdParams, readId } from '../../schemas/schemas.ts'
import { ANY_CLIENT, ChangedDeliverySchema, toChangedDelivery } from './delivery-actions.ts'

export const RetriedSchema = Type.Object(
  {
    retried: Type.Integer({
      description: 'All pending deliveries, updates that wait for older ones included.',
    }),
  },
  { examples: [{ retried: 12 }] },
)

const ONE = {
  summary: 'Send a pending delivery now',
  description:
    'The next attempt is due now, in the same run of 7 days. The order holds: an older update of the payment that is still owed goes first, and is due now too. An endpoint that was down is probed at once.',
  params: IdParams,
  querystring: NoDryRunQuery,
  answers: { 202: answer('The next attempt is due now.', ChangedDeliverySchema) },
}
const ONE_PROBLEMS = ['invalid-fields', 'delivery-final', 'endpoint-not-active'] as const

const ALL = {
  description:
    'All its pending deliveries are due now, in order. If it was down, one attempt probes it at once, and the rest follows step by step when that gets its 200.',
  params: IdParams,
  querystring: NoDryRunQuery,
  answers: {
    202: answer('How many deliveries are pending for it. They are due now.', RetriedSchema),
  },
}
const ALL_PROBLEMS = ['invalid-fields', 'endpoint-not-active'] as const

export function retryRoutes(deps: Deps): Routes {
  const limits = new RetryLimits(deps.clock)
  return (app) => {
    app.route({
      method: 'POST',
      url: '/v1/deliveries/:id/retry',
      ...forClients({
        operationId: 'retryDelivery',
        tags: ['Deliveries'],
        ...ONE,
        problems: [...ONE_PROBLEMS, 'overloaded'],
      }),
      handler: async (request, reply) => {
        const id = readId(request.params.id)
        const retried = await retryDelivery(deps, ownerOf(request), id, { limits })
        reply.code(202)
        return toChangedDelivery(retried)
      },
    })

    for (const door of ENDPOINT_DOORS) {
      const { kind, path, name, tags } = door
      app.route({
        method: 'POST',
        url: `${path}/:id/retry`,
        ...forClients({
          operationId: `retry${name}`,
          tags,
          summary: `Send everything that is pending for a ${kind} now`,
          ...ALL,
          problems: [...ALL_PROBLEMS, 'overloaded'],
        }),
        handler: async (request, reply) => {
          const id = readId(request.params.id)
          const retried = await retryEndpoint(deps, scopeOf(request, door), id, limits)
          reply.code(202)
          return { retried }
        },
      })
    }
  }
}

export function operatorRetryRoutes(deps: Deps): Routes {
  return (app) => {
    app.route({
      method: 'POST',
      url: '/deliveries/:id/retry',
      ...forOperators('admin', {
        operationId: 'operatorRetryDelivery',
        ...ONE,
        problems: [...ABOUT_CLIENT, ...ONE_PROBLEMS],
      }),
      handler: async (request, reply) => {
        const audit = auditOf(deps, request, 'delivery.retry')
        const retried = await retryDelivery(deps, ANY_CLIENT, readId(request.params.id), { audit })
        reply.code(202)
        return toChangedDelivery(retried)
      },
    })

    app.route({
      method: 'POST',
      url: '/endpoints/:id/retry',
      ...forOperators('admin', {
        operationId: 'operatorRetryEndpoint',
        summary: 'Send everything that is pending for an endpoint now',
        ...ALL,
        problems: [...ABOUT_CLIENT, ...ALL_PROBLEMS],
      }),
      handler: async (request, reply) => {
        const audit = auditOf(deps, request, 'endpoint.retry')
        const retried = await retryAnyEndpoint(deps, readId(request.params.id), audit)
        reply.code(202)
        return { retried }
      },
    })
  }
}
