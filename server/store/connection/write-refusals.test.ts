import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cloneDatabase, openPool } from '../../../test/support/database.ts'
import { findWriteRefusal, probeWrite } from './write-refusals.ts'

function failure(code: string): Error {
  return Object.assign(new Error('from the database'), { code })
}

test('what keeps everything from being written is told from what one statement waited for', () => {
  assert.equal(findWriteRefusal(failure('53100')), 'the disk of the database is full')
  assert.equal(findWriteRefusal(failure('25006')), 'the database is read-only')
  for (const code of ['53200', '58030', 'XX001', '57P03', 'ECONNREFUSED']) {
    assert.equal(findWriteRefusal(failure(code)), 'the database does not take them', code)
  }
  // A payment that somebody else holds must not take the whole process out of service.
  for (const code of ['40001', '40P01', '55P03', '57014', '25P03', '25P04']) {
    assert.equal(findWriteRefusal(failure(code)), null, code)
  }
  for (const code of ['23505', '42P01', '22P02']) {
    assert.equal(findWriteRefusal(failure(code)), null, code)
  }
  assert.equal(findWriteRefusal(new Error('a mistake of ours')), null)
  assert.equal(findWriteRefusal(null), null)
})

test('the probe writes, leaves nothing behind, and can be repeated', async () => {
  const { pool } = await cloneDatabase()
  await probeWrite(pool)
  await probeWrite(pool)
  const { rowCount } = await pool.query(`select from pg_class where relname = 'write_probe'`)
  assert.equal(rowCount, 0)
})

test('the probe fails where nothing can be written', async (t) => {
  const { pool, url } = await cloneDatabase()
  const name = new URL(url).pathname.slice(1)
  await pool.query(`alter database ${name} set default_transaction_read_only = on`)
  const later = openPool(t, url)
  await assert.rejects(probeWrite(later), { code: '25006' })
})
