// One sentence of an explanation. Its instants are apart from its words, so that the text for the API is
// written in UTC and a console can write the same sentence in the reader's zone. Pure.

import { toDurationText, toInstantText } from '../plain/time-text.ts'

export type ExplanationCode =
  | 'last-attempt'
  | 'only-200'
  | 'redirect-not-followed'
  | 'gone-is-retried'
  | 'retry-after'
  | 'replay-requested'
  | 'due-now'
  | 'next-attempt'
  | 'waits-for-older-update'
  | 'older-update-gives-way'
  | 'newer-update-went-ahead'
  | 'on-hold'
  | 'endpoint-paused'
  | 'endpoint-disabled'
  | 'endpoint-down'
  | 'endpoint-deleted'
  | 'nobody-listens'
  | 'nothing-is-lost'
  | 'queued'
  | 'delivered'
  | 'gave-up'
  | 'replay-it'
  | 'superseded'
  | 'only-the-latest'
  | 'nothing-is-missing'
  | 'cancelled'
  | 'attempts-before'

export interface ExplanationPart {
  /** What the sentence is about: stable. Several sentences may have one code. */
  code: ExplanationCode
  /** The sentence. `{name}` stands for an instant of `instants`, `{in name}` for the time until it. */
  template: string
  instants: Readonly<Record<string, number>>
}

/** An instant that is not known is left out, and the template does not name it. */
export function part(
  code: ExplanationCode,
  template: string,
  instants: Readonly<Record<string, number | null>> = {},
): ExplanationPart {
  const set = Object.entries(instants).filter(
    (entry): entry is [string, number] => entry[1] !== null,
  )
  return { code, template, instants: Object.fromEntries(set) }
}

/** The sentence in UTC, as of now. */
export function toPartText({ template, instants }: ExplanationPart, nowMs: number): string {
  return template.replace(
    /\{(in )?(\w+)\}/g,
    (_match, isDuration: string | undefined, name: string) => {
      const ms = instants[name] as number
      return isDuration ? toDurationText(ms - nowMs) : `${toInstantText(ms, nowMs)} UTC`
    },
  )
}
