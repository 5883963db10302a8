import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BrokenAnswer } from './answer-lines.ts'
import { ConnectFailure } from './guarded-connector.ts'
import { toFailedOutcome } from './send-failure.ts'

function errorOf(code: string): Error {
  return Object.assign(new Error('x'), { code })
}

test('each kind of failure has its word', () => {
  const cases: [Error, string][] = [
    [new BrokenAnswer('a status line that is none'), 'protocol-error'],
    [new Error('the receiver has closed'), 'connection-reset'],
    [errorOf('ECONNRESET'), 'connection-reset'],
    [errorOf('EPIPE'), 'connection-reset'],
    [errorOf('ETIMEDOUT'), 'timeout'],
    [errorOf('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'), 'certificate-refused'],
    [new ConnectFailure({ kind: 'unreachable', reason: 'dns-error' }), 'dns-error'],
  ]
  for (const [error, reason] of cases) {
    const outcome = toFailedOutcome(error)
    assert.equal(outcome.kind !== 'answered' && outcome.reason, reason, error.message)
  }
})

test('an unforeseen error is an outcome too', () => {
  for (const odd of [undefined, null, 7, 'text', {}, new Error('?'), { code: Symbol('x') }]) {
    assert.deepEqual(toFailedOutcome(odd), { kind: 'unreachable', reason: 'connection-reset' })
  }
})
