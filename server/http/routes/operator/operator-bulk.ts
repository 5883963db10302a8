// The operator's acts on all deliveries that match a filter: replay what has ended, cancel what is pending, or send it
// now. They differ in their words and in the names of their counts.

import { parseDeliveryFilter, SEARCH_CHARACTERS_MAX } from '../../../core/asking/delivery-filter.ts'
import { DELIVERY_STATES } from '../../../core/delivery/delivery.ts'
import { EVENT_KINDS } from '../../../core/payments/payment.ts'
import {
  type BulkAct,
  changeDeliveries,
  previewChange,
} from '../../../operations/deliveries/change-deliveries.ts'
import type { JobDeps } from '../../../operations/deliveries/start-job.ts'
import { auditOf } from '../../answers/audit.ts'
import { DRY_RUN_MEANING, DryRun, DryRunQuery, isDryRun } from '../../basics/dry-run.ts'
import { TEXT_PATTERN } from '../../basics/published.ts'
import { Instant, Uuid } from '../../basics/scalars.ts'
import { Type } from '../../basics/type.ts'
import type { App, Routes } from '../../basics/typed.ts'
import { ABOUT_CLIENT, answer, forOperators } from '../../schemas/calls.ts'
import { ExternalIdFilter, outcomeFilter, STATES_PATTERN } from '../../schemas/delivery-schema.ts'
import { breakdownProperties, toBreakdownBody } from '../../schemas/job-schema.ts'
import { RetriedSchema } from '../both/retries.ts'

export const Filter = Type.Object(
  {
    clientId: Type.Optional(Uuid),
    accountId: Type.Optional(Uuid),
    endpointId: Type.Optional(Uuid),
    paymentId: Type.Optional(Uuid),
    eventId: Type.Optional(Uuid),
    job: Type.Optional(Uuid),
    externalId: Type.Optional(ExternalIdFilter),
    outcome: outcomeFilter('operator'),
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
  { description: 'As in the list of deliveries.' },
)

const BulkBody = Type.Object(
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

const BulkQuery = Type.Object({
  ...DryRunQuery.properties,
  byEndpoint: Type.Optional(
    Type.Boolean({ default: false, description: 'A dry run also counts by endpoint.' }),
  ),
})

const optionalBreakdown = {
  endpoints: Type.Optional(breakdownProperties.endpoints),
  moreEndpoints: Type.Optional(breakdownProperties.moreEndpoints),
}

interface Bulk {
  act: BulkAct
  operationId: string
  summary: string
  description: string
  /** The names of the counts: of a dry run, and of the act. */
  would: string
  done: string
}

const BULKS: readonly Bulk[] = [
  {
    act: 'replay',
    operationId: 'replayDeliveries',
    summary: 'Replay all deliveries that match a filter',
    description:
      'All that match and have ended, not one page of them, oldest first; at most 100,000. With dryRun nothing is changed and the number is returned; with byEndpoint also how many there are at which endpoint, and whether it takes them now.',
    would: 'wouldReplay',
    done: 'replayed',
  },
  {
    act: 'cancel',
    operationId: 'cancelDeliveries',
    summary: 'Cancel all pending deliveries that match a filter',
    description:
      'All that match and are pending, not one page of them; at most 100,000. With dryRun nothing is changed and the number is returned.',
    would: 'wouldCancel',
    done: 'cancelled',
  },
  {
    act: 'retry',
    operationId: 'retryDeliveries',
    summary: 'Send all pending deliveries that match a filter now',
    description:
      'All that match, are pending and whose endpoint is active, not one page of them; at most 100,000. Each takes the older updates of its payment with it. With dryRun nothing is changed and the number is returned; with byEndpoint also how many there are at which endpoint.',
    would: 'wouldRetry',
    done: 'retried',
  },
]

const ABOUT_JOB = 'The header Location names the job: GET it to see how far it is.'
const AT_FILTER = { code: 'invalid-fields', pointer: '/filter' } as const

export function operatorBulkRoutes(deps: JobDeps): Routes {
  return (app) => {
    for (const bulk of BULKS) addBulk(app, deps, bulk)
  }
}

function addBulk(app: App, deps: JobDeps, { act, would, done, ...texts }: Bulk): void {
  const Done =
    act === 'retry'
      ? RetriedSchema
      : Type.Object({ [done]: Type.Integer() }, { description: ABOUT_JOB })
  const Would = Type.Object(
    { [would]: Type.Integer(), ...optionalBreakdown },
    { examples: [{ [would]: 12 }] },
  )
  app.route({
    method: 'POST',
    url: `/deliveries/${act}`,
    ...forOperators('admin', {
      ...texts,
      querystring: BulkQuery,
      body: BulkBody,
      answers: {
        200: answer(DRY_RUN_MEANING, Would),
        202: answer(`How many are ${done}. \`Location\` names the job.`, Done),
      },
      problems: [...ABOUT_CLIENT, 'filter-too-wide'],
    }),
    handler: async (request, reply) => {
      const isDry = isDryRun(request)
      const filter = parseDeliveryFilter(request.body.filter, AT_FILTER)
      if (isDry) {
        const found = await previewChange(deps, act, filter)
        const breakdown = request.query.byEndpoint ? toBreakdownBody(found) : {}
        return { [would]: found.count, ...breakdown } as never
      }
      const audit = auditOf(deps, request, `deliveries.${act}`)
      const { count, jobId } = await changeDeliveries(deps, act, filter, audit)
      reply.code(202).header('location', `/operator/v1/jobs/${jobId}`)
      return { [done]: count } as never
    },
  })
}
