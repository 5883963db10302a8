// Durations and instants in UTC as people read them, no more exact than is of use.

const UNITS = [
  ['day', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const

/** The two largest units, whole: 2 min 40 s, 5 h, 6 days 3 h. */
export function toDurationText(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  if (seconds < 1) return 'less than a second'
  let left = seconds * 1_000
  const parts: string[] = []
  for (const [unit, unitMs] of UNITS) {
    const count = Math.floor(left / unitMs)
    left -= count * unitMs
    if (count > 0) parts.push(`${count} ${unit === 'day' && count > 1 ? 'days' : unit}`)
    // 2 days 0 h 40 min is said as 2 days.
    if (parts.length === 2 || (parts.length === 1 && count === 0)) break
  }
  return parts.join(' ')
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** 21 Nov */
function toDayText(ms: number): string {
  const date = new Date(ms)
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`
}

/** 14:03:20 within the hour, 13:20 today, 21 Nov 13:58 on another day: as exact as is of use. */
export function toInstantText(ms: number, nowMs: number): string {
  const isNear = Math.abs(ms - nowMs) < 3_600_000
  const time = new Date(ms).toISOString().slice(11, isNear ? 19 : 16)
  return isSameDay(ms, nowMs) ? time : `${toDayText(ms)} ${time}`
}

function isSameDay(ms: number, nowMs: number): boolean {
  return new Date(ms).toISOString().slice(0, 10) === new Date(nowMs).toISOString().slice(0, 10)
}
