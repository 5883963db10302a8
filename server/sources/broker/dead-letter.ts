// What the headers of a dead letter say of the problem, at whichever broker it is kept.

import type { ServiceError } from '../../core/plain/errors.ts'

/** Said where a body does not fit beside the headers: the origin leads to it. */
export const BODY_LEFT_OUT = ['Paybell-Body', 'left-out'] as const

export function describeProblem(error: ServiceError): readonly (readonly [string, string])[] {
  // Never repeats a value of the payment, like every problem.
  const problem = { code: error.code, detail: error.message, errors: error.errors }
  return [
    ['Paybell-Code', error.code],
    ['Paybell-Problem', toAscii(JSON.stringify(problem))],
  ]
}

/** Header values of NATS must be ASCII; JSON escapes everything else. */
function toAscii(json: string): string {
  return json.replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
