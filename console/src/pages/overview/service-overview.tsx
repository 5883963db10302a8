// The whole service at a glance, read again every few seconds. The API calls the period `window`.

import { useRead } from '../../api/hooks.ts'
import type { Stats, StatsPeriod } from '../../api/types.ts'
import { useFilters } from '../../router.ts'
import { Loading, Problem } from '../../ui/basics/messages.tsx'
import { PageHead } from '../../ui/basics/page.tsx'
import { Choice } from '../../ui/forms/field.tsx'
import { Curves } from './curves.tsx'
import { DueTimes } from './due-times.tsx'
import { LatestAttempts } from './latest-attempts.tsx'
import { Tiles } from './tiles.tsx'
import { Troubled } from './troubled.tsx'
import { Verdict } from './verdict.tsx'

const PERIODS: readonly (readonly [StatsPeriod, string])[] = [
  ['hour', 'Last hour'],
  ['day', 'Day'],
  ['week', 'Week'],
]
const EVERY_MS = { hour: 2_000, day: 10_000, week: 30_000 }

/** Verdict, tiles, curves, and what is due beside live attempts. */
export const SERVICE_SHAPE = [[66], [104], [266, 266, 266], [350, 350]]

export function ServiceOverview() {
  const { query, setFilters } = useFilters()
  const period = PERIODS.find(([one]) => one === query.get('window'))?.[0] ?? 'hour'
  const { data, error } = useRead<Stats>(`/operator/v1/stats?window=${period}`, {
    everyMs: EVERY_MS[period],
    keepsLast: true,
  })
  return (
    <>
      <PageHead title="Overview">
        <Choice
          label="Time shown"
          value={period}
          options={PERIODS}
          onChange={(next) => setFilters({ window: next === 'hour' ? null : next })}
        />
      </PageHead>
      {error ? <Problem problem={error} /> : null}
      {data ? (
        <Parts stats={data} period={period} />
      ) : error ? null : (
        <Loading panels={SERVICE_SHAPE} />
      )}
    </>
  )
}

function Parts({ stats, period }: { stats: Stats; period: StatsPeriod }) {
  return (
    <>
      <Verdict stats={stats} period={period} />
      <Tiles stats={stats} period={period} />
      {stats.troubled.length > 0 ? <Troubled endpoints={stats.troubled} /> : null}
      <Curves stats={stats} />
      <div className="overview-pair">
        <DueTimes stats={stats} />
        <LatestAttempts />
      </div>
    </>
  )
}
