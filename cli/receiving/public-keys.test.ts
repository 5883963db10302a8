import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
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
