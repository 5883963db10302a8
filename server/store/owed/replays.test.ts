import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { StatedEndpoint } from '../../../test/support/stated-endpoint.ts'
import { readPending, STORED_AT } from '../../../test/support/stored-deliveries.ts'
import { inTransaction } from '../connection/db.ts'

const { pool } = await cloneDatabase()

test('regression: a delivery is replayed although its last attempt was also noted as one that ended nothing', async () => {
  const stated = await StatedEndpoint.create(pool)
  const one = await inTransaction(pool, (db) => stated.make(db, STORED_AT))
  const endedAt = new Date(STORED_AT.getTime() + 60_000)
  await stated.end(one, 'DELIVERED', endedAt)
  await pool.query(
    `insert into earlier_attempts (client_key, delivery_id, attempt, at, duration_ms, outcome, status)
     values ($1, $2, 1, $3, 5, 'answered', 200)`,
    [stated.endpoint.clientKey, one.id, endedAt],
  )
  await stated.replay(one, new Date(endedAt.getTime() + 60_000))
  const pending = await readPending(pool)
  assert.deepEqual(
    pending.map(({ id }) => id),
    [one.id],
  )
})
