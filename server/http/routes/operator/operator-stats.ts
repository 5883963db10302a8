// /operator/v1/stats and /operator/v1/stream: the service at a glance, and its events as they happen.

import type { ServerResponse } from 'node:http'
import type { TInteger } from 'typebox'
import { DELIVERY_STATES } from '../../../core/delivery/delivery.ts'
import { ENDPOINT_STATUSES } from '../../../core/delivery/endpoint.ts'
import { ServiceError } from '../../../core/plain/errors.ts'
import {
  STATS_PERIODS,
  type Stats,
  type StatsPeriod,
  StatsViewer,
} from '../../../operations/deliveries/view-stats.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { Instant, InstantOrNull, TextOrNull, Uuid } from '../../basics/scalars.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { answer, forOperators } from '../../schemas/calls.ts'
import { HealthCounts } from '../../schemas/health-counts-schema.ts'
import { CircuitSchema, HealthSchema } from '../../schemas/schemas.ts'
import { SeriesSchema, toSeriesBody } from '../../schemas/series-schema.ts'

export interface StatsRoutesDeps extends Deps {
  version: string
  /** Attempts under way in this process. */
  inFlight(): number
  stream: EventStream
}

/** Server-sent events of what this process does. */
export interface EventStream {
  readonly isFull: boolean
  /**
   * Adds an answer whose headers are sent: first so many of the last attempts, then what happens until it
   * closes.
   */
  add(reader: ServerResponse, recent: number): void
  /** Ends all answers, because the service stops. */
  end(): void
}

/** As many as the stream remembers (telemetry/live-stream). */
const RECENT_ATTEMPTS_MAX = 20

export const TroubledSchema = Type.Object({
  endpointId: Uuid,
  clientId: Uuid,
  clientName: Type.String(),
  endpointUrl: Type.String(),
  status: Type.Enum([...ENDPOINT_STATUSES]),
  circuit: CircuitSchema,
  nextProbeAt: HealthSchema.properties.nextProbeAt,
  failingSince: InstantOrNull(),
  pending: Type.Integer({ description: 'Counted up to 10,000.' }),
  lastError: TextOrNull(),
})

export const EndedDaySchema = Type.Object({
  day: Type.String({ format: 'date' }),
  delivered: Type.Integer(),
  exhausted: Type.Integer(),
  superseded: Type.Integer(),
  cancelled: Type.Integer(),
})

export const StatsSchema = Type.Object({
  version: Type.String(),
  at: Instant,
  processes: Type.Array(
    Type.Object({
      id: Uuid,
      host: Type.String(),
      version: Type.String(),
      startedAt: Instant,
      seenAt: Instant,
      shards: Type.Array(Type.Integer()),
    }),
  ),
  deliveries: Type.Object(
    Object.fromEntries(DELIVERY_STATES.map((state) => [state, Type.Integer()])) as Record<
      (typeof DELIVERY_STATES)[number],
      TInteger
    >,
    { description: 'Of the history that is kept. Exact; PENDING may be a second old.' },
  ),
  pending: Type.Object({
    due: Type.Integer(),
    scheduled: Type.Integer(),
    paused: Type.Integer({
      description:
        'Waits for its endpoint, which is paused, disabled or down, or for room in its queue. Not due.',
    }),
  }),
  endpoints: HealthCounts,
  inFlight: Type.Integer({ description: 'Attempts under way in the process that answers.' }),
  oldestDueAgeSeconds: Type.Number(),
  pendingByDue: Type.Array(
    Type.Object({ from: InstantOrNull(), to: InstantOrNull(), count: Type.Integer() }),
    {
      description: 'What is overdue has no `from`, what is due after the 7 days no `to`.',
    },
  ),
  series: SeriesSchema,
  days: Type.Array(EndedDaySchema, {
    description:
      'What has ended on each of the last 7 days, in UTC: success by delivery, whatever attempts it took. Days on which nothing ended are left out.',
  }),
  troubled: Type.Array(TroubledSchema),
})

export const PeriodSchema = Type.Enum(Object.keys(STATS_PERIODS) as StatsPeriod[], {
  default: 'hour',
  description: 'What the series covers: steps of a minute, a quarter, an hour.',
})

const tags = ['Operator']

export function operatorStatsRoutes(deps: StatsRoutesDeps): Routes {
  const viewer = new StatsViewer(deps)
  return (app) => {
    // A reader would otherwise keep the server from closing.
    app.addHook('preClose', async () => deps.stream.end())

    app.route({
      method: 'GET',
      url: '/stats',
      ...forOperators('viewer', {
        operationId: 'getStats',
        summary: 'See the service at a glance',
        description:
          'Counts of deliveries, what is pending and when it is due, a series of attempts, endpoints that fail, and the processes. Made for the console; read `/metrics` for alerts.',
        querystring: Type.Object({
          window: Type.Optional(PeriodSchema),
        }),
        answers: { 200: answer('The numbers of the period.', StatsSchema) },
      }),
      handler: async (request) => toBody(deps, await viewer.view(request.query.window ?? 'hour')),
    })

    app.route({
      method: 'GET',
      url: '/stream',
      // The answer to a HEAD would never end.
      exposeHeadRoute: false,
      ...forOperators('viewer', {
        operationId: 'watch',
        tags,
        summary: 'Watch what this process accepts and attempts',
        description:
          'Server-sent events `accepted` and `attempt`. At most 1,000 a second; a comment line says how many were left out. A reader that falls behind by more than 1 MiB is disconnected. With `recent` it begins with the last attempts that this process made.',
        querystring: Type.Object({
          recent: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: RECENT_ATTEMPTS_MAX,
              default: 0,
              description: 'So many of the last attempts first, oldest first.',
            }),
          ),
        }),
        answers: {
          200: Type.Unsafe<unknown>({
            description: 'A stream of events, without end.',
            content: { 'text/event-stream': { schema: { type: 'string' } } },
          }),
        },
        problems: ['overloaded'],
      }),
      config: { role: 'viewer', isEndless: true },
      handler: (request, reply) => {
        if (deps.stream.isFull) {
          throw new ServiceError('overloaded', 'Too many are watching already. Try again later.', {
            retryAfterSeconds: 30,
          })
        }
        // From here on the stream writes the answer, with the headers that hooks have set.
        reply.hijack()
        const headers = Object.fromEntries(
          Object.entries(reply.getHeaders()).filter(([, value]) => value !== undefined),
        ) as Record<string, string>
        reply.raw.writeHead(200, {
          ...headers,
          'x-request-id': request.id,
          'content-type': 'text/event-stream; charset=utf-8',
          'cache-control': 'no-store',
          // Proxies that buffer answers would delay every event.
          'x-accel-buffering': 'no',
        })
        deps.stream.add(reply.raw, request.query.recent ?? 0)
      },
    })
  }
}

function toBody(deps: StatsRoutesDeps, stats: Stats) {
  const { owed, bounds } = stats
  const { due, scheduled, paused } = owed
  const toText = (date: Date | undefined) => date?.toISOString() ?? null
  const oldestMs = owed.oldestDueAt?.getTime() ?? stats.atMs
  return {
    version: deps.version,
    at: new Date(stats.atMs).toISOString(),
    processes: stats.processes.map((one) => ({
      ...one,
      startedAt: one.startedAt.toISOString(),
      seenAt: one.seenAt.toISOString(),
      shards: [...one.shards],
    })),
    deliveries: { ...stats.ended, PENDING: due + scheduled + paused },
    pending: { due, scheduled, paused },
    endpoints: stats.endpoints,
    inFlight: deps.inFlight(),
    oldestDueAgeSeconds: Math.max(0, stats.atMs - oldestMs) / 1_000,
    pendingByDue: owed.byBound.map((count, index) => ({
      from: toText(bounds[index - 1]),
      to: toText(bounds[index]),
      count,
    })),
    series: toSeriesBody(stats.series),
    days: stats.days.map(({ day, ended }) => ({
      day,
      delivered: ended.DELIVERED ?? 0,
      exhausted: ended.EXHAUSTED ?? 0,
      superseded: ended.SUPERSEDED ?? 0,
      cancelled: ended.CANCELLED ?? 0,
    })),
    troubled: stats.troubled.map((one) => ({
      ...one,
      failingSince: toText(one.failingSince ?? undefined),
      nextProbeAt: toText(one.nextProbeAt ?? undefined),
    })),
  }
}
