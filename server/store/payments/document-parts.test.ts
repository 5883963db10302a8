import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { storeClient } from '../../../test/support/stored-deliveries.ts'
import { readDocumentParts, readDocumentSize, saveDocuments } from './documents.ts'

const { pool } = await cloneDatabase()
const PART_BYTES = (1024 * 1024 * 3) / 4

test('a file is read in pieces that make the whole, whatever its size', async () => {
  const { clientKey } = await storeClient(pool)
  for (const bytes of [1, 2, 3, PART_BYTES - 1, PART_BYTES, PART_BYTES + 1, 2 * PART_BYTES + 5]) {
    const file = randomBytes(bytes)
    const hash = createHash('sha256').update(file).digest()
    const content = Buffer.from(file.toString('base64'), 'latin1')
    await saveDocuments(pool, [{ clientKey, hash, content }], new Date())
    assert.equal(await readDocumentSize(pool, clientKey, hash), bytes)
    const parts = await Array.fromAsync(readDocumentParts(pool, clientKey, hash))
    assert.ok(parts.every((part) => part.length <= PART_BYTES))
    assert.ok(Buffer.concat(parts).equals(file), `${bytes} bytes`)
  }
})

test('one that is not kept has no size, and one that goes while it is read breaks off', async () => {
  const { clientKey } = await storeClient(pool)
  const hash = randomBytes(32)
  assert.equal(await readDocumentSize(pool, clientKey, hash), null)
  await assert.rejects(Array.fromAsync(readDocumentParts(pool, clientKey, hash)), /removed/)
})
