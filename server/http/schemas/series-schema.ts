// Curves as answers show them.

import {
  SERIES_PERIODS,
  type SeriesPeriod,
} from '../../operations/endpoints/view-endpoint-series.ts'
import type { Series } from '../../operations/shared/series.ts'
import { Instant, OptionalNumber } from '../basics/scalars.ts'
import { Type } from '../basics/type.ts'

export const SeriesPointSchema = Type.Object({
  at: Instant,
  attempts: Type.Integer(),
  delivered: Type.Integer(),
  failed: Type.Integer(),
  p50Ms: OptionalNumber,
  p95Ms: OptionalNumber,
  p99Ms: OptionalNumber,
})

export const SeriesSchema = Type.Object({
  stepSeconds: Type.Integer(),
  points: Type.Array(SeriesPointSchema),
})

/** Of one endpoint. */
export const SeriesQuery = Type.Object({
  window: Type.Optional(
    Type.Enum(Object.keys(SERIES_PERIODS) as SeriesPeriod[], {
      default: 'day',
      description: 'What the series covers, in steps of an hour.',
    }),
  ),
})

export function toSeriesBody({ stepSeconds, points }: Series) {
  return {
    stepSeconds,
    points: points.map(({ atMs, ...point }) => ({ at: new Date(atMs).toISOString(), ...point })),
  }
}
