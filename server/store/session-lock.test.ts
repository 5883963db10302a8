import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { cloneDatabase, type TestDatabase } from '../../test/support/database.ts'
import { until } from '../../test/support/paybell.ts'
import { holdLock } from './session-lock.ts'

const TURN = { id: -1, former: -1 }
const ANOTHER = { id: -2, former: -2 }

let database: TestDatabase
before(async () => {
  database = await cloneDatabase()
})

test('one has the turn at a time, and gives it back', async () => {
  const take = () => holdLock(database.url, TURN, () => assert.fail('not lost'))
  const held = await take()
  assert.ok(held)
  assert.equal(await take(), null)
  const another = await holdLock(database.url, ANOTHER, () => {})
  assert.ok(another)
  await another.release()
  await held.release()
  const again = await take()
  assert.ok(again)
  await again.release()
})

test('whoever loses the connection loses the turn, and is told once', async () => {
  let lost = 0
  assert.ok(await holdLock(database.url, TURN, () => lost++))
  await database.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = 'paybell turn'`,
  )
  await until('it is lost', () => lost > 0)
  const held = await until('another has it', () => holdLock(database.url, TURN, () => {}))
  await held.release()
  assert.equal(lost, 1)
})

test('a database that is away is an error, not a turn', async () => {
  await assert.rejects(holdLock('postgres://nobody@127.0.0.1:9/none', TURN, () => {}))
})
