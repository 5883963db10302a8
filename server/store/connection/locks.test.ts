// The locks by name: they exclude each other, those of the version before included, and a wait has an end.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Pool } from 'pg'
import { cloneDatabase } from '../../../test/support/database.ts'
import { inTransaction } from './db.ts'
import { isLockTimeout, LOCKS, takeLock, tryLock } from './locks.ts'

let pool: Pool
before(async () => {
  pool = (await cloneDatabase()).pool
})

test('a lock is one transaction’s at a time, and no other lock’s business', async () => {
  await inTransaction(pool, async (db) => {
    await takeLock(db, LOCKS.signingKeys)
    for (const [name, lock] of Object.entries(LOCKS)) {
      const isFree = await inTransaction(pool, (other) => tryLock(other, lock))
      assert.equal(isFree, name !== 'signingKeys', name)
    }
  })
  assert.ok(await inTransaction(pool, (db) => tryLock(db, LOCKS.signingKeys)))
})

test('while processes are replaced, old and new ones exclude each other', async () => {
  // What 0.1.0 does before it makes a signing key.
  await inTransaction(pool, async (old) => {
    await old.query('select pg_advisory_xact_lock(7306914)')
    assert.equal(await inTransaction(pool, (db) => tryLock(db, LOCKS.signingKeys)), false)
  })
  await inTransaction(pool, async (db) => {
    await takeLock(db, LOCKS.signingKeys)
    const { rows } = await pool.query('select pg_try_advisory_xact_lock(7306914) as taken')
    assert.equal(rows[0].taken, false)
  })
})

test('a wait for a lock has an end', async () => {
  await inTransaction(pool, async (db) => {
    await takeLock(db, LOCKS.notices)
    await assert.rejects(
      inTransaction(pool, async (other) => {
        await takeLock(other, LOCKS.notices, 20)
      }),
      isLockTimeout,
    )
  })
})
