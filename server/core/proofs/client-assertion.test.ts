import assert from 'node:assert/strict'
import test from 'node:test'
import { encode } from '../../../test/support/jwt-part.ts'
import { findAssertionFault, readAssertion } from './client-assertion.ts'

const CLIENT = '019cade2-1350-7af3-913d-2f16aae956b4'
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

test('regression: an assertion in another spelling is not read', () => {
  const [head, claims] = toJwt({ alg: 'ES256' }).split('.')
  for (const signature of ['c2ln==', 'c2lh_', 'c2ln=', 'c2lnx', 'c2l+']) {
    assert.equal(readAssertion(`${head}.${claims}.${signature}`), null, signature)
  }
  assert.notEqual(readAssertion(`${head}.${claims}.c2ln`), null)
  assert.equal(readAssertion(`${head}.${claims}=.c2ln`), null)
})

test('an assertion ends within five minutes, by clocks that are a minute apart, and has an id', () => {
  const nowMs = 1_800_000_000_000
  const now = nowMs / 1_000
  const [audiences, own] = [
    ['https://a.test/token', 'https://a.test'],
    { iss: CLIENT, sub: CLIENT },
  ]
  const fault = (change: object) =>
    findAssertionFault(
      { ...own, aud: 'https://a.test', exp: now + 60, jti: 'a', ...change },
      { clientId: CLIENT, audiences, nowMs },
    )
  assert.equal(fault({}), null)
  assert.equal(fault({ aud: audiences }), null)
  assert.equal(fault({ iss: CLIENT.toUpperCase(), sub: CLIENT.toUpperCase() }), null)
  assert.equal(fault({ exp: now + 360, iat: now + 60, jti: 'x'.repeat(256) }), null)
  for (const [change, detail] of [
    [{ exp: now + 361 }, /^exp/],
    [{ exp: 'soon' }, /^exp/],
    [{ iat: now + 61 }, /^iat/],
    [{ iat: 'now' }, /^iat/],
    // A minute for clocks that are apart makes its own life no longer.
    [{ exp: now + 301, iat: now }, /^exp must be at most 300 seconds after iat/],
    [{ iss: 'another' }, /^iss/],
    [{ sub: undefined }, /^sub/],
    [{ aud: 'https://other.test' }, /^aud/],
    [{ aud: [] }, /^aud/],
    [{ aud: undefined }, /^aud/],
    [{ aud: ['https://a.test', 'https://other.test'] }, /^aud .* nothing else/],
    [{ jti: undefined }, /^jti/],
    [{ jti: '' }, /^jti/],
    [{ jti: 7 }, /^jti/],
    [{ jti: 'x'.repeat(257) }, /^jti/],
  ] as const) {
    assert.match(fault(change) ?? '', detail)
  }
})
