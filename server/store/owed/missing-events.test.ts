// Deliveries of events that an endpoint was never owed: each is made once, also by two acts at the same time.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import {
  readPending,
  STORED_AT,
  storeClient,
  storeEndpoint,
  storeEvent,
  untilWaiting,
} from '../../../test/support/stored-deliveries.ts'
import { deliveryId } from '../../core/delivery/fan-out.ts'
import { ERASED_MARK } from '../../core/payments/erasure.ts'
import { NIL_UUID } from '../../core/plain/uuid.ts'
import { inTransaction } from '../connection/db.ts'
import { cancelDeliveries } from './cancellations.ts'
import { makeMissing, readEventIds } from './missing-events.ts'

const { pool } = await cloneDatabase()

test('regression: what another act has made, and what has ended since, is not made again', async () => {
  const { clientKey } = await storeClient(pool)
  const { endpointId } = await storeEndpoint(pool, clientKey)
  const eventId = await storeEvent(pool, clientKey)
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

test('an erased event is not found, because nothing of it can be sent', async () => {
  const { clientKey } = await storeClient(pool)
  const eventId = await storeEvent(pool, clientKey)
  await storeEvent(pool, clientKey, {
    text: `{"id":"${randomUUID()}",${ERASED_MARK}2026-03-02T09:31:00Z"}`,
  })
  const around = { fromMs: STORED_AT.getTime() - 1, toMs: STORED_AT.getTime() + 1 }
  const selection = { clientKey, accountId: null, kinds: null }
  assert.deepEqual(await readEventIds(pool, selection, around, NIL_UUID, 10), [eventId])
})

test('what is made for a paused endpoint is not due', async () => {
  const { clientKey } = await storeClient(pool)
  const { endpointId } = await storeEndpoint(pool, clientKey, { status: 'PAUSED' })
  const id = deliveryId(await storeEvent(pool, clientKey), endpointId)
  const [made] = await inTransaction(pool, (db) =>
    makeMissing(db, [{ clientKey, id, endpointId }], STORED_AT, STORED_AT),
  )
  assert.equal(made?.nextAttemptAtMs, Number.POSITIVE_INFINITY)
  assert.deepEqual(
    (await readPending(pool)).map((row) => [row.id, row.next_attempt_at]),
    [[id, null]],
  )
})
