import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import {
  readPending,
  STORED_AT,
  storeClient,
  storeEndpoint,
  storePending,
} from '../../../test/support/stored-deliveries.ts'
import { inTransaction } from '../connection/db.ts'
import { markRetried, retryDeliveries, retryDeliveriesOf } from './retries.ts'

const { pool } = await cloneDatabase()
const NOW = new Date(STORED_AT.getTime() + 3_600_000)
const LATER = new Date(NOW.getTime() + 6 * 3_600_000)
const { clientKey, accountId } = await storeClient(pool)

async function timesOf(ids: readonly string[]): Promise<(number | null)[]> {
  const rows = new Map((await readPending(pool)).map((row) => [row.id, row.next_attempt_at]))
  return ids.map((id) => rows.get(id)?.getTime() ?? null)
}

const tried = { attempts: 3, run_attempts: 3, next_attempt_at: LATER }

test('an endpoint is retried at once, but for what is parked', async () => {
  const endpoint = await storeEndpoint(pool, clientKey, { accountId })
  const stored = [
    tried,
    // Its time has come, and an attempt may be under way.
    { ...tried, next_attempt_at: STORED_AT },
    // Waits for an older update.
    { sequence: 2, next_attempt_at: LATER },
    // Its first attempt may be under way.
    { next_attempt_at: STORED_AT },
    { next_attempt_at: null },
    // A replay that has just been asked for: its first attempt may be under way, too.
    { is_replay: true, next_attempt_at: STORED_AT },
  ]
  const ids: string[] = []
  for (const columns of stored) ids.push((await storePending(pool, endpoint, columns)).id)
  const done = await retryDeliveriesOf(pool, clientKey, endpoint.endpointId, null, NOW)
  assert.deepEqual(done, { owed: 6, passedOver: 0 })
  const now = NOW.getTime()
  assert.deepEqual(await timesOf(ids), [now, now, now, now, null, now])
})

test('a row that another transaction is writing is passed over, and counted', async () => {
  const endpoint = await storeEndpoint(pool, clientKey, { accountId })
  const { id } = await storePending(pool, endpoint, tried)
  await inTransaction(pool, async (db) => {
    await db.query('select from pending_deliveries where id = $1 for update', [id])
    const done = await retryDeliveriesOf(pool, clientKey, endpoint.endpointId, null, NOW)
    assert.deepEqual(done, { owed: 1, passedOver: 1 })
    const key = { clientKey, id, endpointId: endpoint.endpointId }
    assert.deepEqual(await retryDeliveries(pool, [key], NOW, { isWaiting: false }), [])
  })
  assert.deepEqual(await timesOf([id]), [LATER.getTime()])
})

test('a replay is retried alone, and no replay with the updates of its payment', async () => {
  const endpoint = await storeEndpoint(pool, clientKey, { accountId })
  const { id, paymentId } = await storePending(pool, endpoint, tried)
  const columns = { ...tried, payment_id: paymentId, is_replay: true }
  const replay = await storePending(pool, endpoint, columns)
  const retry = (deliveryId: string) => {
    const key = { clientKey, id: deliveryId, endpointId: endpoint.endpointId }
    return retryDeliveries(pool, [key], NOW, { isWaiting: true })
  }
  assert.deepEqual(
    (await retry(replay.id)).map((moved) => moved.id),
    [replay.id],
  )
  assert.deepEqual(await timesOf([id]), [LATER.getTime()])
  assert.deepEqual(
    (await retry(id)).map((moved) => moved.id),
    [id],
  )
})

test('only endpoints that are active are marked, and those that are down are to be probed', async () => {
  const active = await storeEndpoint(pool, clientKey, { accountId })
  const paused = await storeEndpoint(pool, clientKey, { accountId, status: 'PAUSED' })
  for (const { endpointId } of [active, paused]) {
    await pool.query(
      `insert into endpoint_health (client_key, endpoint_id, circuit, next_probe_at)
       values ($1, $2, 'OPEN', $3)`,
      [clientKey, endpointId, LATER],
    )
  }
  const marked = await inTransaction(pool, (db) => markRetried(db, [active, paused, active], NOW))
  assert.deepEqual(marked, [active])
  const { rows } = await pool.query(
    `select h.circuit, h.next_probe_at, e.retried_at, e.deliveries_changed_at
     from endpoint_health h join endpoints e on e.id = h.endpoint_id
     where e.id in ($1, $2) order by h.circuit`,
    [active.endpointId, paused.endpointId],
  )
  assert.deepEqual(rows, [
    { circuit: 'HALF_OPEN', next_probe_at: NOW, retried_at: NOW, deliveries_changed_at: NOW },
    { circuit: 'OPEN', next_probe_at: LATER, retried_at: null, deliveries_changed_at: null },
  ])
})
