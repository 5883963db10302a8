// Private keys in every form that is taken, verified by Node's own crypto; and what is no such key, told without a word of it.

import assert from 'node:assert/strict'
import { constants, generateKeyPairSync, type KeyObject, verify, webcrypto } from 'node:crypto'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { type PrivateKey, readPrivateKey, signWith } from './private-key.ts'

const DATA = new TextEncoder().encode('what is signed')

const pairs = {
  EdDSA: generateKeyPairSync('ed25519'),
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  PS256: generateKeyPairSync('rsa', { modulusLength: 2_048 }),
}
const WEB_ALGORITHMS = {
  EdDSA: { name: 'Ed25519' },
  ES256: { name: 'ECDSA', namedCurve: 'P-256' },
  PS256: { name: 'RSA-PSS', hash: 'SHA-256' },
}

type Alg = keyof typeof pairs

const pemOf = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString()
const jwkOf = (key: KeyObject) => key.export({ format: 'jwk' })

/** RFC 7518 §3.4, §3.5, RFC 8037 §3.1. */
function holds(alg: Alg, publicKey: KeyObject, signature: Uint8Array): boolean {
  const options = {
    EdDSA: {},
    ES256: { dsaEncoding: 'ieee-p1363' as const },
    PS256: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 },
  }[alg]
  return verify(alg === 'EdDSA' ? null : 'sha256', DATA, { key: publicKey, ...options }, signature)
}

for (const alg of Object.keys(pairs) as Alg[]) {
  test(`${alg}: PEM, JWK and CryptoKey make signatures that hold, under their algorithm`, async () => {
    const { privateKey, publicKey } = pairs[alg]
    const jwk = jwkOf(privateKey)
    const imported = (isExtractable: boolean) =>
      webcrypto.subtle.importKey('jwk', jwk, WEB_ALGORITHMS[alg], isExtractable, ['sign'])
    for (const given of [
      pemOf(privateKey),
      `\n${pemOf(privateKey).replaceAll('\n', '\r\n')}\n`,
      jwk,
      // What tools add says what the key may do in words of their own.
      { ...jwk, kid: 'mine', alg, use: 'sig', key_ops: ['verify'], ext: false },
      await imported(true),
      await imported(false),
    ] as PrivateKey[]) {
      const load = readPrivateKey(given)
      const signing = await load()
      assert.equal(signing.alg, alg)
      assert.ok(holds(alg, publicKey, await signWith(signing, DATA)))
      assert.equal(await load(), signing, 'imported once')
    }
  })

  test(`${alg}: what was given cannot be read from what is kept`, async () => {
    const { privateKey } = pairs[alg]
    const jwk = jwkOf(privateKey)
    const { key } = await readPrivateKey(pemOf(privateKey))()
    assert.equal(key.extractable, false)
    await assert.rejects(webcrypto.subtle.exportKey('jwk', key))
    const shown = inspect(readPrivateKey(jwk), { depth: 9, showHidden: true }) + JSON.stringify(key)
    assert.ok(!shown.includes(String(jwk.d)))
  })
}

const { privateKey: ed25519 } = pairs.EdDSA
const SEC1 = pairs.ES256.privateKey.export({ type: 'sec1', format: 'pem' }).toString()
const PKCS1 = pairs.PS256.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()
const ENCRYPTED = ed25519
  .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'p' })
  .toString()
const PUBLIC = pairs.EdDSA.publicKey.export({ type: 'spki', format: 'pem' }).toString()
const other = generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey
const weak = generateKeyPairSync('rsa', { modulusLength: 1_024 }).privateKey
const { d: _, ...withoutD } = jwkOf(ed25519)
const spoilt = pemOf(ed25519).replace(/.{6}\n-----END/, '\n-----END')

test('what can be seen to be no such key is refused at once, with what to do about it', () => {
  for (const [given, message] of [
    [SEC1, /EC PRIVATE KEY: it must be PKCS#8.*openssl pkcs8 -topk8/],
    [PKCS1, /RSA PRIVATE KEY: it must be PKCS#8/],
    [ENCRYPTED, /it is encrypted/],
    [PUBLIC, /PUBLIC KEY: the private key is needed here/],
    [pemOf(other), /must be Ed25519, P-256 or RSA/],
    [jwkOf(other), /must be Ed25519, P-256 or RSA/],
    [withoutD, /has no d\. It is the public key/],
    ['pbs_a-secret', /is not PEM/],
    ['', /is not PEM/],
    [pemOf(ed25519) + pemOf(ed25519), /is not PEM: it must be one block/],
    [{}, /is no JWK/],
    [{ kty: 'oct', k: 'c2VjcmV0' }, /is no JWK/],
    [null, /PEM, a JWK or a CryptoKey/],
    [7, /PEM, a JWK or a CryptoKey/],
  ] as const) {
    assert.throws(() => readPrivateKey(given as PrivateKey), { name: 'TypeError', message })
  }
})

test('a CryptoKey has to be private, to sign, and to be of a kind that is taken', async () => {
  const { subtle } = webcrypto
  const [pss, ec] = [
    { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
    { name: 'ECDH', namedCurve: 'P-256' },
  ]
  for (const key of [
    await subtle.importKey('jwk', jwkOf(pairs.EdDSA.publicKey), 'Ed25519', true, ['verify']),
    await subtle.importKey('jwk', jwkOf(pairs.PS256.privateKey), pss, true, ['sign']),
    await subtle.importKey('jwk', jwkOf(pairs.ES256.privateKey), ec, true, ['deriveBits']),
  ]) {
    assert.throws(() => readPrivateKey(key), /must be a private CryptoKey that may sign/)
  }
})

test('what only Web Crypto sees fails when the key is used, and no failure repeats the key', async () => {
  const secret = String(jwkOf(ed25519).d)
  const bent = { ...jwkOf(ed25519), d: `${secret}AAAA` }
  for (const [given, message] of [
    [spoilt, /privateKey (is not a key|cannot be read)/],
    [bent, /cannot be read as a key for EdDSA/],
    [pemOf(weak), /has 1024 bits: an RSA key must have 2048/],
    [jwkOf(weak), /has 1024 bits/],
  ] as const) {
    const fail = async () => (await readPrivateKey(given as PrivateKey)()).alg
    const error = await fail().then(
      () => assert.fail(),
      (thrown: unknown) => thrown,
    )
    assert.match(String(error), message)
    assert.ok(!inspect(error, { depth: 9, showHidden: true }).includes(secret))
  }
})
