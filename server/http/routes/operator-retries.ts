// Retry now, for the operator: one delivery, everything that an endpoint is owed, or all that match a filter.

import { Type } from 'typebox'
import { parseDeliveryFilter } from '../../core/delivery-filter.ts'
import { changeDeliveries, previewChange } from '../../operations/change-deliveries.ts'
import type { JobDeps } from '../../operations/parts/start-job.ts'
import { retryDelivery } from '../../operations/retry-delivery.ts'
import { retryAnyEndpoint } from '../../operations/retry-endpoint.ts'
import { auditOf } from '../audit.ts'
import { isDryRun, refuseDryRun } from '../dry-run.ts'
import { IdParams, OPERATOR_PROBLEMS, problemResponses, readId } from '../schemas.ts'
import type { Routes } from '../typed.ts'
import { ChangedDeliverySchema, toChangedDelivery } from './delivery-actions.ts'
import {
  ANY_CLIENT,
  AT_FILTER,
  BULK_PROBLEMS,
  BulkBody,
  BulkQuery,
  breakdownFor,
  optionalBreakdown,
} from './operator-delivery-actions.ts'
import { RETRY_ALL_DESCRIPTION, RETRY_DESCRIPTION, RetriedSchema } from './retries.ts'

const WouldRetry = Type.Object(
  { wouldRetry: Type.Integer(), ...optionalBreakdown },
  { examples: [{ wouldRetry: 12 }] },
)

export function operatorRetryRoutes(deps: JobDeps): Routes {
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
            ...OPERATOR_PROBLEMS,
            'invalid-query',
            'not-found',
            'delivery-final',
            'endpoint-not-active',
          ),
        },
      },
      handler: async (request, reply) => {
        refuseDryRun(request.query)
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
            ...OPERATOR_PROBLEMS,
            'invalid-query',
            'not-found',
            'endpoint-not-active',
          ),
        },
      },
      handler: async (request, reply) => {
        refuseDryRun(request.query)
        const audit = auditOf(deps, request, 'endpoint.retry')
        const retried = await retryAnyEndpoint(deps, readId(request.params.id), audit)
        reply.code(202)
        return { retried }
      },
    })

    app.route({
      method: 'POST',
      url: '/deliveries/retry',
      config: { role: 'admin' },
      schema: {
        operationId: 'retryDeliveries',
        summary: 'Send all pending deliveries that match a filter now',
        description:
          'All that match, are pending and whose endpoint is active, not one page of them; at most 100,000. Each takes the older updates of its payment with it. With dryRun nothing is changed and the number is told; with byEndpoint also how many there are at which endpoint.',
        querystring: BulkQuery,
        body: BulkBody,
        response: {
          200: WouldRetry,
          202: RetriedSchema,
          ...problemResponses(...OPERATOR_PROBLEMS, ...BULK_PROBLEMS),
        },
      },
      handler: async (request, reply) => {
        const isDry = isDryRun(request)
        const filter = parseDeliveryFilter(request.body.filter, AT_FILTER)
        if (isDry) {
          const found = await previewChange(deps, 'retry', filter)
          return { wouldRetry: found.count, ...breakdownFor(request.query, found) }
        }
        const audit = auditOf(deps, request, 'deliveries.retry')
        const { count, jobId } = await changeDeliveries(deps, 'retry', filter, audit)
        reply.code(202).header('location', `/operator/v1/jobs/${jobId}`)
        return { retried: count }
      },
    })
  }
}
