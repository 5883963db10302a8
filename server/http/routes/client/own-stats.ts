// GET /v1/stats: how the client's callbacks stand, counted over everything that is kept.

import {
  type ClientStats,
  ClientStatsViewer,
} from '../../../operations/clients/view-client-stats.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { Instant, InstantOrNull } from '../../basics/scalars.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { callerOf } from '../../requests/authenticate.ts'
import { answer, forClients } from '../../schemas/calls.ts'
import { HealthCounts } from '../../schemas/health-counts-schema.ts'

export const OwnStatsSchema = Type.Object(
  {
    at: Instant,
    endpoints: HealthCounts,
    deliveries: Type.Object({
      pending: Type.Integer({ description: 'Due and waiting.' }),
      due: Type.Integer({ description: 'To be attempted now.' }),
      waiting: Type.Integer({
        description:
          'For the time of their next attempt, for an older update of the payment, for an endpoint that is paused, disabled or down, or for room in its queue.',
      }),
      delivered24h: Type.Integer({ description: 'By whole hours, up to a minute old.' }),
      delivered7d: Type.Integer({ description: 'By whole hours, up to a minute old.' }),
      exhausted24h: Type.Integer(),
      exhausted7d: Type.Integer(),
    }),
    oldestDueAt: InstantOrNull('Since when the oldest due delivery is due.'),
  },
  {
    examples: [
      {
        at: '2026-11-17T09:30:00.000Z',
        endpoints: { healthy: 3, failing: 1, paused: 0, disabled: 0 },
        deliveries: {
          ...{ pending: 30, due: 0, waiting: 30 },
          ...{ delivered24h: 1204, delivered7d: 8311, exhausted24h: 0, exhausted7d: 2 },
        },
        oldestDueAt: null,
      },
    ],
  },
)

export function ownStatsRoutes(deps: Deps): Routes {
  const viewer = new ClientStatsViewer(deps)
  return (app) => {
    app.route({
      method: 'GET',
      url: '/v1/stats',
      ...forClients({
        operationId: 'getOwnStats',
        tags: ['Deliveries'],
        summary: 'See how your callbacks stand',
        description:
          'Counts over all your accounts and everything that is kept: your endpoints by their health, what is pending, due and waiting, and what was delivered and given up in the last 24 hours and 7 days.',
        answers: { 200: answer('The counts.', OwnStatsSchema) },
      }),
      handler: async (request) => toBody(await viewer.view(callerOf(request).clientKey)),
    })
  }
}

function toBody({ at, endpoints, owed, arrived, givenUp }: ClientStats) {
  const { due, waiting, oldestDueAt } = owed
  return {
    at: at.toISOString(),
    endpoints,
    deliveries: {
      pending: due + waiting,
      due,
      waiting,
      delivered24h: arrived.day,
      delivered7d: arrived.week,
      exhausted24h: givenUp.day,
      exhausted7d: givenUp.week,
    },
    oldestDueAt: oldestDueAt?.toISOString() ?? null,
  }
}
