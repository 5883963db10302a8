// What the page derives from the statistics of the service.

import type { Stats, StatsPeriod } from '../../api/types.ts'

export const PERIOD_WORDS: Readonly<Record<StatsPeriod, string>> = {
  hour: 'the last hour',
  day: 'the last day',
  week: 'the last week',
}

export interface PeriodTotals {
  attempts: number
  delivered: number
  failed: number
  /** Null when nothing was attempted. */
  successRate: number | null
}

export function sumUp({ series }: Stats): PeriodTotals {
  const total = { attempts: 0, delivered: 0, failed: 0 }
  for (const point of series.points) {
    total.attempts += point.attempts
    total.delivered += point.delivered
    total.failed += point.failed
  }
  const successRate = total.attempts === 0 ? null : total.delivered / total.attempts
  return { ...total, successRate }
}

/** Of all that ended in the last 7 days, accepted or given up; what was cancelled or superseded is neither. */
export function sumUpDays({ days }: Stats): { ended: number; successRate: number | null } {
  const delivered = days.reduce((sum, day) => sum + day.delivered, 0)
  const ended = delivered + days.reduce((sum, day) => sum + day.exhausted, 0)
  return { ended, successRate: ended === 0 ? null : delivered / ended }
}
