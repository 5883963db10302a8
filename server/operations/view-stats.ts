// The service at a glance, for the operator. The figures that read many rows are read at most once a
// second, and less often the longer they take, however many requests ask.

import { percentileMs } from '../core/health.ts'
import { Remembered } from '../core/remembered.ts'
import { readTroubled, type TroubledEndpoint } from '../store/endpoint-lists.ts'
import {
  type AttemptStep,
  type OwedPicture,
  type ProcessView,
  readAttemptSteps,
  readFinalCounts,
  readOwedPicture,
  readProcesses,
} from '../store/stats.ts'
import type { Deps } from './parts/deps.ts'

export const STATS_PERIODS = {
  hour: { stepSeconds: 60, steps: 60 },
  day: { stepSeconds: 900, steps: 96 },
  week: { stepSeconds: 3_600, steps: 168 },
} as const
export type StatsPeriod = keyof typeof STATS_PERIODS

export interface SeriesPoint {
  atMs: number
  attempts: number
  delivered: number
  failed: number
  p50Ms: number | null
  p95Ms: number | null
  p99Ms: number | null
}

export interface Stats {
  atMs: number
  processes: readonly ProcessView[]
  /** Counts of ended deliveries by state. */
  ended: Awaited<ReturnType<typeof readFinalCounts>>
  owed: OwedPicture
  bounds: readonly Date[]
  series: { stepSeconds: number; points: readonly SeriesPoint[] }
  troubled: readonly TroubledEndpoint[]
}

const TROUBLED_MAX = 20
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

const KEPT_MS = 1_000
/** A picture that took long is kept for longer, so that reading takes at most a tenth of the time. */
const KEPT_TIMES_TAKEN = 10

interface Picture {
  owed: OwedPicture
  bounds: readonly Date[]
}

export class StatsViewer {
  readonly #deps: Deps
  readonly #picture: Remembered<void, Picture>

  constructor(deps: Deps) {
    this.#deps = deps
    this.#picture = new Remembered({
      keysMax: 1,
      expiry: {
        monotonicMs: () => deps.clock.monotonicMs(),
        ageMsMax: (tookMs) => tookMs + Math.max(KEPT_MS, KEPT_TIMES_TAKEN * tookMs),
      },
    })
  }

  async view(period: StatsPeriod): Promise<Stats> {
    const { pool, clock } = this.#deps
    const nowMs = clock.nowMs()
    const { stepSeconds, steps } = STATS_PERIODS[period]
    const stepMs = stepSeconds * 1_000
    // Whole steps; the current one comes last.
    const firstMs = (Math.floor(nowMs / stepMs) - steps + 1) * stepMs
    const [processes, ended, picture, counted, troubled] = await Promise.all([
      readProcesses(pool),
      readFinalCounts(pool),
      this.#picture.get(undefined, () => this.#look()),
      readAttemptSteps(pool, stepSeconds, new Date(firstMs)),
      readTroubled(pool, TROUBLED_MAX),
    ])
    const points = toPoints(counted, firstMs, stepMs, steps)
    return {
      atMs: nowMs,
      processes,
      ended,
      ...picture,
      series: { stepSeconds, points },
      troubled,
    }
  }

  async #look(): Promise<Picture> {
    const nowMs = this.#deps.clock.nowMs()
    const bounds = BOUNDS_MS.map((ms) => new Date(nowMs + ms))
    return { owed: await readOwedPicture(this.#deps.pool, bounds), bounds }
  }
}

/** A point for each step, empty steps included. */
function toPoints(
  counted: readonly AttemptStep[],
  firstMs: number,
  stepMs: number,
  steps: number,
): SeriesPoint[] {
  const byTime = new Map(counted.map((step) => [step.atMs, step]))
  return Array.from({ length: steps }, (_, index) => {
    const atMs = firstMs + index * stepMs
    const step = byTime.get(atMs)
    const { attempts = 0, delivered = 0, durations = [] } = step ?? {}
    return {
      atMs,
      attempts,
      delivered,
      failed: attempts - delivered,
      p50Ms: percentileMs(durations, 0.5),
      p95Ms: percentileMs(durations, 0.95),
      p99Ms: percentileMs(durations, 0.99),
    }
  })
}
