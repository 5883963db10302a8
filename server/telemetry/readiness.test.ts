import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import type { Pool } from 'pg'
import { cloneDatabase, openPool } from '../../test/support/database.ts'
import { storeClient } from '../../test/support/stored-deliveries.ts'
import { readOnlyError } from '../store/connection/read-only.ts'
import { Sealer } from '../store/secrets/sealing.ts'
import { Readiness } from './readiness.ts'

const sealer = new Sealer([randomBytes(32)])

test('a migrated database that answers is ready', async () => {
  const { pool } = await cloneDatabase()
  assert.deepEqual(await new Readiness(pool, sealer).check(), { ready: true, reasons: [] })
})

test('a database without its tables is not', async () => {
  const { pool } = await cloneDatabase()
  await pool.query('drop table leases')
  const { ready, reasons } = await new Readiness(pool, sealer).check()
  assert.equal(ready, false)
  assert.deepEqual(reasons, ['The database has not been migrated.'])
})

test('a master key that stored secrets need and that is not configured is named, never shown', async () => {
  const { pool } = await cloneDatabase()
  const { clientKey } = await storeClient(pool)
  const gone = new Sealer([randomBytes(32)])
  const insert = () =>
    pool.query('insert into client_secrets values ($1, $2, $3, $4, now())', [
      clientKey,
      randomUUID(),
      gone.digest('secret'),
      gone.writeKeyId,
    ])
  await insert()
  const readiness = new Readiness(pool, sealer)
  const reason = `Master key ${gone.writeKeyId} is not configured, but 1 stored secrets need it.`
  assert.deepEqual((await readiness.check()).reasons, [reason])
  await insert()
  assert.deepEqual((await readiness.check()).reasons, [reason], 'asked once a minute at most')
  const both = new Readiness(pool, new Sealer([randomBytes(32)]))
  assert.equal((await both.check()).ready, false)
  assert.equal((await new Readiness(pool, gone).check()).ready, true)
})

test('A10: a database that is away is not ready, in plain words without an address', async () => {
  const { pool, drop } = await cloneDatabase()
  await drop()
  const { reasons } = await new Readiness(pool, sealer).check()
  assert.deepEqual(reasons, ['The database cannot be reached.'])
  const ofCell = await new Readiness(pool, sealer, { cell: 7 }).check()
  assert.deepEqual(ofCell.reasons, ['The database of cell 7 cannot be reached.'])
})

test('regression: a read-only database is not ready, in plain words', async (t) => {
  const { pool, url } = await cloneDatabase()
  const name = new URL(url).pathname.slice(1)
  await pool.query(`alter database ${name} set default_transaction_read_only = on`)
  const later = openPool(t, url)
  const { ready, reasons } = await new Readiness(later, sealer).check()
  assert.equal(ready, false)
  assert.deepEqual(reasons, ['The database is read-only: nothing can be written.'])
})

test('regression: a standby is not ready, and is called by its name', async () => {
  const standby = {
    query: async () => ({ rows: [{ migrated: true, isStandby: true, isReadOnly: true }] }),
  } as unknown as Pool
  const { reasons } = await new Readiness(standby, sealer).check()
  assert.deepEqual(reasons, ['The database is a standby: nothing can be written.'])
})

test('regression: a process that is about to stop is not ready, without asking anything', async () => {
  const readiness = new Readiness(answersNever(), sealer, { isDraining: () => true })
  assert.deepEqual((await readiness.check()).reasons, ['The service is stopping.'])
})

test('regression: while writes are refused a database that answers is not ready', async () => {
  const { pool } = await cloneDatabase()
  let refused: readonly string[] = ['Payment changes cannot be written.']
  const readiness = new Readiness(pool, sealer, { refusedWrites: async () => refused })
  assert.deepEqual((await readiness.check()).reasons, refused)
  refused = []
  assert.equal((await readiness.check()).ready, true)
})

function answersNever(): Pool {
  return { query: () => new Promise(() => {}) } as unknown as Pool
}

test('F6: a database that does not answer is not ready after two seconds', async (t: TestContext) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const checking = new Readiness(answersNever(), sealer).check()
  t.mock.timers.tick(2_000)
  assert.deepEqual((await checking).reasons, ['The database does not answer.'])
})

test('regression: a read-only database is called so where no connection to it is taken, or none is free', async (t) => {
  const refusing = {
    query: () => Promise.reject(readOnlyError('db.example')),
  } as unknown as Pool
  const { reasons } = await new Readiness(refusing, sealer).check()
  assert.deepEqual(reasons, ['The database is read-only: nothing can be written.'])
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const silent = { query: () => new Promise(() => {}) } as unknown as Pool
  const refusal = 'Leases cannot be written: the database is read-only.'
  const checking = new Readiness(silent, sealer, { knownRefusals: () => [refusal] }).check()
  t.mock.timers.tick(2_000)
  assert.deepEqual((await checking).reasons, [refusal])
})
