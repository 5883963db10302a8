import assert from 'node:assert/strict'
import test from 'node:test'
import { findAssertionFault, readAssertion } from './client-assertion.ts'

const CLIENT = '019cade2-1350-7af3-913d-2f16aae956b4'
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const toJwt = (header: unknown, claims: unknown = { sub: CLIENT }) =>
  `${encode(header)}.${encode(claims)}.c2ln`

test('of an assertion its client, its algorithm and its key are read before anything is checked', () => {
  const read = { clientId: CLIENT, alg: 'ES256', kid: 'k' }
  assert.deepEqual(readAssertion(toJwt({ alg: 'ES256', kid: 'k' })), read)
  assert.deepEqual(readAssertion(toJwt({ alg: 'EdDSA' })), { ...read, alg: 'EdDSA', kid: null })
  assert.deepEqual(readAssertion(toJwt({ alg: 'Ed25519' })), { ...read, alg: 'EdDSA', kid: null })
})

test('what no client can have made for us is not read', () => {
  for (const text of [
    toJwt({ alg: 'none' }),
    toJwt({ alg: 'HS256' }),
    toJwt({ alg: 'RS256' }),
    toJwt({ alg: 'ES256', crit: ['b64'] }),
    toJwt({ alg: 'ES256', kid: 7 }),
    toJwt({ alg: 'ES256' }, { sub: 'nobody' }),
    toJwt({ alg: 'ES256' }, null),
    toJwt(null),
    `${toJwt({ alg: 'ES256' })}.x`,
    'a.b',
    '',
    `${toJwt({ alg: 'ES256' })}${'x'.repeat(4_096)}`,
  ]) {
    assert.equal(readAssertion(text), null, text.slice(0, 60))
  }
})

test('an assertion ends within five minutes, by clocks that are a minute apart, and has an id', () => {
  const nowMs = 1_800_000_000_000
  const now = nowMs / 1_000
  const fault = (change: object) =>
    findAssertionFault({ exp: now + 60, jti: 'a', ...change }, nowMs)
  assert.equal(fault({}), null)
  assert.equal(fault({ exp: now + 360, iat: now + 60, jti: 'x'.repeat(256) }), null)
  for (const [change, detail] of [
    [{ exp: now + 361 }, /^exp/],
    [{ exp: 'soon' }, /^exp/],
    [{ iat: now + 61 }, /^iat/],
    [{ iat: 'now' }, /^iat/],
    [{ jti: undefined }, /^jti/],
    [{ jti: '' }, /^jti/],
    [{ jti: 7 }, /^jti/],
    [{ jti: 'x'.repeat(257) }, /^jti/],
  ] as const) {
    assert.match(fault(change) ?? '', detail)
  }
})
