// The service at a glance, for the operator.

import { DAY_MS } from '../../core/delivery/backoff.ts'
import { Remembered } from '../../core/plain/remembered.ts'
import { readTroubled, type TroubledEndpoint } from '../../store/endpoints/endpoint-lists.ts'
import { countAllEndpointsByHealth, type HealthCounts } from '../../store/history/health-counts.ts'
import {
  type EndedDay,
  type OwedPicture,
  type ProcessView,
  readAttemptSteps,
  readEndedDays,
  readFinalCounts,
  readOwedPicture,
  readProcesses,
} from '../../store/history/stats.ts'
import { keptByTimeTaken } from '../shared/dear-figures.ts'
import type { Deps } from '../shared/deps.ts'
import { type Series, seriesStartMs, toSeries } from '../shared/series.ts'

export const STATS_PERIODS = {
  hour: { stepSeconds: 60, steps: 60 },
  day: { stepSeconds: 900, steps: 96 },
  week: { stepSeconds: 3_600, steps: 168 },
} as const
export type StatsPeriod = keyof typeof STATS_PERIODS

export interface Stats {
  atMs: number
  processes: readonly ProcessView[]
  /** Counts of ended deliveries by state. */
  ended: Awaited<ReturnType<typeof readFinalCounts>>
  owed: OwedPicture
  endpoints: HealthCounts
  bounds: readonly Date[]
  series: Series
  /** Ended deliveries of the last days, oldest first; days on which none ended are left out. */
  days: readonly EndedDay[]
  troubled: readonly TroubledEndpoint[]
}

const TROUBLED_MAX = 20
const DAYS_SHOWN = 7
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** What is due now, within a minute, within five … */
const BOUNDS_MS = [
  0,
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  HOUR_MS,
  6 * HOUR_MS,
  24 * HOUR_MS,
  7 * 24 * HOUR_MS,
]

interface Picture {
  owed: OwedPicture
  endpoints: HealthCounts
  bounds: readonly Date[]
}

export class StatsViewer {
  readonly #deps: Deps
  readonly #picture: Remembered<void, Picture>

  constructor(deps: Deps) {
    this.#deps = deps
    this.#picture = new Remembered({ keysMax: 1, expiry: keptByTimeTaken(deps.clock) })
  }

  async view(period: StatsPeriod): Promise<Stats> {
    const { pool, clock } = this.#deps
    const nowMs = clock.nowMs()
    const steps = STATS_PERIODS[period]
    const startMs = seriesStartMs(nowMs, steps)
    const [processes, ended, days, picture, counted, troubled] = await Promise.all([
      readProcesses(pool),
      readFinalCounts(pool),
      readEndedDays(pool, new Date(nowMs - (DAYS_SHOWN - 1) * DAY_MS)),
      this.#picture.get(undefined, () => this.#look()),
      readAttemptSteps(pool, steps.stepSeconds, new Date(startMs)),
      readTroubled(pool, TROUBLED_MAX, new Date(nowMs)),
    ])
    return {
      atMs: nowMs,
      processes,
      ended,
      ...picture,
      series: toSeries(counted, startMs, steps),
      days,
      troubled,
    }
  }

  async #look(): Promise<Picture> {
    const nowMs = this.#deps.clock.nowMs()
    const bounds = BOUNDS_MS.map((ms) => new Date(nowMs + ms))
    const { pool } = this.#deps
    const [owed, endpoints] = await Promise.all([
      readOwedPicture(pool, bounds),
      countAllEndpointsByHealth(pool),
    ])
    return { owed, endpoints, bounds }
  }
}
