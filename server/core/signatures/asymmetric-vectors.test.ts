// The published vectors, which OpenSSL has made: the server signs what they say, to the letter; and OpenSSL, where it
// is on the machine, judges what the server signs.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { signAsymmetric, signedContent } from './asymmetric-signature.ts'
import { fromWhpk, toWhpk } from './webhook-key.ts'

interface Callback {
  name: string
  body: string
  webhookId: string
  webhookTimestamp: number
  keyId: string
  webhookSignature: string
}

interface Vectors {
  keys: { name: string; kid: string; d: string; whpk: string; jwk: { x: string } }[]
  callbacks: Callback[]
  forgeries: Callback[]
  rfc8032: { name: string; seedHex: string; messageHex: string; signatureHex: string }[]
}

const file = new URL('../../../test/vectors/asymmetric-signatures.json', import.meta.url)
const vectors: Vectors = JSON.parse(readFileSync(file, 'utf8'))

const pairs = vectors.keys.map(({ kid, d, jwk }) => ({
  kid,
  key: createPrivateKey({ key: { ...jwk, d, kty: 'OKP', crv: 'Ed25519' }, format: 'jwk' }),
}))
const published = pairs.slice(0, 2).map(({ key }) => createPublicKey(key))

function contentOf({ webhookId, webhookTimestamp, body }: Callback): Buffer {
  return signedContent(webhookId, webhookTimestamp, [Buffer.from(body)])
}

const entriesOf = ({ webhookSignature }: Callback) =>
  webhookSignature.split(' ').filter((entry) => entry.startsWith('v1a,'))

for (const callback of vectors.callbacks) {
  test(`the server signs as OpenSSL does: ${callback.name}`, async () => {
    const first = pairs.findIndex(({ kid }) => kid === callback.keyId)
    const entries = entriesOf(callback)
    const signers = pairs.slice(first, first + entries.length)
    const made = await signAsymmetric(signers, contentOf(callback))
    assert.deepEqual(made, { keyId: callback.keyId, entries: entries.join(' ') })
  })
}

test('no forgery of the vectors holds', () => {
  for (const forged of vectors.forgeries) {
    for (const entry of entriesOf(forged)) {
      const signature = Buffer.from(entry.slice(4), 'base64')
      for (const key of published) {
        assert.ok(!verify(null, contentOf(forged), key, signature), forged.name)
      }
    }
  }
})

test('RFC 8032, section 7.1', () => {
  for (const { name, seedHex, messageHex, signatureHex } of vectors.rfc8032) {
    const prefix = Buffer.from('302e020100300506032b657004220420', 'hex')
    const der = Buffer.concat([prefix, Buffer.from(seedHex, 'hex')])
    const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    assert.equal(
      sign(null, Buffer.from(messageHex, 'hex'), key).toString('hex'),
      signatureHex,
      name,
    )
  }
})

test('whpk_ and JWK of the vectors are the same keys', () => {
  for (const { whpk, jwk } of vectors.keys) {
    assert.equal(toWhpk(jwk.x), whpk)
    assert.equal(fromWhpk(whpk), jwk.x)
  }
})

function hasOpenSsl(): boolean {
  try {
    // 3.0 is the first that signs and verifies Ed25519 from a file of any length.
    return /^OpenSSL [3-9]/.test(execFileSync('openssl', ['version'], { encoding: 'utf8' }))
  } catch {
    return false
  }
}

test('OpenSSL verifies what the server signs, and refuses it when a byte is changed', {
  skip: hasOpenSsl() ? false : 'openssl 3 is not on this machine',
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'paybell-openssl-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const at = (name: string) => join(folder, name)
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  writeFileSync(at('key.pem'), publicKey.export({ type: 'spki', format: 'pem' }))
  const holds = (content: Uint8Array, signature: Uint8Array): boolean => {
    writeFileSync(at('content'), content)
    writeFileSync(at('signature'), signature)
    const files = ['-inkey', at('key.pem'), '-in', at('content'), '-sigfile', at('signature')]
    try {
      execFileSync('openssl', ['pkeyutl', '-verify', '-pubin', '-rawin', ...files], {
        stdio: 'ignore',
      })
      return true
    } catch {
      return false
    }
  }
  for (const callback of vectors.callbacks) {
    const content = contentOf(callback)
    const { entries } = await signAsymmetric([{ kid: 'k', key: privateKey }], content)
    const signature = Buffer.from(entries.slice(4), 'base64')
    assert.ok(holds(content, signature), callback.name)
    signature[10] = (signature[10] as number) ^ 1
    assert.ok(!holds(content, signature), callback.name)
  }
})
