// What `paybell demo --json` prints, on whichever sandbox: two failures, then the signed success.

import assert from 'node:assert/strict'
import type { Ran } from './command-line.ts'

export function assertDemo({ code, stdout, stderr }: Ran): void {
  assert.equal(code, 0, stderr)
  const callbacks = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    callbacks.map(({ event, attempt, answered, signature }) => [
      event,
      attempt,
      answered,
      signature,
    ]),
    [
      ['payment.created', 1, 500, 'holds'],
      ['payment.created', 2, 500, 'holds'],
      ['payment.created', 3, 200, 'holds'],
      ['payment.paid', 1, 200, 'holds'],
    ],
  )
  assert.equal(new Set(callbacks.slice(0, 3).map(({ eventId }) => eventId)).size, 1)
}
