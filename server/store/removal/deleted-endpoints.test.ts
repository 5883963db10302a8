import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { beforeEach, test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import {
  readFinal,
  readPending,
  STORED_AT,
  type StoredEndpoint,
  storeClient,
  storeEndpoint,
  storePending,
} from '../../../test/support/stored-deliveries.ts'
import { inTransaction } from '../connection/db.ts'
import { cancelOwedAfter, FIRST_OWED, readDeletedOwed } from './deleted-endpoints.ts'

const { pool } = await cloneDatabase()
const NOW = new Date(STORED_AT.getTime() + 5)
let endpoint: StoredEndpoint

beforeEach(async () => {
  // Not truncate, which makes new files for every index of every day.
  await pool.query('delete from pending_deliveries; delete from final_deliveries')
  endpoint = await storeEndpoint(pool, (await storeClient(pool)).clientKey)
})

const markDeleted = ({ endpointId }: StoredEndpoint) =>
  pool.query('update endpoints set deleted_at = $2 where id = $1', [endpointId, NOW])

test('what a deleted endpoint is owed is cancelled, and nothing else', async () => {
  const other = await storeEndpoint(pool, endpoint.clientKey)
  const [due, parked] = [
    await storePending(pool, endpoint),
    await storePending(pool, endpoint, { next_attempt_at: null }),
  ]
  const kept = await storePending(pool, other)
  const next = await cancelOwedAfter(pool, endpoint, FIRST_OWED, NOW, { isWaiting: true })
  assert.equal(next, null)
  assert.deepEqual(
    new Set((await readFinal(pool)).map(({ id, state }) => `${id} ${state}`)),
    new Set([due, parked].map(({ id }) => `${id} CANCELLED`)),
  )
  assert.deepEqual(
    (await readPending(pool)).map(({ id }) => id),
    [kept.id],
  )
})

test('portions go on where the one before ended, in the midst of a payment too', async () => {
  const [one, other] = [randomUUID(), randomUUID()]
  for (const sequence of [1, 2, 3, 4]) {
    await storePending(pool, endpoint, { payment_id: one, sequence })
    await storePending(pool, endpoint, { payment_id: other, sequence })
  }
  const ended: number[] = []
  let position: typeof FIRST_OWED | null = FIRST_OWED
  while (position !== null) {
    const options = { isWaiting: false, limit: 3 }
    position = await cancelOwedAfter(pool, endpoint, position, NOW, options)
    ended.push((await readFinal(pool)).length)
  }
  assert.deepEqual(ended, [3, 6, 8])
  assert.deepEqual(await readPending(pool), [])
})

test('a row that another transaction writes is passed over by all portions but the first', async () => {
  const held = await storePending(pool, endpoint)
  await storePending(pool, endpoint)
  await inTransaction(pool, async (db) => {
    await db.query('select from pending_deliveries where id = $1 for update', [held.id])
    await cancelOwedAfter(pool, endpoint, FIRST_OWED, NOW, { isWaiting: false })
  })
  assert.deepEqual(
    (await readPending(pool)).map(({ id }) => id),
    [held.id],
  )
})

test('deleted endpoints that are still owed something are found, and no others', async () => {
  const [emptied, living] = [
    await storeEndpoint(pool, endpoint.clientKey),
    await storeEndpoint(pool, endpoint.clientKey),
  ]
  for (const at of [endpoint, living]) {
    await storePending(pool, at, { next_attempt_at: null })
    await storePending(pool, at)
  }
  for (const at of [endpoint, emptied]) await markDeleted(at)
  const { clientKey, endpointId } = endpoint
  assert.deepEqual(await readDeletedOwed(pool, 10), [{ clientKey, endpointId }])
})
