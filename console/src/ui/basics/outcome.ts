// What an attempt came to, in the words that the service itself uses.

import { outcomeText } from '../../../../server/core/delivery/outcome-words.ts'

export function toOutcomeText(outcome: string | null): string {
  return outcomeText(outcome ?? 'no answer')
}

/** At the beginning of a sentence. */
export function toOutcomeHead(outcome: string | null): string {
  const text = toOutcomeText(outcome)
  return text.charAt(0).toUpperCase() + text.slice(1)
}
