import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { cloneDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { startTcpProxy } from '../../../test/support/database-proxy.ts'
import { until } from '../../../test/support/paybell.ts'
import {
  type ConsumerLeaseOptions,
  readConsumerLeases,
  takeConsumerLease,
  takeSources,
} from './consumer-lease.ts'

const TURN = { id: -1, former: -1 }
const ANOTHER = { id: -2, former: -2 }
/** However busy the machine is, its beat comes in time. */
const TIMING = { beatEveryMs: 50, heldMs: 60_000, silentMs: 90_000 }

let database: TestDatabase
before(async () => {
  database = await cloneDatabase()
})

const take = (options: Partial<ConsumerLeaseOptions> = {}) =>
  takeConsumerLease({
    url: database.url,
    source: 'test',
    lock: TURN,
    cautiousMs: () => performance.now(),
    onLost: () => assert.fail('not lost'),
    timing: TIMING,
    ...options,
  })

test('one has the right at a time, keeps it by its beat, and gives it back', async () => {
  const timing = { beatEveryMs: 50, heldMs: 3_600, silentMs: 4_000 }
  const held = (await take({ timing })) ?? assert.fail()
  assert.equal(await take(), null)
  const another = (await take({ lock: ANOTHER, source: 'other' })) ?? assert.fail()
  await another.release()
  const began = performance.now()
  await until('longer than a silence has passed', () => performance.now() - began > timing.silentMs)
  assert.ok(held.isHeld())
  assert.equal(await take(), null)
  await held.release()
  assert.ok(!held.isHeld())
  const again = (await take()) ?? assert.fail()
  assert.equal((await readConsumerLeases(database.pool, ['test'])).get('test'), again.id)
  await again.release()
})

test('one that loses the connection loses the right, and is told once', async () => {
  let lost = 0
  const dead = (await take({ onLost: () => lost++ })) ?? assert.fail()
  await database.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = 'paybell turn'`,
  )
  await until('it is lost', () => lost > 0)
  assert.ok(!dead.isHeld())
  const held = await until('another has it', () => take())
  await held.release()
  assert.equal(lost, 1)
})

test('regression: one that is cut off without a word is replaced, and had stopped before by its own clock', async (t) => {
  const proxy = await startTcpProxy(t, database.url)
  let lost = 0
  const timing = { beatEveryMs: 50, heldMs: 900, silentMs: 1_000 }
  const cutOff = (await take({ url: proxy.url, onLost: () => lost++, timing })) ?? assert.fail()
  proxy.isSilent = true
  const next = await until('another has it', () => take())
  assert.ok(!cutOff.isHeld(), 'it had stopped before')
  assert.equal((await readConsumerLeases(database.pool, ['test'])).get('test'), next.id)
  await until('it is told', () => lost === 1)
  await cutOff.release()
  await next.release()
})

test('regression: one whose clock has run on without a beat no longer counts on its right', async () => {
  let aheadMs = 0
  const held = (await take({ cautiousMs: () => performance.now() + aheadMs })) ?? assert.fail()
  assert.ok(held.isHeld())
  aheadMs = TIMING.heldMs
  assert.ok(!held.isHeld(), 'frozen, and awake again: before its next beat is answered')
  await until('a beat was answered', () => held.isHeld())
  await held.release()
})

test('a database that is away is an error, not a right', async () => {
  await assert.rejects(take({ url: 'postgres://nobody@127.0.0.1:9/none' }))
})

test('sources are taken together, from whoever had them, and the others stay', async () => {
  const { pool } = database
  const names = ['kafka:t/1', 'kafka:t/0', 'kafka:t/2']
  const former = await takeSources(pool, names)
  const latter = await takeSources(pool, ['kafka:t/2', 'kafka:t/1'])
  const leases = await readConsumerLeases(pool, [...names, 'kafka:t/3'])
  assert.deepEqual(Object.fromEntries(leases), {
    'kafka:t/0': former,
    'kafka:t/1': latter,
    'kafka:t/2': latter,
  })
})
