import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { test } from 'node:test'
import { signAsymmetric, signAsymmetricNow, signedContent } from './asymmetric-signature.ts'

const pair = (kid: string) => ({ kid, key: generateKeyPairSync('ed25519').privateKey })
const CONTENT = signedContent('msg', 1_700_000_000, [Buffer.from('{"a":'), Buffer.from('1}')])

test('what is signed is id.timestamp.body, in one piece', () => {
  assert.equal(CONTENT.toString(), 'msg.1700000000.{"a":1}')
})

test('each key makes an entry that its public key verifies; the newest names the key', async () => {
  const pairs = [pair('new'), pair('old')]
  const { keyId, entries } = await signAsymmetric(pairs, CONTENT)
  assert.equal(keyId, 'new')
  const list = entries.split(' ')
  assert.equal(list.length, 2)
  for (const [at, { key }] of pairs.entries()) {
    assert.match(list[at] as string, /^v1a,[A-Za-z\d+/]{86}==$/)
    const signature = Buffer.from((list[at] as string).slice(4), 'base64')
    assert.ok(verify(null, CONTENT, createPublicKey(key), signature))
  }
  assert.deepEqual(signAsymmetricNow(pairs, CONTENT), { keyId, entries }, 'Ed25519 has no dice')
})

test('without a key nothing is signed', async () => {
  await assert.rejects(signAsymmetric([], CONTENT), /no key/)
})
