// `v1a`, against vectors that OpenSSL has made.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import vectors from '../../../test/vectors/asymmetric-signatures.json' with { type: 'json' }
import { entryHolds, type Whpk } from '../plain/ed25519.ts'
import { SignatureError, type SignatureErrorCode } from '../plain/errors.ts'
import { fetchPublicKeys, findPublicKeys } from './public-keys.ts'
import { createReceiver } from './receiver.ts'
import { createTestKey, signForTest } from './sign-for-test.ts'
import { type VerifyOptions, verify, verifySignature } from './verify.ts'

type Vector = (typeof vectors.callbacks)[number]

const [CURRENT, PREVIOUS, STRANGE] = vectors.keys.map(({ whpk }) => whpk as Whpk) as [
  Whpk,
  Whpk,
  Whpk,
]
const KEY = 'a shared key of the client'

function headersOf(vector: Vector): Record<string, string> {
  return {
    'webhook-id': vector.webhookId,
    'webhook-timestamp': String(vector.webhookTimestamp),
    'webhook-signature': vector.webhookSignature,
    'x-paybell-key-id': vector.keyId,
  }
}

function check(vector: Vector, sharedKey: string | null, options: VerifyOptions) {
  const now = new Date(vector.webhookTimestamp * 1_000)
  return verifySignature(vector.body, headersOf(vector), sharedKey, { now, ...options })
}

function refuses(code: SignatureErrorCode, promise: Promise<unknown>): Promise<void> {
  return assert.rejects(promise, (error) => error instanceof SignatureError && error.code === code)
}

for (const vector of vectors.callbacks) {
  test(`the shared vectors hold: ${vector.name}`, async () => {
    const publicKeys = [CURRENT, PREVIOUS]
    assert.equal((await check(vector, null, { publicKeys })).id, vector.webhookId)
    for (const signatures of ['v1', 'v1a', 'both', 'either'] as const) {
      await check(vector, KEY, { publicKeys, signatures })
    }
    await refuses('unknown-key', check(vector, null, { publicKeys: STRANGE }))
  })
}

for (const vector of vectors.forgeries) {
  test(`refused: ${vector.name}`, async () => {
    const publicKeys = [CURRENT, PREVIOUS]
    await assert.rejects(check(vector, null, { publicKeys }), SignatureError)
    await assert.rejects(check(vector, KEY, { publicKeys }), SignatureError)
  })
}

for (const vector of vectors.rfc8032) {
  test(vector.name, async () => {
    const base64 = (hex: string) => Buffer.from(hex, 'hex').toString('base64')
    const whpk: Whpk = `whpk_${base64(vector.publicHex)}`
    const [{ key } = assert.fail()] = await findPublicKeys(whpk, undefined)
    const entry = `v1a,${base64(vector.signatureHex)}`
    const message = new Uint8Array(Buffer.from(vector.messageHex, 'hex'))
    assert.ok(await entryHolds(entry, key, message))
    assert.ok(!(await entryHolds(entry, key, new Uint8Array([...message, 0]))))
  })
}

test('by default all must hold that there are keys for; a callback cannot choose less', async () => {
  const key = await createTestKey()
  const { body, headers } = await signForTest({ sharedKey: KEY, signingKeys: key })
  const plain = await signForTest({ sharedKey: KEY })
  const publicKeys = key.whpk
  await verify(body, headers, KEY, { publicKeys })
  await refuses('signature-mismatch', verify(body, headers, 'another', { publicKeys }))
  await refuses('signature-missing', verify(plain.body, plain.headers, KEY, { publicKeys }))
  await refuses('signature-missing', verify(plain.body, plain.headers, null, { publicKeys }))
  const either = { publicKeys, signatures: 'either' } as const
  await verify(plain.body, plain.headers, KEY, either)
  await verify(body, headers, 'another', either)
  await refuses('signature-mismatch', verify(plain.body, plain.headers, 'another', either))
})

test('v1 and v1a do not stand in for each other', async () => {
  const key = await createTestKey()
  const { body, headers } = await signForTest({ sharedKey: KEY, signingKeys: key })
  const [v1 = '', v1a = ''] = (headers['webhook-signature'] as string).split(' ')
  const as = (text: string) => ({ ...headers, 'webhook-signature': text })
  const publicKeys = key.whpk
  await refuses('signature-mismatch', verify(body, as(v1a), KEY, { publicKeys, signatures: 'v1' }))
  await refuses('signature-missing', verify(body, as(v1), null, { publicKeys }))
  await verify(body, as(v1a), null, { publicKeys })
})

test('a respelled signature is refused: base64 has one spelling', async () => {
  const key = await createTestKey()
  const { body, headers } = await signForTest({ sharedKey: KEY, signingKeys: key })
  const entry = (headers['webhook-signature'] as string).split(' ')[1] as string
  for (const other of [entry.replace(/=+$/, ''), entry.replace(/.==$/, '/=='), `${entry}=`]) {
    if (other === entry) continue
    const respelled = { ...headers, 'webhook-signature': other }
    await assert.rejects(verify(body, respelled, null, { publicKeys: key.whpk }), SignatureError)
  }
})

test('a time that is far away is refused, as with v1', async () => {
  const key = await createTestKey()
  const at = new Date('2026-11-15T09:30:00Z')
  const { body, headers } = await signForTest({ sharedKey: KEY, signingKeys: key, at })
  const now = new Date(at.getTime() + 301_000)
  await refuses('timestamp-too-old', verify(body, headers, null, { publicKeys: key.whpk, now }))
})

test('what a program forgets is a TypeError', async () => {
  const { body, headers } = await signForTest({ sharedKey: KEY })
  const bad: [string | null, VerifyOptions][] = [
    [KEY, { signatures: 'v1a' }],
    [KEY, { signatures: 'both' }],
    [null, {}],
    [KEY, { publicKeys: CURRENT, dialect: 'hmac' }],
  ]
  for (const [sharedKey, options] of bad) {
    await assert.rejects(verify(body, headers, sharedKey, options), TypeError)
  }
  const key = await createTestKey()
  const signed = await signForTest({ sharedKey: KEY, signingKeys: key })
  for (const publicKeys of [[], 'whpk_', 'whsec_abc', ['whpk_AAAA']]) {
    const options = { publicKeys: publicKeys as never }
    await assert.rejects(verify(signed.body, signed.headers, null, options), TypeError)
  }
})

test('a receiver takes public keys alone, fetched or given', async () => {
  const [old, fresh] = [await createTestKey('old'), await createTestKey('fresh')]
  let published = [old]
  const publicKeys = fetchPublicKeys('https://paybell.example/keys', {
    fetch: (async () =>
      Response.json({
        keys: published.map(({ kid, whpk }) => ({
          kty: 'OKP',
          crv: 'Ed25519',
          kid,
          x: Buffer.from(whpk.slice(5), 'base64').toString('base64url'),
        })),
      })) as unknown as typeof fetch,
  })
  const handled: string[] = []
  const receiver = createReceiver({ publicKeys, onPayment: ({ id }) => handled.push(id) })
  const status = async (...keys: (typeof old)[]) => {
    const { toRequest } = await signForTest({ sharedKey: 'not known there', signingKeys: keys })
    return (await receiver(toRequest())).status
  }
  assert.equal(await status(old), 200)
  published = [fresh, old]
  assert.equal(await status(fresh, old), 200, 'the old key signs beside the new one')
  assert.equal(await status(), 401)
  assert.throws(() => createReceiver({ onPayment() {} }), /sharedKey is missing/)
  const unset = { sharedKey: undefined, publicKeys, onPayment() {} }
  assert.throws(() => createReceiver(unset), /sharedKey is missing/, 'a variable that is not set')
})
