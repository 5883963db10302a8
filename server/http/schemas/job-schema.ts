// Bulk jobs as answers show them: how far they are, and how their deliveries stand.

import { ENDPOINT_STATUSES } from '../../core/delivery/endpoint.ts'
import type { EndpointBreakdown } from '../../operations/deliveries/endpoint-breakdown.ts'
import type { Job, JobView } from '../../operations/deliveries/view-job.ts'
import { Instant, InstantOrNull, Uuid } from '../basics/scalars.ts'
import { Type } from '../basics/type.ts'
import { CircuitSchema } from './schemas.ts'

export const CountedEndpointSchema = Type.Object({
  endpointId: Uuid,
  endpointUrl: Type.String(),
  clientId: Uuid,
  clientName: Type.String(),
  status: Type.Enum([...ENDPOINT_STATUSES, 'DELETED'], {
    description: 'Only an ACTIVE one is sent anything: to the others, deliveries wait.',
  }),
  circuit: CircuitSchema,
  count: Type.Integer(),
})

export const breakdownProperties = {
  endpoints: Type.Array(CountedEndpointSchema, {
    description: 'By endpoint, the 20 with the most deliveries.',
  }),
  moreEndpoints: Type.Integer({ description: 'How many endpoints there are besides.' }),
}

export const JobSchema = Type.Object(
  {
    id: Uuid,
    kind: Type.Enum(['replay', 'recover', 'cancel', 'retry', 'replay-missing']),
    state: Type.Enum(['RUNNING', 'DONE', 'FAILED'], {
      description: 'DONE: all were dealt with. How they stand is in `outcome`.',
    }),
    total: Type.Integer({ description: 'Deliveries that matched.' }),
    done: Type.Integer({ description: 'Dealt with so far.' }),
    passedOver: Type.Integer({
      description: 'Of these, the ones that had moved on by themselves before their turn came.',
    }),
    startedAt: Instant,
    finishedAt: InstantOrNull(),
  },
  {
    examples: [
      {
        id: '019c1f6e-7a52-7c1e-9d0b-3f6a1c2b4d5e',
        kind: 'replay',
        state: 'RUNNING',
        total: 40_000,
        done: 12_000,
        passedOver: 0,
        startedAt: '2026-03-02T09:30:00.400Z',
        finishedAt: null,
      },
    ],
  },
)

export const JobOutcomeSchema = Type.Object(
  {
    queued: Type.Integer({
      description:
        'Not dealt with yet, or pending without a failed attempt, at an endpoint that takes callbacks.',
    }),
    waiting: Type.Integer({
      description:
        'Pending and held up: an attempt has failed, or the endpoint is paused, disabled or down.',
    }),
    delivered: Type.Integer(),
    failed: Type.Integer({ description: 'Ended without a 200: exhausted or superseded.' }),
    cancelled: Type.Integer(),
  },
  {
    description:
      'How its deliveries stand now. What had moved on by itself before the job came to it may be in none of them.',
  },
)

export const JobDetailSchema = Type.Object({
  ...JobSchema.properties,
  outcome: JobOutcomeSchema,
  ...breakdownProperties,
})

export function toJobItem({ startedAt, finishedAt, ...job }: Job) {
  return {
    ...job,
    startedAt: startedAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
  }
}

export function toJobDetail({ job, outcome, breakdown }: JobView) {
  const { DELIVERED = 0, EXHAUSTED = 0, SUPERSEDED = 0, CANCELLED = 0 } = outcome.ended
  const isGivenUp = job.state === 'FAILED'
  return {
    ...toJobItem(job),
    outcome: {
      // What a job that was given up has not dealt with stays as it was.
      queued: outcome.queued + (isGivenUp ? 0 : job.total - job.done),
      waiting: outcome.waiting,
      delivered: DELIVERED,
      failed: EXHAUSTED + SUPERSEDED,
      cancelled: CANCELLED,
    },
    ...toBreakdownBody(breakdown),
  }
}

export function toBreakdownBody({ endpoints, moreEndpoints }: Omit<EndpointBreakdown, 'count'>) {
  return { endpoints: [...endpoints], moreEndpoints }
}
