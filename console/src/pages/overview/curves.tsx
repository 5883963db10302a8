import type { Stats } from '../../api/types.ts'
import { Panel } from '../../ui/basics/page.tsx'
import { Chart } from '../../ui/charts/chart.tsx'
import { toMsText, toShareText } from '../../ui/lists/numbers.ts'

export function Curves({ stats: { series } }: { stats: Stats }) {
  const { points } = series
  const perMinute = 60 / series.stepSeconds
  const times = points.map(({ at }) => Date.parse(at))
  const rates = points.map(({ attempts, delivered }) =>
    attempts === 0 ? null : delivered / attempts,
  )
  const delivered = points.map((point) => point.delivered * perMinute)
  const lowest = minOf(rates)
  const slowest = maxOf(points.map(({ p95Ms }) => p95Ms))
  return (
    <div className="overview-curves">
      <Panel title="Deliveries per minute">
        <Chart
          title="Deliveries per minute"
          summary={`at most ${toRateText(maxOf(delivered))} delivered`}
          times={times}
          format={toRateText}
          curves={[
            { name: 'Delivered', colour: '--good', isFilled: true, values: delivered },
            {
              name: 'Failed attempts',
              colour: '--bad',
              values: points.map(({ failed }) => failed * perMinute),
            },
          ]}
        />
      </Panel>
      <Panel title="Success rate">
        <Chart
          title="Success rate"
          summary={lowest === null ? 'no attempts' : `at least ${toShareText(lowest)}`}
          times={times}
          max={1.05}
          format={toShareText}
          curves={[{ name: 'Of attempts', colour: '--accent', isFilled: true, values: rates }]}
        />
      </Panel>
      <Panel title="Latency of attempts">
        <Chart
          title="Latency of attempts"
          summary={slowest === null ? 'no attempts' : `p95 at most ${toMsText(slowest)}`}
          times={times}
          format={toMsText}
          curves={[
            { name: 'p50', colour: '--low', values: points.map(({ p50Ms }) => p50Ms) },
            { name: 'p95', colour: '--middle', values: points.map(({ p95Ms }) => p95Ms) },
            { name: 'p99', colour: '--high', values: points.map(({ p99Ms }) => p99Ms) },
          ]}
        />
      </Panel>
    </div>
  )
}

const RATE = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 3 })

function toRateText(value: number | null): string {
  return value === null ? '–' : RATE.format(value)
}

function maxOf(values: readonly (number | null)[]): number | null {
  return values.reduce((max, value) => (value !== null && value > (max ?? -1) ? value : max), null)
}

function minOf(values: readonly (number | null)[]): number | null {
  return values.reduce(
    (min, value) => (value !== null && (min === null || value < min) ? value : min),
    null,
  )
}
