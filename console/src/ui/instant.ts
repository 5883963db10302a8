// Between the instants of the API (UTC) and what a datetime-local field holds: the viewer's own zone.

/** '' stays ''. */
export function toInstant(fieldValue: string): string {
  const ms = Date.parse(fieldValue)
  return Number.isNaN(ms) ? '' : new Date(ms).toISOString()
}

export function toInputValue(instant: string): string {
  const ms = Date.parse(instant)
  if (Number.isNaN(ms)) return ''
  const local = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16)
}
