import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errors } from 'undici'
import { ConnectFailure } from './guarded-connector.ts'
import { toFailedOutcome } from './send-failure.ts'

function errorOf(code: string, message = 'x'): Error {
  return Object.assign(new Error(message), { code })
}

test('each kind of failure has its word', () => {
  const cases: [Error, string][] = [
    [new errors.HTTPParserError('Expected HTTP/'), 'protocol-error'],
    [errorOf('UND_ERR_HEADERS_OVERFLOW'), 'protocol-error'],
    [errorOf('UND_ERR_SOCKET', 'bad response'), 'protocol-error'],
    [errorOf('UND_ERR_SOCKET', 'other side closed'), 'connection-reset'],
    [errorOf('ECONNRESET'), 'connection-reset'],
    [errorOf('EPIPE'), 'connection-reset'],
    [errorOf('ETIMEDOUT'), 'timeout'],
    [errorOf('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'), 'tls-error'],
    [errorOf('UND_ERR_INVALID_ARG', 'invalid x header'), 'invalid-header'],
    [new TypeError('key.toLowerCase is not a function'), 'invalid-header'],
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
