import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { insertSecret, readCredentials, SECRETS_MAX } from './client-secrets.ts'
import { insertClient, saveClientChange } from './clients.ts'

const { pool } = await cloneDatabase()
const NOW = new Date('2026-03-02T12:00:00Z')
const DUMMY = { digest: Buffer.alloc(32), masterKeyId: '00000000' }

async function storeClientWith(secrets: number) {
  const id = randomUUID()
  const { clientKey } = await insertClient(pool, { id, name: 'Test' }, NOW)
  const digests: Buffer[] = []
  for (let at = 0; at < secrets; at++) {
    const digest = randomBytes(32)
    const createdAt = new Date(NOW.getTime() + at)
    await insertSecret(
      pool,
      clientKey,
      { id: randomUUID(), digest, masterKeyId: 'abcd0123' },
      createdAt,
    )
    digests.push(digest)
  }
  return { id, clientKey, digests }
}

test('A1: credentials come in the order asked for, an unknown client’s in the same shape', async () => {
  const [none, one, two] = [
    await storeClientWith(0),
    await storeClientWith(1),
    await storeClientWith(2),
  ]
  await saveClientChange(pool, one.id, { status: 'DISABLED', credentials: null })
  const stranger = randomUUID()
  const ids = [two.id, stranger, one.id, none.id, two.id]
  const found = await readCredentials(pool, ids, DUMMY)
  assert.deepEqual(
    found.map(({ clientKey, status }) => [clientKey, status]),
    [
      [two.clientKey, 'ACTIVE'],
      [-1, 'DISABLED'],
      [one.clientKey, 'DISABLED'],
      [none.clientKey, 'ACTIVE'],
      [two.clientKey, 'ACTIVE'],
    ],
  )
  const { digest } = DUMMY
  assert.deepEqual(
    found.map(({ secrets }) => secrets.map((secret) => secret.digest)),
    [two.digests, [digest, digest], [...one.digests, digest], [digest, digest], two.digests],
  )
  for (const { secrets } of found) assert.equal(secrets.length, SECRETS_MAX)
})
