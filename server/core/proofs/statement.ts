// A statement of completeness: what became of everything that an endpoint was owed, hour by hour of the events'
// time, which is the time in their ids. A receiver holds its own count and digest of an hour against it. An hour
// is final when nothing in it changes any more by itself; only a deliberate act, such as a replay, opens it again.

import type { FieldError } from '../plain/errors.ts'
import { uuidTimeMs } from '../plain/uuid.ts'
import { addDigests, digestOfIds } from './ids-digest.ts'

export const HOUR_MS = 3_600_000
export const STATEMENT_HOURS_MAX = 31 * 24

/**
 * How long after its end an hour may still be added to: ids are made inside a transaction that PostgreSQL ends
 * when it is idle for 30 s, and statements take 10 s at most. A transaction that is still open holds it back
 * besides, however long it takes (store/proofs/feed-marks.ts). And how long after a delivery has ended an attempt of it
 * that was under way may still bring a 200.
 */
export const SETTLING_MS = 10 * 60_000

export interface StateCounts {
  delivered: number
  superseded: number
  exhausted: number
  cancelled: number
  pending: number
}

export interface StatementHour extends StateCounts {
  fromMs: number
  isFinal: boolean
  /** Over the `webhook-id` of the delivered ones. */
  idsDigest: string
}

/** What the store has counted of an hour, by state. */
export interface CountedHour extends StateCounts {
  fromMs: number
  idsDigest: string
  /** When the last of those that were not delivered has ended; null: there are none. */
  lastUndeliveredEndAtMs: number | null
}

/** One that is not `DELIVERED` now, although an attempt of it was answered with 200: it is being replayed, say. */
export interface OnceDelivered {
  id: string
  eventId: string
  state: keyof Omit<StateCounts, 'delivered'>
}

/**
 * Whatever was answered with 200 once counts as delivered: the receiver has it. So a replay of what was delivered
 * changes no statement, whatever comes of it.
 */
export function withOnceDelivered(
  hour: CountedHour,
  once: readonly OnceDelivered[],
): Omit<CountedHour, 'lastUndeliveredEndAtMs'> {
  const counted = { ...hour }
  for (const { state } of once) {
    counted[state]--
    counted.delivered++
  }
  const digests = [hour.idsDigest, digestOfIds(once.map(({ eventId }) => eventId))]
  return { ...counted, idsDigest: addDigests(digests) }
}

/** `settledAtMs`: no transaction is open that had begun to write by then. Null: that is not known. */
export function isHourFinal(
  { fromMs, pending }: { fromMs: number; pending: number },
  lastUndeliveredEndAtMs: number | null,
  settledAtMs: number | null,
): boolean {
  if (settledAtMs === null || pending > 0) return false
  const changedAtMs = Math.max(fromMs + HOUR_MS, lastUndeliveredEndAtMs ?? 0)
  return changedAtMs + SETTLING_MS <= settledAtMs
}

/** Whether an hour that is kept may be said to be final: one that is not over by this clock was kept by a wrong one. */
export function isHourOver(fromMs: number, nowMs: number): boolean {
  return fromMs + HOUR_MS + SETTLING_MS <= nowMs
}

/** Hours that are counted at once at first, and as many deliveries as one statement counts in a second or two. */
export const SPAN_HOURS_FIRST = 48
const ROWS_AT_ONCE = 250_000
/** The hours to come may have more than those before: after empty ones, too, the span grows by steps. */
const SPAN_GROWTH_MAX = 16

/** How many hours to count next, when so many had this many deliveries. By rows, because a slow database is no reason
 *  to ask it more often. */
export function nextSpanHours(hours: number, rows: number): number {
  const fitting = Math.floor((hours * ROWS_AT_ONCE) / Math.max(rows, 1))
  return Math.max(1, Math.min(fitting, hours * SPAN_GROWTH_MAX, STATEMENT_HOURS_MAX))
}

export function hourOfId(id: string): number {
  return hourStartMs(uuidTimeMs(id))
}

export function hourStartMs(ms: number): number {
  return Math.floor(ms / HOUR_MS) * HOUR_MS
}

export function owedIn(counts: StateCounts): number {
  return counts.delivered + counts.superseded + counts.exhausted + counts.cancelled + counts.pending
}

/** The whole of some hours. */
export function sumHours(
  hours: readonly StatementHour[],
): StateCounts & { isFinal: boolean; idsDigest: string } {
  const sum = { delivered: 0, superseded: 0, exhausted: 0, cancelled: 0, pending: 0 }
  for (const hour of hours) {
    for (const state of Object.keys(sum) as (keyof StateCounts)[]) sum[state] += hour[state]
  }
  return {
    ...sum,
    isFinal: hours.every(({ isFinal }) => isFinal),
    idsDigest: addDigests(hours.map(({ idsDigest }) => idsDigest)),
  }
}

/** What is wrong with the period that is asked for. */
export function checkStatementPeriod(
  { fromMs, toMs }: { fromMs: number; toMs: number },
  nowMs: number,
): readonly FieldError[] {
  const errors: FieldError[] = []
  for (const [pointer, ms] of [
    ['/from', fromMs],
    ['/to', toMs],
  ] as const) {
    if (ms % HOUR_MS !== 0) {
      const detail = 'Must be the beginning of an hour in UTC, such as 2026-03-02T09:00:00Z.'
      errors.push({ pointer, code: 'not-a-whole-hour', detail })
    }
  }
  if (errors.length > 0) return errors
  if (toMs <= fromMs) {
    return [{ pointer: '/to', code: 'not-after-from', detail: 'Must lie after from.' }]
  }
  const latestMs = hourStartMs(nowMs) + HOUR_MS
  if (toMs > latestMs) {
    const detail = `Must be ${new Date(latestMs).toISOString()} at most, the end of the hour that is open.`
    errors.push({ pointer: '/to', code: 'in-the-future', detail })
  }
  if (toMs - fromMs > STATEMENT_HOURS_MAX * HOUR_MS) {
    const detail = 'Must lie at most 31 days before to.'
    errors.push({ pointer: '/from', code: 'period-too-long', detail })
  }
  return errors
}
