// Why attempts at an endpoint have failed, in words that a client may read: "8 got 500, 4 timed out." Pure.

import { describeOutcome } from './explanation-outcome.ts'

export interface FailureReason {
  outcome: string
  status: number | null
  count: number
}

/** The most frequent first; null when there is none. */
export function toReasonsText(reasons: readonly FailureReason[]): string | null {
  const counts = new Map<string, number>()
  for (const { count, ...reason } of reasons) {
    const [first] = describeOutcome('', reason, 'client')
    // Two outcomes may be one to a client (core/delivery/delivery).
    const words = (first?.template ?? 'failed').trim().replace(/\.$/, '')
    counts.set(words, (counts.get(words) ?? 0) + count)
  }
  if (counts.size === 0) return null
  const parts = [...counts]
    .toSorted(([, one], [, other]) => other - one)
    .map(([words, count]) => `${count} ${words}`)
  return `Attempts in the last hour: ${parts.join('; ')}.`
}
