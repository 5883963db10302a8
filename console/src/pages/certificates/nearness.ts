// How near the end of a certificate is: 30, 7 and 1 days before it, as the operator's notices are.

const DAY_MS = 86_400_000

/** Null while it is far away. */
export function nearness(leftMs: number): { tone: 'warn' | 'bad'; text: string } | null {
  if (leftMs <= 0) return { tone: 'bad', text: 'ENDED' }
  if (leftMs <= DAY_MS) return { tone: 'bad', text: 'ENDS WITHIN A DAY' }
  if (leftMs > 30 * DAY_MS) return null
  const days = Math.ceil(leftMs / DAY_MS)
  return { tone: leftMs <= 7 * DAY_MS ? 'bad' : 'warn', text: `ENDS IN ${days} DAYS` }
}
