// Counts of attempts as a curve is drawn from them: a point for each step of time, empty ones included.

import { percentileMs } from '../../core/delivery/health.ts'
import type { AttemptStep } from '../../store/history/stats.ts'

export interface SeriesPoint {
  atMs: number
  attempts: number
  delivered: number
  failed: number
  p50Ms: number | null
  p95Ms: number | null
  p99Ms: number | null
}

export interface Series {
  stepSeconds: number
  points: readonly SeriesPoint[]
}

export interface Steps {
  stepSeconds: number
  steps: number
}

/** The first instant of the series: whole steps, of which the current one comes last. */
export function seriesStartMs(nowMs: number, { stepSeconds, steps }: Steps): number {
  const stepMs = stepSeconds * 1_000
  return (Math.floor(nowMs / stepMs) - steps + 1) * stepMs
}

export function toSeries(
  counted: readonly Omit<AttemptStep, 'stepSeconds'>[],
  startMs: number,
  { stepSeconds, steps }: Steps,
): Series {
  const byTime = new Map(counted.map((step) => [step.atMs, step]))
  const points = Array.from({ length: steps }, (_, index) => {
    const atMs = startMs + index * stepSeconds * 1_000
    const { attempts = 0, delivered = 0, durations = [] } = byTime.get(atMs) ?? {}
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
  return { stepSeconds, points }
}
