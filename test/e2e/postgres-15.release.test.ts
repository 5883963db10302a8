// The oldest PostgreSQL that Paybell promises to run on: the whole way of a change, on a real 15.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { dropOldHistory } from '../../server/store/removal/retention.ts'
import { checkDatabase } from '../../server/store/schema/check-database.ts'
import { cloneDatabase } from '../support/database.ts'
import { findInstalledPostgres, startInstalledPostgres } from '../support/installed-postgres.ts'
import { startPaybell } from '../support/paybell.ts'
import { sampleBody } from '../support/payment-sample.ts'
import { startReceiver } from '../support/receiver.ts'
import { makeTemplate } from '../support/test-server.ts'

const BIN = findInstalledPostgres(15)

test('on PostgreSQL 15: migrated, fed, delivered, retried, paused, resumed and deleted', {
  skip: BIN ? false : 'PostgreSQL 15 is not installed here',
}, async (t) => {
  const server = await startInstalledPostgres(BIN as string)
  assert.deepEqual(await checkDatabase(server.url), [])
  await makeTemplate(server.url)

  const receiver = await startReceiver(t)
  const database = await cloneDatabase({ server: server.url })
  const paybell = await startPaybell(t, { database })
  // Registered after the hook of startPaybell: first the service stops, then its database.
  t.after(async () => {
    await database.drop()
    await server.stop()
  })
  await paybell.caller.register(receiver.url(), 'key')
  receiver.answer = 500
  const id = randomUUID()
  const write = (changes: object) =>
    paybell.caller.putSample(id, { version: undefined, ...changes })
  assert.equal((await write({})).status, 201)
  await receiver.hasSeen(({ received }) => received.length >= 1)
  receiver.answer = 200
  await receiver.hasSeen(({ accepted }) => accepted.length === 1)

  const path = `/v1/webhooks/${await paybell.caller.webhookAt(receiver.url())}`
  assert.equal((await paybell.caller.call('PATCH', path, { status: 'PAUSED' })).status, 200)
  assert.equal((await write({ reference: 'second' })).status, 200)
  assert.equal((await write({ reference: 'third' })).status, 200)
  assert.equal((await paybell.caller.call('PATCH', path, { status: 'ACTIVE' })).status, 200)
  await receiver.hasSeen(({ accepted }) => accepted.length === 3)
  assert.deepEqual(receiver.sequences(), [1, 2, 3])
  await paybell.pool.query('select paybell.record_payment($1, $2)', [
    paybell.accountId,
    sampleBody({ id, version: undefined, reference: 'by SQL' }).toString(),
  ])
  await receiver.hasSeen(({ accepted }) => accepted.length === 4)
  assert.equal((await paybell.caller.call('DELETE', path)).status, 204)
  assert.equal((await write({ reference: 'fourth' })).status, 200)
  await dropOldHistory(paybell.pool, new Date(), 30)
})
