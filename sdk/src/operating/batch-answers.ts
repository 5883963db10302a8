// What a service answers to a batch of payments, a line for each, and which of them have to be sent again: what says
// "not now" does, everything else is settled. Repeating a line is harmless.

import type { WrittenLine } from '../wire/operator-types.ts'

/** Of a line among others. */
const NOT_NOW = new Set([
  'database-away',
  'overloaded',
  'not-ready',
  'too-many-requests',
  'cell-away',
])
/** Of a request: nothing was recorded, or it is unknown what was. */
const PASSING = new Set([0, 408, 429, 502, 503, 504])
/** A fault of the service may pass, but is not retried more than a few times. */
const INTERNAL_TRIES = 3

/** By number of line, from 1. An answer that was cut short has fewer: the others are still owed. */
export function readAnswers(text: string): ReadonlyMap<number, WrittenLine> {
  const answers = new Map<number, WrittenLine>()
  for (const line of text.split('\n')) {
    if (line === '') continue
    try {
      const answer = JSON.parse(line) as WrittenLine
      answers.set(answer.line, answer)
    } catch {
      break
    }
  }
  return answers
}

/** Whether the line is recorded, or refused for good. `tries` are those so far. */
export function isSettled(answer: WrittenLine | undefined, tries: number): answer is WrittenLine {
  if (answer === undefined) return false
  const code = answer.problem?.code
  if (code === undefined) return true
  return !NOT_NOW.has(code) && !(code === 'internal' && tries < INTERNAL_TRIES)
}

/** Whether a request that was answered so may be made again. */
export function isPassing(status: number, tries: number): boolean {
  return PASSING.has(status) || (status === 500 && tries < INTERNAL_TRIES)
}
