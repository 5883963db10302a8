// What an attempt came to, as a sentence of an explanation; and what many came to, as one of a notice. Pure.

import { type ExplanationPart, part } from './explanation-part.ts'
import { outcomeWhy, outcomeWords, toClientCode } from './outcome-words.ts'

/** `what` is the subject: "Attempt 6 of about 40". */
export function describeOutcome(
  what: string,
  { outcome, status }: { outcome: string; status: number | null },
  reader: 'client' | 'operator',
): ExplanationPart[] {
  if (outcome === 'answered' && status !== null) return describeAnswer(what, status)
  const code = reader === 'client' ? toClientCode(outcome) : outcome
  const why = outcomeWhy(code)
  const text = `${what} failed: ${outcomeWords(code)}.`
  return [part('last-attempt', why === null ? text : `${text} ${why}`)]
}

function describeAnswer(what: string, status: number): ExplanationPart[] {
  const got = (text: string) => part('last-attempt', `${what} got ${status}${text}`)
  if (status === 200) return [got('.')]
  if (status >= 200 && status < 300) {
    return [got('.'), part('only-200', 'Only 200 counts as delivered.')]
  }
  if (status >= 300 && status < 400) {
    return [got(', a redirect.'), part('redirect-not-followed', 'Redirects are not followed.')]
  }
  if (status === 410) {
    const text = 'A 410 is retried too: delete the endpoint to stop its callbacks.'
    return [got('.'), part('gone-is-retried', text)]
  }
  return [got(status === 429 ? ' (too many requests).' : '.')]
}

export interface FailureReason {
  outcome: string
  status: number | null
  count: number
}

/** For a client: "8 answered 500; 4 timed out." The most frequent first; null when there is none. */
export function toReasonsText(reasons: readonly FailureReason[]): string | null {
  const counts = new Map<string, number>()
  for (const { outcome, status, count } of reasons) {
    // Two outcomes may be one to a client: their words are the same.
    const words = status === null ? outcomeWords(outcome) : `answered ${status}`
    counts.set(words, (counts.get(words) ?? 0) + count)
  }
  if (counts.size === 0) return null
  const parts = [...counts]
    .toSorted(([, one], [, other]) => other - one)
    .map(([words, count]) => `${count} ${words}`)
  return `Attempts in the last hour: ${parts.join('; ')}.`
}
