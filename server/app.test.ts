// The composition when a start fails: whichever part fails, nothing of the service keeps running.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { pino } from 'pino'
import { cloneDatabase, type TestDatabase } from '../test/support/database.ts'
import { until } from '../test/support/paybell.ts'
import { startReceiver } from '../test/support/receiver.ts'
import { createApp, type PaybellApp } from './app.ts'
import { loadConfig } from './config/config.ts'

function compose(database: TestDatabase, env: Readonly<Record<string, string>> = {}): PaybellApp {
  return createApp({
    config: loadConfig('sandbox', { PORT: '0', ...env }),
    logger: pino({ level: 'silent' }),
    databaseUrl: database.url,
    masterKeys: [randomBytes(32)],
    operatorKey: 'kQ3vX9mT7wZ2rB5nY8cL4hJ6sD1fG0pA',
  })
}

/** No shard, no row among the processes, and no connection. */
async function assertGone({ pool }: TestDatabase): Promise<void> {
  const held = await pool.query('select from leases where owner is not null')
  const processes = await pool.query('select from processes')
  assert.deepEqual([held.rowCount, processes.rowCount], [0, 0])
  // A server process ends slightly after its connection.
  await until('no connection is left', async () => {
    const { rowCount } = await pool.query(
      `select from pg_stat_activity where datname = current_database()
         and application_name in ('paybell', 'paybell wake-ups', 'paybell sign')`,
    )
    return rowCount === 0
  })
}

test('regression: a port that is taken, after the engine has its shards', async (t) => {
  const database = await cloneDatabase()
  const { port } = await startReceiver(t)
  const app = compose(database, { PORT: `${port}` })
  await assert.rejects(app.start(), /is taken\. .* with PORT/)
  await assertGone(database)
  await app.stop()
})

test('regression: an operator port that is taken, after the public one was opened', async (t) => {
  const database = await cloneDatabase()
  const { port } = await startReceiver(t)
  const app = compose(database, { PAYBELL_OPERATOR_PORT: `${port}` })
  await assert.rejects(app.start(), /is taken\. .* with PAYBELL_OPERATOR_PORT/)
  await assert.rejects(fetch(`${app.baseUrl()}/livez`), 'the public port is closed again')
  await assertGone(database)
})

test('regression: a statement that fails between the engine and the doors', async () => {
  const database = await cloneDatabase()
  await database.pool.query(
    'alter table clients rename column is_internal to is_not_what_we_expect',
  )
  await assert.rejects(compose(database).start(), /is_internal/)
  await assertGone(database)
})

test('a stop during the start, and one more', async () => {
  const database = await cloneDatabase()
  const app = compose(database)
  const starting = app.start()
  await Promise.all([app.stop(), starting])
  await app.stop()
  assert.deepEqual(app.routes(), [], 'no door was opened')
  await assertGone(database)
})
