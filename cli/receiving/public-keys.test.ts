import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { callbackHeaders, HMAC_HEADER } from '../../server/core/signatures/callback-headers.ts'
import { toSigningKey } from '../../server/core/signatures/signature.ts'
import vectors from '../../test/vectors/asymmetric-signatures.json' with { type: 'json' }
import { UsageError } from '../basics/run.ts'
import { findPublicKeys } from './public-keys.ts'
import { checkSignature } from './signature.ts'

const [CURRENT, PREVIOUS, STRANGE] = vectors.keys
const [CALLBACK = assert.fail()] = vectors.callbacks

async function codes(publicKey: string, keyId = CALLBACK.keyId): Promise<readonly string[]> {
  const { findings } = checkSignature({
    headers: {
      'webhook-id': CALLBACK.webhookId,
      'webhook-timestamp': String(CALLBACK.webhookTimestamp),
      'webhook-signature': CALLBACK.webhookSignature,
      'x-paybell-key-id': keyId,
    },
    body: Buffer.from(CALLBACK.body),
    sharedKey: CALLBACK.sharedKey,
    nowMs: CALLBACK.webhookTimestamp * 1_000,
    serviceKeys: await findPublicKeys({ publicKey: [publicKey] }, keyId),
  })
  return findings.map(({ code }) => code)
}

test('regression: a receiver with the key from before a rotation is told so, and its signature holds', () => {
  const [old, current] = ['the key from before', 'the key of today']
  const body = Buffer.from('{"id":"1"}')
  const nowMs = Date.parse('2026-11-19T12:00:00Z')
  const made = callbackHeaders(
    {
      ...{
        eventId: CALLBACK.webhookId,
        kind: 'payment.paid',
        sequence: 1,
        attempt: 1,
        atMs: nowMs,
      },
      ...{ mark: null, traceparent: 'x', extraHeader: null, hmacHeaderName: HMAC_HEADER },
    },
    {
      current: toSigningKey(current),
      previous: { key: toSigningKey(old), untilMs: nowMs + 1_000 },
    },
    [body],
    null,
  )
  const headers: Record<string, string> = {}
  for (let at = 0; at < made.length; at += 2) {
    headers[(made[at] as string).toLowerCase()] = made[at + 1] as string
  }
  const check = (sharedKey: string, of = headers) =>
    checkSignature({ headers: of, body, sharedKey, nowMs })
  assert.deepEqual(check(current), { valid: true, findings: [] })
  const before = check(old)
  assert.equal(before.valid, true)
  assert.deepEqual(
    before.findings.map(({ code }) => code),
    ['previous-key'],
  )
  assert.equal(check('a key of no one').valid, false)
  assert.equal(check(old, { ...headers, 'x-paybell-hmac-previous': '00' }).valid, false)
})

test('a key that is given by hand has the id that the callback names', async () => {
  assert.deepEqual(await codes(CURRENT?.whpk as string), [])
  assert.deepEqual(await codes(STRANGE?.whpk as string), ['wrong-public-key'])
})

test('a saved webhook-keys.json tells the newest from those of before', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'paybell-keys-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'keys.json')
  const [first, second, third] = [CURRENT, PREVIOUS, STRANGE].map((key) => key?.jwk)
  writeFileSync(file, JSON.stringify({ keys: [first, second], retired: [third] }))
  const keys = await findPublicKeys({ publicKeysFile: file }, undefined)
  assert.deepEqual(
    keys?.map(({ kid, state }) => [kid, state]),
    [
      [first?.kid, 'newest'],
      [second?.kid, 'overlap'],
      [third?.kid, 'retired'],
    ],
  )
  writeFileSync(file, '{}')
  await assert.rejects(findPublicKeys({ publicKeysFile: file }, undefined), UsageError)
})

test('without keys there are none; what is no key is wrong usage', async () => {
  assert.equal(await findPublicKeys({}, undefined), undefined)
  for (const whpk of ['', 'whpk_', 'whsec_abc', `${CURRENT?.whpk}=`]) {
    await assert.rejects(findPublicKeys({ publicKey: [whpk] }, undefined), UsageError)
  }
})
