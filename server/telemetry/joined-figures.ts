// The metrics of several processes of one service as those of one: counts are added up, and each gauge is joined as it says
// itself (gauges.ts). What was counted by processes that are gone stays, or the sums would fall, and a sum that falls looks
// like a restart to Prometheus: it would count all of it again.

import {
  AggregatorRegistry,
  type MetricObjectWithValues,
  type MetricValue,
} from '@prometheus-io/client'

/** As they go from one process to another. */
export type Figures = readonly Omit<MetricObjectWithValues<MetricValue<string>>, 'collect'>[]

export function joinFigures(all: readonly Figures[]): Promise<string> {
  return join(all.map(worstLags)).metrics()
}

/** Of processes that are gone. */
export async function joinCounted(all: readonly Figures[]): Promise<Figures> {
  const counted = all.map((figures) => figures.filter(({ type }) => type !== 'gauge'))
  return join(counted).getMetricsAsJSON()
}

function join(all: readonly Figures[]) {
  return AggregatorRegistry.aggregate([...all])
}

/** The library would take the mean of the lags of all event loops; alerts ask whether one of them is late. */
function worstLags(figures: Figures): Figures {
  return figures.map((one) =>
    one.name.startsWith('nodejs_eventloop_lag') && one.aggregator === 'average'
      ? { ...one, aggregator: 'max' }
      : one,
  )
}
