import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { untilWaiting } from '../../../test/support/stored-deliveries.ts'
import { DAY_MS } from '../../core/delivery/backoff.ts'
import { type Db, inTransaction } from '../connection/db.ts'
import { eraseFiles } from '../removal/erasures.ts'
import { readDocument, saveDocuments, trySaveDocuments } from './documents.ts'

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

async function createdAtOf({ hash }: { hash: Buffer }): Promise<Date | undefined> {
  const { rows } = await pool.query('select created_at from documents where hash = $1', [hash])
  assert.ok(rows.length <= 1)
  return rows[0]?.created_at
}

const after = (ms: number) => new Date(NOW.getTime() + ms)

test('saved again it is stored once, and renewed after a day, so that retention leaves it', async () => {
  const saved = document(10)
  await saveDocuments(pool, [saved, saved], NOW)
  await saveDocuments(pool, [saved], after(DAY_MS - 1))
  assert.deepEqual(await createdAtOf(saved), NOW)
  await saveDocuments(pool, [saved], after(DAY_MS + 1))
  assert.deepEqual(await createdAtOf(saved), after(DAY_MS + 1))
  await saveDocuments(pool, [], NOW)
  assert.deepEqual(await trySaveDocuments(pool, [], NOW), [])
})

test('regression: a file that another transaction is saving is left out, and its neighbours are saved', async () => {
  const [free, held, other, old] = [document(10), document(10), document(10), document(10)]
  await saveDocuments(pool, [old], after(-2 * DAY_MS))
  await inTransaction(pool, async (holder) => {
    // One that is new, and one that is there and renewed.
    assert.deepEqual(await trySaveDocuments(holder, [held, old], NOW), [])
    const unsaved = await inTransaction(pool, async (db) => {
      const first = { ...held, name: 'first' }
      const second = { ...held, name: 'second' }
      const left = await trySaveDocuments(
        db,
        [free, first, { ...old, name: 'old' }, second, other],
        NOW,
      )
      const { rows } = await db.query('show lock_timeout')
      assert.deepEqual(rows, [{ lock_timeout: '0' }])
      return left as readonly { name?: string }[]
    })
    assert.deepEqual(unsaved.map(({ name }) => name).sort(), ['first', 'old', 'second'])
    assert.deepEqual(await createdAtOf(free), NOW)
    assert.deepEqual(await createdAtOf(other), NOW)
  })
  assert.deepEqual(await createdAtOf(held), NOW)
})

test('a file that was used a moment ago is waited for by nobody, whoever renews it', async () => {
  const saved = document(10)
  await saveDocuments(pool, [saved], NOW)
  await inTransaction(pool, async (holder) => {
    await holder.query('select from documents where hash = $1 for no key update', [saved.hash])
    await saveDocuments(pool, [saved], after(1_000))
    await inTransaction(pool, async (db) => {
      assert.deepEqual(await trySaveDocuments(db, [saved], after(1_000)), [])
    })
  })
})

test('regression: a file that is used at this moment is not erased, and one that is being erased is not used', async () => {
  const saved = document(10)
  await saveDocuments(pool, [saved], NOW)
  const erase = (db: Db) => eraseFiles(db, saved.clientKey, [saved.hash])
  await inTransaction(pool, async (writer) => {
    assert.deepEqual(await trySaveDocuments(writer, [saved], after(1_000)), [])
    assert.equal(await inTransaction(pool, erase), 0)
  })
  await inTransaction(pool, async (eraser) => {
    assert.equal(await erase(eraser), 1)
    const left = await inTransaction(pool, (db) => trySaveDocuments(db, [saved], after(2_000)))
    assert.deepEqual(left, [saved], 'it waits until the other has ended')
  })
  await inTransaction(pool, (db) => trySaveDocuments(db, [saved], after(3_000)))
  assert.deepEqual(await readDocument(pool, 1, saved.hash), saved.content)
})

test('regression: two that save the same files in different orders do not deadlock', async () => {
  const files = [document(10), document(10)].sort((one, other) => one.hash.compare(other.hash))
  const [first, second] = files as [(typeof files)[0], (typeof files)[0]]
  await inTransaction(pool, async (one) => {
    await saveDocuments(one, [first], NOW)
    const other = inTransaction(pool, (db) => saveDocuments(db, [second, first], NOW))
    await untilWaiting(pool, 'insert into documents')
    // Deadlocks if the other one has the second already.
    await saveDocuments(one, [second], NOW)
    void other.catch(() => {})
  })
})
