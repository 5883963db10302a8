// The whole service at a glance, read anew every few seconds.

import { useRead } from '../../api/hooks.ts'
import type { Stats, StatsPeriod } from '../../api/types.ts'
import { useFilters } from '../../router.ts'
import { Choice } from '../../ui/field.tsx'
import { Loading, Problem } from '../../ui/messages.tsx'
import { PageHead } from '../../ui/page.tsx'
import { Curves } from './curves.tsx'
import { DueTimes } from './due-times.tsx'
import { LatestAttempts } from './latest-attempts.tsx'
import { Processes } from './processes.tsx'
import { Tiles } from './tiles.tsx'
import { Troubled } from './troubled.tsx'
import { Verdict } from './verdict.tsx'

const WINDOWS: readonly (readonly [StatsPeriod, string])[] = [
  ['hour', 'Last hour'],
  ['day', 'Day'],
  ['week', 'Week'],
]
const EVERY_MS = { hour: 2_000, day: 10_000, week: 30_000 }

export function ServiceOverview() {
  const { query, setFilters } = useFilters()
  const window = WINDOWS.find(([one]) => one === query.get('window'))?.[0] ?? 'hour'
  const { data, error } = useRead<Stats>(`/operator/v1/stats?window=${window}`, {
    everyMs: EVERY_MS[window],
    keepsLast: true,
  })
  return (
    <>
      <PageHead title="Overview">
        <Choice
          label="Time shown"
          value={window}
          options={WINDOWS}
          onChange={(next) => setFilters({ window: next === 'hour' ? null : next })}
        />
      </PageHead>
      {error ? <Problem problem={error} /> : null}
      {data ? <Parts stats={data} window={window} /> : error ? null : <Loading />}
    </>
  )
}

function Parts({ stats, window }: { stats: Stats; window: StatsPeriod }) {
  return (
    <>
      <Verdict stats={stats} window={window} />
      <Tiles stats={stats} window={window} />
      <Curves stats={stats} />
      <div className="overview-pair">
        <DueTimes stats={stats} />
        <LatestAttempts />
      </div>
      <Troubled endpoints={stats.troubled} />
      <Processes stats={stats} />
    </>
  )
}
