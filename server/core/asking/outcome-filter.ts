// The filter by what the last attempt came to: words such as `timeout`, statuses such as `503`, classes of
// them such as `5xx`, and `none` for what was never attempted. One word, or several with commas: any of them.

import { CLIENT_CODES, FAILURE_CODES, toClientCode } from '../delivery/outcome-words.ts'

export interface OutcomeFilter {
  /** Outcome codes as they are stored. */
  codes: readonly string[]
  /** Answers, from a status to a status, both included. */
  statuses: readonly { from: number; to: number }[]
  isUntried: boolean
}

export type OutcomeReader = 'operator' | 'client'

/** What a client cannot tell apart. */
const NO_ADDRESS = FAILURE_CODES.filter((code) => toClientCode(code) === 'no-address')

const STATUS = /^[1-5](\d\d|xx)$/
const WORDS_MAX = 20

/** One word or several with commas, as the one who reads the list may name them. */
export function outcomePattern(reader: OutcomeReader): string {
  const word = `(${[...codesFor(reader), 'answered', 'none', '[1-5]([0-9][0-9]|xx)'].join('|')})`
  return `^${word}(,${word}){0,${WORDS_MAX - 1}}$`
}

export const OUTCOME_DESCRIPTION =
  'What the last attempt came to: a status (`503`), a class (`5xx`), `answered`, `none` before the first attempt, or why there was no answer (`timeout`, `tls-error`, …). Several with commas: any of them.'

export function parseOutcomes(
  value: unknown,
  reader: OutcomeReader,
  refuse: (detail: string) => null,
): OutcomeFilter | null {
  if (value === null) return null
  const codes = codesFor(reader)
  const words = typeof value === 'string' ? value.split(',') : value
  const isAllowed = (word: unknown) =>
    typeof word === 'string' &&
    (word === 'answered' || word === 'none' || STATUS.test(word) || codes.includes(word))
  if (
    !Array.isArray(words) ||
    words.length === 0 ||
    words.length > WORDS_MAX ||
    !words.every(isAllowed)
  ) {
    return refuse(
      `Must be a status such as 503, a class such as 5xx, answered, none, or one of ${codes.join(', ')}.`,
    )
  }
  const filter = { codes: [] as string[], statuses: [] as { from: number; to: number }[] }
  for (const word of words as string[]) {
    if (word === 'answered') filter.statuses.push({ from: 0, to: 999 })
    else if (STATUS.test(word)) filter.statuses.push(statusesOf(word))
    else if (word === 'no-address') filter.codes.push(...NO_ADDRESS)
    else if (word !== 'none') filter.codes.push(word)
  }
  return { ...filter, isUntried: words.includes('none') }
}

function codesFor(reader: OutcomeReader): readonly string[] {
  return reader === 'client' ? CLIENT_CODES : ['no-address', ...FAILURE_CODES]
}

function statusesOf(word: string): { from: number; to: number } {
  return { from: Number(word.replace('xx', '00')), to: Number(word.replace('xx', '99')) }
}

/** Whether a delivery that was answered with 200 can match: if not, all that were delivered cannot. */
export function admitsDelivered({ statuses }: OutcomeFilter): boolean {
  return statuses.some(({ from, to }) => from <= 200 && to >= 200)
}
