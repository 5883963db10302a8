import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import {
  holdShard,
  readPending,
  STORED_AT,
  storeClient,
  storeEndpoint,
  storePending,
} from '../../../test/support/stored-deliveries.ts'
import { NIL_UUID } from '../../core/plain/uuid.ts'
import { bringForward } from './late-due-times.ts'
import { exhaustParked, readParked } from './parked.ts'
import { beginRuns, exhaustDeliveries } from './unattempted.ts'

const { pool } = await cloneDatabase()
const client = await storeClient(pool)
const endpoint = await storeEndpoint(pool, client.clientKey)
const epoch = await holdShard(pool)
const after = (seconds: number) => new Date(STORED_AT.getTime() + seconds * 1_000)

test('regression: rows due later than their attempts explain are brought forward, under our own epoch only', async () => {
  const tried = (attempts: number) => ({
    ...{ attempts, run_attempts: attempts, first_attempt_at: STORED_AT, deadline_at: after(9_999) },
  })
  const expected = new Map<string, Date | null>()
  const store = async (columns: object, at: Date | null) => {
    const { id } = await storePending(pool, endpoint, columns)
    expected.set(id, at)
  }
  await store({ next_attempt_at: after(3_600) }, after(0))
  await store({ next_attempt_at: after(3_600), ...tried(1) }, after(10))
  await store({ next_attempt_at: after(9), ...tried(1) }, after(9))
  await store({ next_attempt_at: after(3_600), ...tried(40) }, after(30))
  await store({ next_attempt_at: after(-1) }, after(-1))
  await store({ next_attempt_at: null }, null)
  const latest = [after(0), after(10), after(30)]
  const lease = { shard: endpoint.shard, epoch }
  assert.equal(await bringForward(pool, { ...lease, epoch: epoch - 1 }, latest, 100), 0)
  assert.equal(await bringForward(pool, lease, latest, 2), 2, 'a page at a time')
  assert.equal(await bringForward(pool, lease, latest, 100), 1)
  const rows = await readPending(pool)
  assert.deepEqual(new Map(rows.map((row) => [row.id, row.next_attempt_at])), expected)
})

test('a run begins once, and not for one that is gone or held by another', async () => {
  const { id } = await storePending(pool, endpoint)
  const { shard } = endpoint
  const held = { clientKey: client.clientKey, id, shard, epoch }
  const begin = (epoch: number, from: number) =>
    beginRuns(pool, [{ ...held, epoch }], after(from), after(from + 1))
  const lost = [{ shard, epoch: epoch - 1 }]
  assert.deepEqual(await begin(epoch - 1, 1), { areBegun: false, lost })
  assert.deepEqual(await begin(epoch, 1), { areBegun: true, lost: [] })
  assert.deepEqual(await begin(epoch, 3), { areBegun: true, lost: [] }, 'the answer got lost')
  const row = (await readPending(pool)).find((each) => each.id === id)
  assert.deepEqual(
    [row?.first_attempt_at, row?.deadline_at, row?.attempts],
    [after(1), after(2), 0],
  )
  await pool.query('delete from pending_deliveries where id = $1', [id])
  assert.deepEqual(await begin(epoch, 1), { areBegun: false, lost: [] }, 'its lease is ours still')
  assert.deepEqual(await begin(epoch - 1, 1), { areBegun: false, lost })
})

test('regression: a run that has begun on disk alone does not end before its first attempt', async () => {
  const { id } = await storePending(pool, endpoint)
  const held = { clientKey: client.clientKey, id, shard: endpoint.shard, epoch }
  await beginRuns(pool, [held], after(1), after(2))
  const isThere = async () => (await readPending(pool)).some((row) => row.id === id)
  await exhaustDeliveries(pool, [held], after(3))
  assert.ok(await isThere())
  await pool.query('update pending_deliveries set next_attempt_at = null where id = $1', [id])
  const lane = { ...endpoint, epoch }
  await exhaustParked(pool, lane, { afterId: NIL_UUID, limit: 100 }, after(3))
  assert.ok(await isThere())
  const read = (await readParked(pool, lane, NIL_UUID, 100)).find((each) => each.id === id)
  assert.deepEqual([read?.firstAttemptAtMs, read?.deadlineAtMs], [after(1).getTime(), null])
  await pool.query('update pending_deliveries set attempts = 1, run_attempts = 1 where id = $1', [
    id,
  ])
  await exhaustParked(pool, lane, { afterId: NIL_UUID, limit: 100 }, after(3))
  assert.ok(!(await isThere()))
})
