import assert from 'node:assert/strict'
import test from 'node:test'
import { encode } from '../../../test/support/jwt-part.ts'
import { readClaims, readKeyId } from './token.ts'

const PARTY = { issuer: 'paybell', audience: 'paybell-api' }
const NOW_MS = 1_800_000_000_000
const NOW = NOW_MS / 1_000

const CLAIMS = {
  iss: 'paybell',
  aud: 'paybell-api',
  sub: '019cade2-1350-7af3-913d-2f16aae956b4',
  iat: NOW,
  nbf: NOW,
  exp: NOW + 3_600,
  jti: 'a',
}

const toToken = (header: unknown) => `${encode(header)}.${encode(CLAIMS)}.c2ln`

test('of the claims, the client and the end are read', () => {
  assert.deepEqual(readClaims(CLAIMS, PARTY, NOW_MS), {
    clientId: CLAIMS.sub,
    expiresAtMs: (NOW + 3_600) * 1_000,
  })
})

test('A5: a header is read only with EdDSA, at+jwt and a key id', () => {
  const good = { alg: 'EdDSA', typ: 'at+jwt', kid: 'k1' }
  assert.equal(readKeyId(toToken(good)), 'k1')
  assert.equal(readKeyId(toToken({ ...good, jku: 'https://evil.test', jwk: {}, x5u: 'x' })), 'k1')
  for (const bad of [
    { ...good, alg: 'none' },
    { ...good, alg: 'HS256' },
    { ...good, alg: 'Ed25519' },
    { ...good, typ: 'JWT' },
    { ...good, typ: undefined },
    { ...good, kid: undefined },
    { ...good, kid: 7 },
    { ...good, crit: [] },
    { ...good, crit: ['b64'], b64: true },
    null,
    'text',
  ]) {
    assert.equal(readKeyId(toToken(bad)), null, JSON.stringify(bad))
  }
})

test('A5: a token has one spelling, three parts and at most 4 KiB', () => {
  const token = toToken({ alg: 'EdDSA', typ: 'at+jwt', kid: 'k1' })
  for (const bad of [
    '',
    'a.b',
    `${token}.x`,
    `${token}=`,
    `${token.slice(0, -1)}`,
    token.replace('.', '..'),
    token.replace('c2ln', 'c2l+'),
    `${token}\n`,
    `x${'A'.repeat(4_096)}`,
  ]) {
    assert.equal(readKeyId(bad), null)
  }
  // Base64 lets the last character vary in bits that are not read: one spelling is canonical.
  assert.equal(readKeyId(token.replace(/c2ln$/, 'c2k')), 'k1')
  assert.equal(readKeyId(token.replace(/c2ln$/, 'c2l')), null)
})

test('A6: a token may begin 5 seconds early', () => {
  const at = (ms: number) => readClaims(CLAIMS, PARTY, NOW_MS + ms)
  assert.ok(at(-5_000))
  assert.equal(at(-5_001), null)
})

test('A5: every claim is required and must be ours', () => {
  for (const name of Object.keys(CLAIMS)) {
    assert.equal(readClaims({ ...CLAIMS, [name]: undefined }, PARTY, NOW_MS), null, name)
  }
  for (const wrong of [
    { iss: 'other' },
    { aud: 'other' },
    { aud: ['paybell-api', 'other'] },
    { sub: 'not-a-uuid' },
    { exp: '1900000000' },
    { exp: 1e300 },
    { iat: NOW + 6 },
    { nbf: NOW + 6 },
    { jti: '' },
  ]) {
    assert.equal(readClaims({ ...CLAIMS, ...wrong }, PARTY, NOW_MS), null, JSON.stringify(wrong))
  }
})
