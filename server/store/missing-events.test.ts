// Deliveries of events that an endpoint was never owed: each is made once, also by two acts at the same time.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { cloneDatabase } from '../../test/support/database.ts'
import {
  idAt,
  readPending,
  STORED_AT,
  storeClient,
  storeEndpoint,
  untilWaiting,
} from '../../test/support/stored-deliveries.ts'
import { deliveryId } from '../core/fan-out.ts'
import { cancelDeliveries } from './cancellations.ts'
import { inTransaction } from './db.ts'
import { makeMissing } from './missing-events.ts'

const { pool } = await cloneDatabase()

test('regression: what another act has made, and what has ended since, is not made again', async () => {
  const { clientKey } = await storeClient(pool)
  const { endpointId } = await storeEndpoint(pool, clientKey)
  const eventId = idAt(STORED_AT)
  await pool.query(
    `insert into events (client_key, id, payment_id, account_id, sequence, kind, text, created_at)
     values ($1, $2, $3, $4, 1, 'payment.created', '{}', $5)`,
    [clientKey, eventId, randomUUID(), randomUUID(), STORED_AT],
  )
  const key = { clientKey, id: deliveryId(eventId, endpointId), endpointId }
  const make = () => inTransaction(pool, (db) => makeMissing(db, [key], STORED_AT, STORED_AT))
  let other: ReturnType<typeof make> | null = null
  await inTransaction(pool, async (db) => {
    assert.equal((await makeMissing(db, [key], STORED_AT, STORED_AT)).length, 1)
    other = make()
    await untilWaiting(pool, 'endpoints')
    // It ends before the other one comes to its insert.
    await cancelDeliveries(db, [key], STORED_AT, { isWaiting: true })
  })
  assert.deepEqual(await other, [])
  assert.deepEqual(await readPending(pool), [])
})
