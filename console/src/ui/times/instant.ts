// Between the instants of the API (UTC) and what a datetime-local field holds: time in the zone that the viewer
// chose.

import { parseInZone, toFieldTime } from './zone.ts'

/** '' stays ''. */
export function toInstant(fieldValue: string): string {
  const ms = parseInZone(fieldValue)
  return Number.isNaN(ms) ? '' : new Date(ms).toISOString()
}

/** To the minute, or with `hasSeconds` to the second. */
export function toInputValue(instant: string, { hasSeconds = false } = {}): string {
  const ms = Date.parse(instant)
  if (Number.isNaN(ms)) return ''
  return toFieldTime(ms).slice(0, hasSeconds ? 19 : 16)
}

/** The end of a period that was left open: the moment of asking. None where the period begins later. */
export function endOfAsking(from: string | undefined, nowMs: number): string | undefined {
  return from !== undefined && Date.parse(from) >= nowMs ? undefined : new Date(nowMs).toISOString()
}
