import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { costlyKey } from '../../../test/adversary/costly-receivers.ts'
import { issue, newKey } from '../../../test/support/issue-certificate.ts'
import {
  type CertificateChain,
  readAuthorities,
  readChain,
  readPrivateKey,
} from './certificate-chain.ts'

const NOW = Date.now()
const DAY_MS = 86_400_000
const root = issue({ subject: 'CN=Root', isAuthority: true })
const middle = issue({ subject: 'CN=Middle', by: root, isAuthority: true })
const own = issue({ subject: 'CN=paybell, O=Example Ltd', by: middle, purposes: ['client'] })

function refusal(read: object): string {
  return 'refused' in read ? String(read.refused) : 'nothing is refused'
}

function chainOf(pem: string): CertificateChain {
  const chain = readChain(pem, NOW)
  assert.ok('pem' in chain, refusal(chain))
  return chain
}

test('a chain, its own certificate first, is read with what people ask about it', () => {
  const chain = chainOf(`a note\n${own.pem}\n${middle.pem}${root.pem}`)
  assert.equal(chain.certificates.length, 3)
  assert.equal(chain.subject, 'CN=paybell, O=Example Ltd')
  assert.match(chain.fingerprintSha256, /^[0-9a-f]{64}$/)
  assert.ok(chain.notAfter.getTime() > NOW)
  assert.equal(chain.pem.match(/BEGIN CERTIFICATE/g)?.length, 3)
  assert.ok(!chain.pem.includes('a note'))
})

test('a certificate without a purpose will do, and one alone', () => {
  assert.equal(chainOf(issue({ subject: 'CN=plain', by: root }).pem).certificates.length, 1)
})

test('what signs itself is taken, and trusted where it is named', () => {
  assert.equal(chainOf(issue({ subject: 'CN=me' }).pem).subject, 'CN=me')
  const plain = issue({ subject: 'CN=receiver' })
  const read = readAuthorities(plain.pem, NOW)
  assert.equal(Array.isArray(read) && read.length, 1)
})

test('regression: the certificate of an authority is no client certificate, also where it signs itself', () => {
  const selfSigned = issue({ subject: 'CN=me', isAuthority: true })
  assert.match(
    refusal(readChain(selfSigned.pem, NOW)),
    /"CN=me" is that of an authority .*CA:FALSE/,
  )
})

test('regression: an elliptic key that writes its curve out is refused, in the certificate and as PEM', () => {
  const { privateKey: key } = generateKeyPairSync('ec', {
    ...{ namedCurve: 'P-256', paramEncoding: 'explicit' },
  })
  const explicit = issue({ subject: 'CN=explicit', by: root, key })
  assert.match(refusal(readChain(explicit.pem, NOW)), /key of "CN=explicit" .* explicit parameters/)
  assert.match(
    refusal(readAuthorities(issue({ subject: 'CN=a', key, isAuthority: true }).pem, NOW)),
    /explicit/,
  )
  assert.match(refusal(readPrivateKey(explicit.keyPem, chainOf(own.pem))), /name of its curve/)
})

const REFUSED: readonly [string, string, RegExp][] = [
  ['nothing', '', /beginning with -----BEGIN CERTIFICATE/],
  [
    'no certificate',
    '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
    /cannot be read/,
  ],
  ['a key among them', own.pem + own.keyPem, /private key among the certificates/],
  ['one that is cut', `${own.pem.slice(0, -40)}\n${middle.pem}`, /cannot be read/],
  ['too many', own.pem + middle.pem.repeat(10), /at most 10/],
  ['too large', 'x'.repeat(32_769), /32 KiB/],
  ['the wrong order', own.pem + root.pem + middle.pem, /"CN=Root" did not sign "CN=paybell/],
  ['the authority first', middle.pem + own.pem, /"CN=Middle", is that of an authority/],
  [
    'expired',
    issue({ subject: 'CN=old', by: root, notAfter: new Date(NOW - DAY_MS) }).pem,
    /"CN=old" expired on 20/,
  ],
  [
    'too early',
    issue({ subject: 'CN=new', by: root, notBefore: new Date(NOW + DAY_MS) }).pem,
    /not valid before 20/,
  ],
  [
    'sha1',
    issue({ subject: 'CN=sha', by: root, digest: 'sha1' }).pem,
    /SHA1, which receivers refuse/i,
  ],
  [
    'a short key',
    issue({ subject: 'CN=short', by: root, key: newKey(1_024) }).pem,
    /RSA with 1024 bits/,
  ],
  [
    'another purpose',
    issue({ subject: 'CN=web', by: root, purposes: ['server'] }).pem,
    /not meant for client authentication/,
  ],
]

for (const [what, pem, said] of REFUSED) {
  test(`a chain with ${what} is refused, and told why`, () => {
    assert.match(refusal(readChain(pem, NOW)), said)
  })
}

test('an authority whose name is right and whose signature is not is no part of a chain', () => {
  const forged = issue({ subject: 'CN=Middle', by: root, isAuthority: true })
  assert.match(refusal(readChain(own.pem + forged.pem, NOW)), /did not sign/)
})

test('the key that belongs to it is taken, and no other', () => {
  const chain = chainOf(own.pem)
  const key = readPrivateKey(own.keyPem, chain)
  assert.ok('asymmetricKeyType' in key)
  const refused = (pem: string) => refusal(readPrivateKey(pem, chain))
  assert.match(refused(middle.keyPem), /does not belong to the certificate of CN=paybell/)
  assert.match(refused(own.keyPem + middle.keyPem), /several/)
  assert.match(refused(own.pem), /BEGIN PRIVATE KEY/)
  assert.match(
    refused('-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----'),
    /cannot be read/,
  )
  const encrypted = own.privateKey
    .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
    .toString()
  assert.match(refused(encrypted), /encrypted with a passphrase/)
  const traditional = newKey(2_048)
    .export({ type: 'pkcs1', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
    .toString()
  assert.match(refused(traditional), /encrypted with a passphrase/)
})

test('authorities may come in any order, and each has to be one', () => {
  const read = readAuthorities(middle.pem + root.pem, NOW)
  assert.equal(Array.isArray(read) && read.length, 2)
  assert.match(refusal(readAuthorities(own.pem, NOW)), /no certificate of an authority/)
  const old = issue({ subject: 'CN=Old', isAuthority: true, notAfter: new Date(NOW - DAY_MS) })
  assert.match(refusal(readAuthorities(old.pem, NOW)), /expired/)
})

test('regression: an authority whose key takes long to verify is refused', () => {
  const slow = issue({ subject: 'CN=Slow', isAuthority: true, key: costlyKey() })
  assert.match(refusal(readAuthorities(slow.pem, NOW)), /RSA that takes long to verify/)
})
