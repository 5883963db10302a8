// A PgBouncer as it comes between the service and its database: in session mode everything works, in
// transaction mode the start says why nothing would.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createClient } from '../../server/store/connection/db.ts'
import { checkDatabase } from '../../server/store/schema/check-database.ts'
import { findPooling } from '../../server/store/schema/pooler.ts'
import { cloneDatabase } from '../support/database.ts'
import { startPaybell } from '../support/paybell.ts'
import { sampleBody } from '../support/payment-sample.ts'
import { findPgBouncer, startPgBouncer } from '../support/pgbouncer.ts'
import { startReceiver } from '../support/receiver.ts'

const BINARY = findPgBouncer()
const skip = BINARY ? false : 'PgBouncer is not installed here'

async function open(url: string) {
  const client = createClient(url, 'paybell test')
  await client.connect()
  return client
}

test('regression: through PgBouncer in session mode, as it comes: registered, fed, delivered', {
  skip,
}, async (t) => {
  const database = await cloneDatabase()
  const url = await startPgBouncer(t, BINARY as string, {
    databaseUrl: database.url,
    mode: 'session',
  })
  assert.ok(Array.isArray(await checkDatabase(url)))
  const receiver = await startReceiver(t)
  const paybell = await startPaybell(t, { database: { ...database, url } })
  await paybell.caller.register(receiver.url(), 'key')
  const id = randomUUID()
  const body = sampleBody({ id, version: undefined })
  assert.equal((await paybell.caller.putPayment(id, body)).status, 201)
  await receiver.hasSeen(({ accepted }) => accepted.length === 1)
  // What is written by SQL is learnt of by a wake-up, which needs a connection of its own.
  await database.pool.query('select paybell.record_payment($1, $2)', [
    paybell.accountId,
    sampleBody({ id, version: undefined, reference: 'by SQL' }).toString(),
  ])
  await receiver.hasSeen(({ accepted }) => accepted.length === 2)
  const { rows } = await paybell.app.deps.pool.query('show jit')
  assert.deepEqual(rows, [{ jit: 'off' }])
  // Before the way to its database goes.
  await paybell.stop()
})

test('transaction mode is refused at the start, with what to change', { skip }, async (t) => {
  const { url: databaseUrl } = await cloneDatabase()
  const options = { databaseUrl, mode: 'transaction' } as const
  const url = await startPgBouncer(t, BINARY as string, options)
  await assert.rejects(checkDatabase(url), /shares connections .*set pool_mode = session/)
})

test('the check knows a pooler from a server, and one that shares from one that does not', {
  skip,
}, async (t) => {
  const { url: databaseUrl } = await cloneDatabase()
  for (const [url, expected] of [
    [databaseUrl, 'none'],
    [await startPgBouncer(t, BINARY as string, { databaseUrl, mode: 'session' }), 'session'],
    [
      await startPgBouncer(t, BINARY as string, { databaseUrl, mode: 'transaction' }),
      'transaction',
    ],
  ] as const) {
    const client = await open(url)
    assert.equal(await findPooling(client, () => open(url)), expected)
    await client.end()
  }
})
