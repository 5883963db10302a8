import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '../../../server/store/connection/session.ts'
import {
  inspectServer,
  SERVER_SETTINGS,
  type ServerFacts,
} from '../../../server/store/schema/inspect-server.ts'
import { cloneDatabase } from '../../../test/support/database.ts'
import type { Check } from '../../basics/doctor-check.ts'
import { checkServer, type ServiceSize } from './server-checks.ts'

/** PostgreSQL as it comes, with a month of history. */
const STOCK: ServerFacts = {
  isReadOnly: false,
  pooling: 'none',
  lostSettings: [],
  settings: new Map([
    ['max_connections', '100'],
    ['superuser_reserved_connections', '3'],
    ['max_prepared_transactions', '0'],
    ['max_locks_per_transaction', '64'],
    ['autovacuum', 'on'],
    ['autovacuum_naptime', '1min'],
    ['max_wal_size', '1GB'],
    ['checkpoint_timeout', '5min'],
    ['wal_compression', 'off'],
  ]),
  days: 38,
}
const SIZE: ServiceSize = { connections: 16, processes: 1, retentionDays: 30 }

function check(
  name: string,
  facts: Partial<ServerFacts> = {},
  size: Partial<ServiceSize> = {},
): Check {
  const checks = [...checkServer({ ...STOCK, ...facts }, { ...SIZE, ...size })]
  return checks.find((one) => one.name === name) ?? assert.fail(name)
}

test('a stock PostgreSQL with a month of history will do', () => {
  for (const { name, status } of checkServer(STOCK, SIZE)) assert.equal(status, 'ok', name)
})

test('regression: more history than the lock table has room for is named, with what to set', () => {
  const years = { days: 3_650 }
  const check10 = check('locks', years)
  assert.equal(check10.status, 'warning')
  // 120 locks for each of 16 connections, and 3 tables a day.
  assert.match(check10.detail, /12,870 locks.*max_locks_per_transaction is 64/)
  assert.match(check10.remedy ?? '', /max_locks_per_transaction = 192 /)
  const settings = new Map(STOCK.settings).set('max_locks_per_transaction', '192')
  assert.equal(check('locks', { ...years, settings }).status, 'ok')
})

test('a year of history has room on a stock server: a list locks a few days at a time', () => {
  assert.equal(check('locks', { days: 373 }).status, 'ok')
})

test('the days that the settings ask for count before they are there', () => {
  assert.equal(check('locks', {}, { retentionDays: 3_650 }).status, 'warning')
})

test('regression: a database that takes no writes fails', () => {
  assert.equal(check('writes', { isReadOnly: true }).status, 'failed')
})

test('a pooler that shares connections fails; one that does not is reported', () => {
  assert.equal(check('sessions', { pooling: 'transaction' }).status, 'failed')
  const lost = check('sessions', { lostSettings: ['jit'] })
  assert.equal(lost.status, 'failed')
  assert.match(lost.detail, /jit/)
  assert.match(check('sessions', { pooling: 'session' }).detail, /session mode/)
})

test('connections that PostgreSQL does not have are named', () => {
  const many = check('connections', {}, { connections: 200 })
  assert.equal(many.status, 'warning')
  assert.match(many.detail, /204, PostgreSQL has 97/)
  // Three at a time, while two are replaced.
  assert.equal(check('connections', {}, { processes: 2 }).status, 'ok')
  const several = check('connections', {}, { processes: 5 })
  assert.equal(several.status, 'warning')
  assert.match(several.detail, /5 processes, .* open up to 120, PostgreSQL has 97/)
})

test('settings other than the measured ones are reported; autovacuum that is off is a warning', () => {
  assert.match(check('tuning').detail, /max_wal_size 1GB \(4GB\)/)
  const off = new Map(STOCK.settings).set('autovacuum', 'off')
  assert.equal(check('tuning', { settings: off }).status, 'warning')
})

test('a real server is asked for all of it', async () => {
  const { url } = await cloneDatabase()
  const client = createClient(url, 'paybell test')
  await client.connect()
  const facts = await inspectServer(client, url)
  await client.end()
  assert.deepEqual([...facts.settings.keys()].sort(), [...SERVER_SETTINGS].sort())
  assert.deepEqual(facts.lostSettings, [])
  assert.equal(facts.pooling, 'none')
  assert.equal(facts.isReadOnly, false)
  assert.ok(facts.days >= 8)
})
