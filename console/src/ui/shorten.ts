/** `api.example.com/hooks/…/payments-eu`: the beginning and the end, `max` characters at most. */
export function shortenMiddle(text: string, max: number): string {
  if (text.length <= max) return text
  const kept = max - 1
  const head = Math.ceil(kept / 2)
  return `${text.slice(0, head)}…${text.slice(text.length - (kept - head))}`
}
