import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { idOf } from '../../../test/support/engine-parts.ts'
import {
  holdShard,
  readFinal,
  readPending,
  STORED_AT,
  type StoredEndpoint,
  setStatus,
  storeClient,
  storeEndpoint,
  storePending,
} from '../../../test/support/stored-deliveries.ts'
import { DAY_MS } from '../../core/delivery/backoff.ts'
import { NIL_UUID } from '../../core/plain/uuid.ts'
import {
  disableFailing,
  exhaustParked,
  parkDeliveries,
  readParked,
  readParkedLanes,
} from './parked.ts'

const NOW = new Date(STORED_AT.getTime() + 10 * DAY_MS)
const SINCE = new Date(NOW.getTime() - 7 * DAY_MS)
const { pool } = await cloneDatabase()
let endpoint: StoredEndpoint
let epoch: number

beforeEach(async () => {
  await pool.query('truncate pending_deliveries, final_deliveries, endpoint_health')
  const client = await storeClient(pool)
  endpoint = await storeEndpoint(pool, client.clientKey)
  epoch = await holdShard(pool)
})

const PARKED = { next_attempt_at: null }

test('parking takes the due time away, under our own epoch only', async () => {
  const ours = await storePending(pool, endpoint)
  const foreign = await storePending(pool, endpoint)
  const { clientKey, shard } = endpoint
  await parkDeliveries(pool, [
    { clientKey, id: ours.id, shard, epoch },
    { clientKey, id: foreign.id, shard, epoch: epoch - 1 },
  ])
  await parkDeliveries(pool, [])
  const rows = new Map((await readPending(pool)).map((row) => [row.id, row.next_attempt_at]))
  assert.equal(rows.get(ours.id), null)
  assert.deepEqual(rows.get(foreign.id), STORED_AT)
})

test('lanes with parked work are found once each, in the shards asked for, if they are active', async () => {
  const { clientKey } = endpoint
  const other = await storeClient(pool)
  const second = await storeEndpoint(pool, other.clientKey)
  const elsewhere = await storeEndpoint(pool, clientKey, { shard: 9 })
  const notAsked = await storeEndpoint(pool, clientKey, { shard: 10 })
  const paused = await storeEndpoint(pool, clientKey, { status: 'PAUSED' })
  const due = await storeEndpoint(pool, clientKey)
  for (const lane of [endpoint, endpoint, second, elsewhere, notAsked, paused]) {
    await storePending(pool, lane, PARKED)
  }
  await storePending(pool, due)
  const found = await readParkedLanes(pool, [7, 9])
  assert.equal(found.length, 3)
  assert.deepEqual(
    new Set(found.map(({ clientKey, endpointId, shard }) => `${clientKey} ${endpointId} ${shard}`)),
    new Set(
      [endpoint, second, elsewhere].map(
        ({ clientKey, endpointId, shard }) => `${clientKey} ${endpointId} ${shard}`,
      ),
    ),
  )
  assert.deepEqual(await readParkedLanes(pool, []), [])
})

test('parked deliveries are read in order of their ids, a page at a time', async () => {
  for (const n of [3, 1, 2, 5]) await storePending(pool, endpoint, { ...PARKED, id: idOf(n) })
  await storePending(pool, endpoint, { id: idOf(4) })
  const first = await readParked(pool, endpoint, NIL_UUID, 2)
  assert.deepEqual(
    first.map(({ id }) => id),
    [1, 2].map(idOf),
  )
  assert.equal(first[0]?.nextAttemptAtMs, Number.POSITIVE_INFINITY, 'it has no due time')
  const second = await readParked(pool, endpoint, idOf(2), 5)
  assert.deepEqual(
    second.map(({ id }) => id),
    [3, 5].map(idOf),
  )
})

const TRIED = { attempts: 1, run_attempts: 1, first_attempt_at: STORED_AT }
const OVER = { ...PARKED, ...TRIED, deadline_at: NOW }

test('what is parked behind an open circuit ends when its 7 days are over', async () => {
  const over = await storePending(pool, endpoint, OVER)
  await storePending(pool, endpoint, { ...OVER, deadline_at: new Date(NOW.getTime() + 1) })
  await storePending(pool, endpoint, PARKED)
  await storePending(pool, endpoint, { ...OVER, next_attempt_at: STORED_AT })
  await storePending(pool, await storeEndpoint(pool, endpoint.clientKey), OVER)
  assert.equal(await countExhausted(epoch - 1), 0)
  assert.equal(await countExhausted(epoch), 1)
  assert.deepEqual(
    (await readFinal(pool)).map(({ id, state, finished_at }) => [id, state, finished_at]),
    [[over.id, 'EXHAUSTED', NOW]],
  )
  assert.equal((await readPending(pool)).length, 4)
})

async function countExhausted(ofEpoch: number): Promise<number> {
  const whole = { afterId: NIL_UUID, limit: 100 }
  const page = await exhaustParked(pool, { ...endpoint, epoch: ofEpoch }, whole, NOW)
  assert.equal(page.afterId, null)
  return page.exhausted
}

test('what is parked ends a page at a time, however few of a page are over', async () => {
  const parked = [
    await storePending(pool, endpoint, PARKED),
    await storePending(pool, endpoint, PARKED),
    await storePending(pool, endpoint, OVER),
  ]
  const inOrder = parked.map(({ id }) => id).sort()
  const lane = { ...endpoint, epoch }
  const first = await exhaustParked(pool, lane, { afterId: NIL_UUID, limit: 2 }, NOW)
  assert.equal(first.afterId, inOrder[1])
  const rest = await exhaustParked(pool, lane, { afterId: first.afterId as string, limit: 2 }, NOW)
  assert.equal(rest.afterId, null)
  assert.equal(first.exhausted + rest.exhausted, 1)
  assert.equal((await readPending(pool)).length, 2)
})

test('regression: I4, nothing is exhausted while its endpoint is paused or disabled', async () => {
  await storePending(pool, endpoint, OVER)
  for (const status of ['PAUSED', 'DISABLED']) {
    await setStatus(pool, endpoint, status)
    assert.equal(await countExhausted(epoch), 0)
  }
  assert.equal((await readPending(pool)).length, 1)
})

async function fails(lane: StoredEndpoint, since: Date | null): Promise<void> {
  await pool.query(
    `insert into endpoint_health (client_key, endpoint_id, failing_since) values ($1, $2, $3)
     on conflict (client_key, endpoint_id) do update set failing_since = $3`,
    [lane.clientKey, lane.endpointId, since],
  )
}

async function statusOf(lane: StoredEndpoint) {
  const { rows } = await pool.query(
    'select status, inactive_since, changed_at from endpoints where id = $1',
    [lane.endpointId],
  )
  return rows[0]
}

test('an endpoint that has only failed for 7 days is disabled, once, by the owner of its shard', async () => {
  const { clientKey } = endpoint
  const recent = await storeEndpoint(pool, clientKey)
  const healthy = await storeEndpoint(pool, clientKey)
  const paused = await storeEndpoint(pool, clientKey, { status: 'PAUSED' })
  const elsewhere = await storeEndpoint(pool, clientKey, { shard: 9 })
  for (const lane of [endpoint, paused, elsewhere]) await fails(lane, STORED_AT)
  await fails(recent, SINCE)
  await fails(healthy, null)
  assert.deepEqual(await disableFailing(pool, [{ shard: 7, epoch: epoch - 1 }], SINCE, NOW), [])
  assert.deepEqual(await disableFailing(pool, [{ shard: 7, epoch }], SINCE, NOW), [endpoint])
  assert.deepEqual(await disableFailing(pool, [{ shard: 7, epoch }], SINCE, NOW), [])
  assert.deepEqual(await statusOf(endpoint), {
    status: 'DISABLED',
    inactive_since: NOW,
    changed_at: NOW,
  })
  assert.equal((await statusOf(paused)).status, 'PAUSED')
  assert.equal((await statusOf(elsewhere)).status, 'ACTIVE')
})

test('regression: F28, an endpoint that was resumed is not disabled again before it could show itself', async () => {
  await fails(endpoint, STORED_AT)
  await pool.query('update endpoints set changed_at = $2 where id = $1', [endpoint.endpointId, NOW])
  const soon = new Date(NOW.getTime() + 60_000)
  const soonSince = new Date(SINCE.getTime() + 60_000)
  assert.deepEqual(await disableFailing(pool, [{ shard: 7, epoch }], soonSince, soon), [])
  const week = new Date(NOW.getTime() + 8 * DAY_MS)
  const weekSince = new Date(NOW.getTime() + DAY_MS)
  assert.equal((await disableFailing(pool, [{ shard: 7, epoch }], weekSince, week)).length, 1)
})
