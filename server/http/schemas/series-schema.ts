// Curves as answers show them.

import {
  SERIES_PERIODS,
  type SeriesPeriod,
} from '../../operations/endpoints/view-endpoint-series.ts'
import type { Series } from '../../operations/shared/series.ts'
import { Instant, NumberOrNull } from '../basics/scalars.ts'
import { Type } from '../basics/type.ts'
import { answer } from './calls.ts'
import { IdParams } from './schemas.ts'

export const SeriesPointSchema = Type.Object({
  at: Instant,
  attempts: Type.Integer(),
  delivered: Type.Integer(),
  failed: Type.Integer(),
  p50Ms: NumberOrNull(),
  p95Ms: NumberOrNull(),
  p99Ms: NumberOrNull(),
})

export const SeriesSchema = Type.Object({
  stepSeconds: Type.Integer(),
  points: Type.Array(SeriesPointSchema),
})

/** What the calls for the series of an endpoint have in common. */
export const SERIES = {
  description:
    'Attempts, how many of them were answered with 200, and about how long they took (within 41 %). Empty hours are there too.',
  params: IdParams,
  querystring: Type.Object({
    window: Type.Optional(
      Type.Enum(Object.keys(SERIES_PERIODS) as SeriesPeriod[], {
        default: 'day',
        description: 'What the series covers, in steps of an hour.',
      }),
    ),
  }),
  answers: { 200: answer('Attempts hour by hour, and how long they took.', SeriesSchema) },
}

export function toSeriesBody({ stepSeconds, points }: Series) {
  return {
    stepSeconds,
    points: points.map(({ atMs, ...point }) => ({ at: new Date(atMs).toISOString(), ...point })),
  }
}
