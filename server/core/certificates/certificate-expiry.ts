// When the operator is told that a certificate of the service ends soon: once at each of these numbers of days before. One
// that was away for longer, or came late, is told of the smallest that has passed, and not of those before it.

const DAY_MS = 86_400_000
const TOLD_DAYS_BEFORE = [1, 7, 30] as const

/** `toldDays`: the smallest told so far. Null when nothing is due. */
export function daysToTell(
  { notAfterMs, toldDays }: { notAfterMs: number; toldDays: number | null },
  nowMs: number,
): number | null {
  const days = TOLD_DAYS_BEFORE.find((one) => notAfterMs - nowMs <= one * DAY_MS)
  if (days === undefined) return null
  return toldDays === null || days < toldDays ? days : null
}
