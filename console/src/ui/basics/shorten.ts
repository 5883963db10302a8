/**
 * `api.example.com/…/payments-eu`: the beginning and more of the end, which is what differs; `max` characters at
 * most.
 */
export function shortenMiddle(text: string, max: number): string {
  if (text.length <= max) return text
  const kept = max - 1
  const head = Math.ceil(kept * 0.4)
  return `${text.slice(0, head)}…${text.slice(text.length - (kept - head))}`
}
