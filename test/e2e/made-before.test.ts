// A database of the version before, brought to this one without it: its schema is the migrations of its day, its
// rows are kept as it wrote them. What it sealed is opened, and what it owed is delivered.

import assert from 'node:assert/strict'
import { createHmac, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { migrate } from '../../server/store/schema/migrate.ts'
import { Caller } from '../support/caller.ts'
import { cloneDatabase } from '../support/database.ts'
import { migrateTo } from '../support/older-schema.ts'
import { startPaybell } from '../support/paybell.ts'
import { SAMPLE } from '../support/payment-sample.ts'
import { startReceiver } from '../support/receiver.ts'
import { loadMadeBefore } from '../upgrade/made-before.ts'
import { BEFORE } from '../upgrade/version-before.ts'

const UPDATES = ['one', 'two', 'three']

test(`what ${BEFORE.version} has sealed is opened, and what it owed is delivered in order`, async (t) => {
  const database = await cloneDatabase({ template: 'template0' })
  await migrateTo(database.url, BEFORE.lastMigration)
  const before = await loadMadeBefore(database.pool)
  assert.equal(before.version, BEFORE.version, 'run node test/upgrade/keep-data.ts')
  const receiver = await startReceiver(t)
  await database.pool.query('update endpoints set url = $1', [receiver.url()])
  const id = randomUUID()
  for (const [index, reference] of UPDATES.entries()) {
    const payment = { ...SAMPLE, id, version: index + 1, document: undefined, reference }
    await database.pool.query('select record_payment($1, $2)', [
      before.client.accountId,
      JSON.stringify(payment),
    ])
  }

  await migrate(database.url, new Date())
  const masterKey = Buffer.from(before.masterKey, 'base64')
  const paybell = await startPaybell(t, { database, masterKey })
  await receiver.hasSeen(({ accepted }) => accepted.length === UPDATES.length)
  assert.deepEqual(receiver.sequences(), [1, 2, 3])
  for (const { headers, body } of receiver.accepted) {
    const hmac = createHmac('sha256', before.sharedKey).update(body).digest('hex')
    assert.equal(headers['x-paybell-hmac'], hmac)
  }
  const caller = new Caller({ ...paybell, ...before.client })
  assert.equal((await caller.get('/v1/webhooks/list')).status, 200, 'its secret is good')
  const keys = await fetch(`${paybell.baseUrl}/.well-known/jwks.json`)
  const [signingKey] = before.tables.signing_keys as { kid: string }[]
  assert.ok((await keys.text()).includes(signingKey?.kid as string))
  const { rows } = await database.pool.query('select is_derived, binding from sealing')
  const asBefore = [{ is_derived: false, binding: 'none' }]
  assert.deepEqual(rows, asBefore, 'the version before can still read it')
})
