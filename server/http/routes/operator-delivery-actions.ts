// The operator's actions on deliveries: replay or cancel one, or all that match a filter.

import { Type } from 'typebox'
import { DELIVERY_STATES } from '../../core/delivery.ts'
import { parseDeliveryFilter, SEARCH_CHARACTERS_MAX } from '../../core/delivery-filter.ts'
import { EVENT_KINDS } from '../../core/payment.ts'
import { cancelDelivery } from '../../operations/cancel-delivery.ts'
import { changeDeliveries, previewChange } from '../../operations/change-deliveries.ts'
import type { EndpointBreakdown } from '../../operations/parts/endpoint-breakdown.ts'
import type { JobDeps } from '../../operations/parts/start-job.ts'
import { replayDelivery } from '../../operations/replay-delivery.ts'
import { auditOf } from '../audit.ts'
import { ExternalIdFilter, OutcomeFilterSchema, STATES_PATTERN } from '../delivery-schema.ts'
import { DryRun, DryRunQuery, isDryRun, refuseDryRun } from '../dry-run.ts'
import { breakdownProperties, toBreakdownBody } from '../job-schema.ts'
import { TEXT_PATTERN } from '../published.ts'
import { Instant, Uuid } from '../scalars.ts'
import { BODY_PROBLEMS, IdParams, OPERATOR_PROBLEMS, problemResponses, readId } from '../schemas.ts'
import type { Routes } from '../typed.ts'
import { ChangedDeliverySchema, toChangedDelivery } from './delivery-actions.ts'

/** Refuses unknown members: ignoring a misspelt filter would act on everything. */
export const Filter = Type.Object(
  {
    clientId: Type.Optional(Uuid),
    accountId: Type.Optional(Uuid),
    endpointId: Type.Optional(Uuid),
    paymentId: Type.Optional(Uuid),
    eventId: Type.Optional(Uuid),
    job: Type.Optional(Uuid),
    externalId: Type.Optional(ExternalIdFilter),
    outcome: Type.Optional(OutcomeFilterSchema),
    state: Type.Optional(
      Type.Unsafe<string | string[]>({
        type: ['string', 'array'],
        items: { type: 'string', enum: [...DELIVERY_STATES] },
        published: { pattern: STATES_PATTERN, minItems: 1 },
        description: 'One state, several with commas between them, or a list.',
      }),
    ),
    event: Type.Optional(Type.Enum([...EVENT_KINDS])),
    from: Type.Optional(Instant),
    to: Type.Optional(Instant),
    q: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: SEARCH_CHARACTERS_MAX,
        published: { pattern: TEXT_PATTERN },
      }),
    ),
  },
  { additionalProperties: false, description: 'As in the list of deliveries.' },
)

export const BulkBody = Type.Object(
  {
    filter: Filter,
    dryRun: DryRun,
  },
  {
    examples: [
      {
        filter: {
          endpointId: '019c1f6e-0b11-7d3c-8a2f-5e6d7c8b9a01',
          state: 'EXHAUSTED',
          from: '2026-03-01T00:00:00Z',
        },
        dryRun: true,
      },
    ],
  },
)

export const BulkQuery = Type.Object({
  ...DryRunQuery.properties,
  byEndpoint: Type.Optional(
    Type.Boolean({ default: false, description: 'A dry run also counts by endpoint.' }),
  ),
})

export const optionalBreakdown = {
  endpoints: Type.Optional(breakdownProperties.endpoints),
  moreEndpoints: Type.Optional(breakdownProperties.moreEndpoints),
}

const WouldReplay = Type.Object({ wouldReplay: Type.Integer(), ...optionalBreakdown })
const Replayed = Type.Object(
  { replayed: Type.Integer() },
  { description: 'The header Location names the job: GET it to see how far it is.' },
)
const WouldCancel = Type.Object({ wouldCancel: Type.Integer(), ...optionalBreakdown })
const Cancelled = Type.Object({ cancelled: Type.Integer() })

export const BULK_PROBLEMS = [
  ...BODY_PROBLEMS,
  'invalid-query',
  'filter-too-wide',
  'overloaded',
] as const
export const ANY_CLIENT = { clientKey: null, accountId: null }
export const AT_FILTER = { code: 'invalid-fields', pointer: '/filter' } as const

export function operatorDeliveryActionRoutes(deps: JobDeps): Routes {
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
            ...OPERATOR_PROBLEMS,
            'invalid-query',
            'not-found',
            'delivery-not-final',
            'endpoint-deleted',
            'payload-expired',
          ),
        },
      },
      handler: async (request, reply) => {
        refuseDryRun(request.query)
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
          ...problemResponses(...OPERATOR_PROBLEMS, 'invalid-query', 'not-found', 'delivery-final'),
        },
      },
      handler: async (request) => {
        refuseDryRun(request.query)
        const audit = auditOf(deps, request, 'delivery.cancel')
        return toChangedDelivery(
          await cancelDelivery(deps, ANY_CLIENT, readId(request.params.id), audit),
        )
      },
    })

    app.route({
      method: 'POST',
      url: '/deliveries/replay',
      config: { role: 'admin' },
      schema: {
        operationId: 'replayDeliveries',
        summary: 'Replay all deliveries that match a filter',
        description:
          'All that match and have ended, not one page of them, oldest first; at most 100,000. With dryRun nothing is changed and the number is told; with byEndpoint also how many there are at which endpoint, and whether it takes them now.',
        querystring: BulkQuery,
        body: BulkBody,
        response: {
          200: WouldReplay,
          202: Replayed,
          ...problemResponses(...OPERATOR_PROBLEMS, ...BULK_PROBLEMS),
        },
      },
      handler: async (request, reply) => {
        const isDry = isDryRun(request)
        const filter = parseDeliveryFilter(request.body.filter, AT_FILTER)
        if (isDry) {
          const found = await previewChange(deps, 'replay', filter)
          return { wouldReplay: found.count, ...breakdownFor(request.query, found) }
        }
        const audit = auditOf(deps, request, 'deliveries.replay')
        const { count, jobId } = await changeDeliveries(deps, 'replay', filter, audit)
        reply.code(202).header('location', `/operator/v1/jobs/${jobId}`)
        return { replayed: count }
      },
    })

    app.route({
      method: 'POST',
      url: '/deliveries/cancel',
      config: { role: 'admin' },
      schema: {
        operationId: 'cancelDeliveries',
        summary: 'Cancel all pending deliveries that match a filter',
        description:
          'All that match and are pending, not one page of them; at most 100,000. With dryRun nothing is changed and the number is told.',
        querystring: BulkQuery,
        body: BulkBody,
        response: {
          200: WouldCancel,
          202: Cancelled,
          ...problemResponses(...OPERATOR_PROBLEMS, ...BULK_PROBLEMS),
        },
      },
      handler: async (request, reply) => {
        const isDry = isDryRun(request)
        const filter = parseDeliveryFilter(request.body.filter, AT_FILTER)
        if (isDry) {
          const found = await previewChange(deps, 'cancel', filter)
          return { wouldCancel: found.count, ...breakdownFor(request.query, found) }
        }
        const audit = auditOf(deps, request, 'deliveries.cancel')
        const { count, jobId } = await changeDeliveries(deps, 'cancel', filter, audit)
        reply.code(202).header('location', `/operator/v1/jobs/${jobId}`)
        return { cancelled: count }
      },
    })
  }
}

export function breakdownFor(query: { byEndpoint?: boolean }, found: EndpointBreakdown) {
  return query.byEndpoint ? toBreakdownBody(found) : {}
}
