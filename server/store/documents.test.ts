import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { cloneDatabase } from '../../test/support/database.ts'
import { readDocument, saveDocuments } from './documents.ts'

const { pool } = await cloneDatabase()
const NOW = new Date('2026-03-02T09:30:00Z')

function document(bytes: number) {
  const content = Buffer.from(randomBytes(bytes).toString('base64'))
  return { clientKey: 1, hash: randomBytes(32), content }
}

test('a file comes back as the characters that were saved, large ones too', async () => {
  for (const bytes of [1, 3_000, 4_000_000]) {
    const saved = document(bytes)
    await saveDocuments(pool, [saved], NOW)
    assert.deepEqual(await readDocument(pool, 1, saved.hash), saved.content)
  }
})

test("a file is one client's own: the same hash of another is not found", async () => {
  const saved = document(10)
  await saveDocuments(pool, [saved], NOW)
  assert.equal(await readDocument(pool, 2, saved.hash), null)
  assert.equal(await readDocument(pool, 1, randomBytes(32)), null)
})

test('saved again it is stored once, and its time is renewed, so that retention leaves it', async () => {
  const saved = document(10)
  const later = new Date(NOW.getTime() + 1_000)
  await saveDocuments(pool, [saved, saved], NOW)
  await saveDocuments(pool, [saved], later)
  const { rows } = await pool.query('select created_at from documents where hash = $1', [
    saved.hash,
  ])
  assert.deepEqual(rows, [{ created_at: later }])
  await saveDocuments(pool, [], later)
})
