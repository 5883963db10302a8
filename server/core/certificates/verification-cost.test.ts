import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { chainUnder, costlyKey } from '../../../test/adversary/costly-receivers.ts'
import { type IssueOptions, issue, newKey } from '../../../test/support/issue-certificate.ts'
import { isCheapToVerify, verificationUs } from './verification-cost.ts'

const derOf = (pem: string) =>
  (pem.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----\n/g) ?? []).map(
    (one) => new X509Certificate(one).raw,
  )
const chainOf = (key: KeyObject, count: number, own: Partial<IssueOptions> = {}) =>
  derOf(chainUnder(key, count, own).options.cert)
const curve = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).privateKey
const usOf = (key: KeyObject) =>
  verificationUs(derOf(issue({ subject: 'CN=a', key }).pem)[0] ?? assert.fail())

const USUAL: readonly [string, KeyObject][] = [
  ['RSA 2048', newKey(2_048)],
  ['RSA 4096', newKey(4_096)],
  [
    'RSA 2048 with the exponent 3',
    generateKeyPairSync('rsa', { modulusLength: 2_048, publicExponent: 3 }).privateKey,
  ],
  ...['P-256', 'P-384', 'P-521', 'brainpoolP256r1', 'brainpoolP384r1'].map(
    (name): [string, KeyObject] => [name, curve(name)],
  ),
]

for (const [name, key] of USUAL) {
  test(`chains under ${name} are verified`, () => {
    assert.ok(usOf(key) > 0)
    for (const count of [1, 2, 4]) assert.equal(isCheapToVerify(chainOf(key, count)), true)
  })
}

test('keys whose cost is unusual or not known are not verified', () => {
  const explicit = generateKeyPairSync('ec', { namedCurve: 'P-256', paramEncoding: 'explicit' })
  const kinds: [string, KeyObject][] = [
    ['an exponent as long as the modulus', costlyKey()],
    ['the same with 2048 bits', costlyKey(2_048)],
    ['a rare curve', curve('sect571r1')],
    ['a curve given by its parameters', explicit.privateKey],
  ]
  for (const [name, key] of kinds) {
    assert.equal(usOf(key), Number.POSITIVE_INFINITY, name)
    assert.equal(isCheapToVerify(chainOf(key, 2)), false, name)
  }
})

test('a chain is as costly as its keys together, and has ten certificates at most', () => {
  const cheap = chainOf(newKey(), 10)
  assert.equal(isCheapToVerify(cheap), true)
  assert.equal(isCheapToVerify([...cheap, ...cheap.slice(0, 1)]), false)
  assert.equal(isCheapToVerify(chainOf(curve('P-521'), 5)), true)
  assert.equal(isCheapToVerify(chainOf(curve('P-521'), 9)), false)
})

test('a certificate with a list of a thousand names is verified', () => {
  const names = Array.from({ length: 1_000 }, (_, n) => `receiver-${n}.example.test`)
  assert.equal(isCheapToVerify(chainOf(newKey(2_048), 3, { names })), true)
})

test('what is no DER is not verified: neither when it is cut short, nor in a longer spelling', () => {
  const [raw = Buffer.alloc(0)] = chainOf(newKey(), 1)
  const never = (bytes: Uint8Array) => assert.equal(isCheapToVerify([bytes]), false)
  for (let length = 0; length < raw.length; length += 1) never(raw.subarray(0, length))
  never(Buffer.concat([raw, Buffer.from([0])]))
  // Without an end that is told before (BER), and with a length in more bytes than it needs.
  never(Buffer.concat([Buffer.from([0x30, 0x80]), raw.subarray(4), Buffer.from([0, 0])]))
  const length = raw.subarray(2, 4)
  never(Buffer.concat([Buffer.from([0x30, 0x83, 0]), length, raw.subarray(4)]))
  assert.equal(isCheapToVerify([raw]), true)
})
