// How an endpoint answered, hour by hour: its attempts, accepted and failed, and how long they took.

import { useState } from 'react'
import { useRead } from '../../api/hooks.ts'
import type { Series } from '../../api/types.ts'
import { Loading, Problem } from '../../ui/basics/messages.tsx'
import { Panel } from '../../ui/basics/page.tsx'
import { Chart } from '../../ui/charts/chart.tsx'
import { Choice } from '../../ui/forms/field.tsx'
import { toCountText, toMsText, toShareText } from '../../ui/lists/numbers.ts'

type Period = 'day' | 'week'

/** `path` is the endpoint's, in the API of the client or the operator. */
export function SeriesPanel({ path }: { path: string }) {
  const [period, setPeriod] = useState<Period>('day')
  const { data, error } = useRead<Series>(`${path}/series?window=${period}`, {
    everyMs: 15_000,
    keepsLast: true,
  })
  return (
    <Panel
      title="Attempts by the hour"
      aside={
        <Choice<Period>
          label="Time shown"
          value={period}
          onChange={setPeriod}
          options={[
            ['day', '24 hours'],
            ['week', '7 days'],
          ]}
        />
      }
    >
      {error ? <Problem problem={error} /> : null}
      {data ? <Charts of={data} /> : error ? null : <Loading lines={8} />}
    </Panel>
  )
}

function Charts({ of: { points } }: { of: Series }) {
  const times = points.map(({ at }) => Date.parse(at))
  const attempts = points.reduce((sum, point) => sum + point.attempts, 0)
  const delivered = points.reduce((sum, point) => sum + point.delivered, 0)
  const said =
    attempts === 0
      ? 'no attempts'
      : `${toCountText(attempts)} attempts, ${toShareText(delivered / attempts)} delivered`
  const slowest = Math.max(0, ...points.map(({ p95Ms }) => p95Ms ?? 0))
  return (
    <div className="endpoint-panels">
      <Chart
        title="Attempts per hour"
        summary={said}
        times={times}
        isStacked
        format={toAttemptsText}
        curves={[
          {
            name: 'Delivered',
            colour: '--good',
            values: points.map((point) => point.delivered),
          },
          { name: 'Failed', colour: '--bad', values: points.map(({ failed }) => failed) },
        ]}
      />
      <Chart
        title="Latency of attempts"
        summary={slowest === 0 ? 'no attempts' : `p95 at most ${toMsText(slowest)}`}
        times={times}
        format={toMsText}
        curves={[
          { name: 'p50', colour: '--low', values: points.map(({ p50Ms }) => p50Ms) },
          { name: 'p95', colour: '--middle', values: points.map(({ p95Ms }) => p95Ms) },
          { name: 'p99', colour: '--high', values: points.map(({ p99Ms }) => p99Ms) },
        ]}
      />
    </div>
  )
}

/** Half an attempt is only a line of the axis. */
function toAttemptsText(value: number | null): string {
  return value === null || value % 1 !== 0 ? '' : toCountText(value)
}
