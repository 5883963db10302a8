// How often an endpoint was tried, how often that worked and how long it took, hour by hour: for its owner and
// for the operator.

import { readHoursOf } from '../../store/endpoints/endpoint-hours.ts'
import { findAnyEndpoint } from '../../store/endpoints/endpoint-lists.ts'
import { type EndpointScope, findEndpoint } from '../../store/endpoints/endpoints.ts'
import type { Deps } from '../shared/deps.ts'
import { type Series, seriesStartMs, toSeries } from '../shared/series.ts'
import { notFound } from '../shared/service-errors.ts'

/** Hours are kept for 8 days (store/removal/retention). */
export const SERIES_PERIODS = {
  day: { stepSeconds: 3_600, steps: 24 },
  week: { stepSeconds: 3_600, steps: 168 },
} as const
export type SeriesPeriod = keyof typeof SERIES_PERIODS

/** Of any client, deleted ones too. */
export async function viewAnySeries(
  deps: Deps,
  endpointId: string,
  period: SeriesPeriod,
): Promise<Series> {
  const endpoint = await findAnyEndpoint(deps.pool, endpointId)
  if (endpoint === null) throw notFound()
  return readSeries(deps, endpoint, period)
}

export async function viewSeries(
  deps: Deps,
  scope: EndpointScope,
  endpointId: string,
  period: SeriesPeriod,
): Promise<Series> {
  const endpoint = await findEndpoint(deps.pool, scope, endpointId)
  if (endpoint === null) throw notFound()
  return readSeries(deps, { clientKey: scope.clientKey, id: endpoint.id }, period)
}

async function readSeries(
  { pool, clock }: Deps,
  endpoint: { clientKey: number; id: string },
  period: SeriesPeriod,
): Promise<Series> {
  const steps = SERIES_PERIODS[period]
  const startMs = seriesStartMs(clock.nowMs(), steps)
  return toSeries(await readHoursOf(pool, endpoint, new Date(startMs)), startMs, steps)
}
