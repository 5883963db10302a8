import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { beforeEach, test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { idOf } from '../../../test/support/engine-parts.ts'
import {
  readPending,
  STORED_AT,
  type StoredEndpoint,
  storeClient,
  storeEndpoint,
  storePending,
} from '../../../test/support/stored-deliveries.ts'
import { NIL_UUID } from '../../core/plain/uuid.ts'
import { readDue, readStrands, releaseDeliveriesOf } from './deliveries.ts'

const HOUR_MS = 3_600_000
const { pool } = await cloneDatabase()
let endpoint: StoredEndpoint

beforeEach(async () => {
  // Not truncate, which makes new files for every index of every day.
  await pool.query('delete from pending_deliveries; delete from final_deliveries')
  const client = await storeClient(pool)
  endpoint = await storeEndpoint(pool, client.clientKey)
})

const at = (ms: number) => new Date(STORED_AT.getTime() + ms)

test('due work is read shard by shard, by due time and id, forward from each cursor', async () => {
  const other = await storeEndpoint(pool, endpoint.clientKey, { shard: 9 })
  for (const [n, ms] of [
    [4, 20],
    [3, 10],
    [2, 10],
    [1, 30],
  ] as const) {
    await storePending(pool, endpoint, { id: idOf(n), next_attempt_at: at(ms) })
    await storePending(pool, other, { id: idOf(n + 10), next_attempt_at: at(ms) })
  }
  await storePending(pool, endpoint, { id: idOf(8), next_attempt_at: null })
  const read = async (afterMs: number, afterId: string, untilMs: number, limit: number) =>
    (
      await readDue(
        pool,
        [
          { shard: 7, afterMs: at(afterMs).getTime(), afterId },
          { shard: 9, afterMs: at(25).getTime(), afterId: NIL_UUID },
        ],
        at(untilMs).getTime(),
        limit,
      )
    ).map(({ id }) => id)
  assert.deepEqual(await read(0, NIL_UUID, 100, 3), [2, 3, 4, 11].map(idOf))
  assert.deepEqual(await read(10, idOf(2), 100, 3), [3, 4, 1, 11].map(idOf))
  assert.deepEqual(await read(10, NIL_UUID, 20, 10), [2, 3, 4].map(idOf))
  assert.deepEqual(await readDue(pool, [], 0, 10), [])
})

test('a row comes back as the engine holds it', async () => {
  const times = { first_attempt_at: at(1), first_failed_at: at(2), deadline_at: at(3) }
  const { id, paymentId } = await storePending(pool, endpoint, {
    ...times,
    sequence: 4,
    attempts: 6,
    run_attempts: 5,
    is_replay: true,
  })
  const [row] = await readDue(pool, [{ shard: 7, afterMs: 0, afterId: NIL_UUID }], Date.now(), 10)
  const { eventId, ...rest } = row ?? assert.fail()
  assert.ok(eventId)
  assert.deepEqual(rest, {
    clientKey: endpoint.clientKey,
    id,
    endpointId: endpoint.endpointId,
    paymentId,
    sequence: 4,
    kind: 'payment.created',
    shard: 7,
    nextAttemptAtMs: STORED_AT.getTime(),
    attempts: 6,
    runAttempts: 5,
    firstAttemptAtMs: at(1).getTime(),
    firstFailedAtMs: at(2).getTime(),
    deadlineAtMs: at(3).getTime(),
    isReplay: true,
    documentMode: null,
  })
})

test('a strand is read whole, in sequence, parked rows too, replays not', async () => {
  const payment_id = randomUUID()
  for (const sequence of [3, 1, 2]) {
    const next_attempt_at = sequence === 2 ? null : STORED_AT
    await storePending(pool, endpoint, { payment_id, sequence, next_attempt_at })
  }
  await storePending(pool, endpoint, { payment_id, sequence: 4, is_replay: true })
  await storePending(pool, endpoint)
  const key = { ...endpoint, paymentId: payment_id }
  const strand = await readStrands(pool, [key], 100)
  assert.deepEqual(
    strand.map(({ sequence, nextAttemptAtMs }) => [sequence, nextAttemptAtMs]),
    [
      [1, STORED_AT.getTime()],
      [2, Number.POSITIVE_INFINITY],
      [3, STORED_AT.getTime()],
    ],
  )
  const short = await readStrands(pool, [key, { ...key, paymentId: randomUUID() }], 2)
  assert.equal(short.length, 2)
  const foreign = { ...key, clientKey: key.clientKey + 1_000 }
  assert.deepEqual(await readStrands(pool, [foreign], 100), [])
  assert.deepEqual(await readStrands(pool, [], 100), [])
})

test('regression: of a strand too long to be read whole, those that decide its order are read too', async () => {
  const payment_id = randomUUID()
  const key = { ...endpoint, paymentId: payment_id }
  const begun = { first_attempt_at: STORED_AT, deadline_at: at(1_000) }
  const attempted = { attempts: 1, run_attempts: 1, first_failed_at: STORED_AT, ...begun }
  const store = (sequences: number[], columns = {}) =>
    Promise.all(
      sequences.map((sequence) =>
        storePending(pool, endpoint, { payment_id, sequence, ...columns }),
      ),
    )
  const read = async (limit: number) =>
    (await readStrands(pool, [key], limit)).map(({ sequence }) => sequence)
  await store([1, 2, 3], attempted)
  await store([6, 7, 8, 9])
  assert.deepEqual(await read(2), [1, 2, 3, 6], 'the newest attempted one, and what comes after it')
  await store([4, 5], attempted)
  assert.deepEqual(await read(2), [1, 2, 5, 6])
  assert.deepEqual(await read(5), [1, 2, 3, 4, 5, 6, 7, 8, 9])
  assert.deepEqual(await read(6), [1, 2, 3, 4, 5, 6], 'the one after it is among the first')
  assert.deepEqual(await read(100), [1, 2, 3, 4, 5, 6, 7, 8, 9])
  await pool.query(
    `update pending_deliveries set attempts = 0, run_attempts = 0, first_attempt_at = null,
       deadline_at = null where sequence > 1`,
  )
  assert.deepEqual(await read(2), [1, 2])
  await pool.query(
    `update pending_deliveries set first_attempt_at = $1, deadline_at = $1 where sequence = 6`,
    [STORED_AT],
  )
  assert.deepEqual(await read(2), [1, 2, 6, 7], 'one that went ahead, and was not recorded')
})

test('I4: a pause is added to the 7 days and to the patience, from when it began for each', async () => {
  const pausedAt = at(10 * HOUR_MS)
  const resumedAt = at(30 * HOUR_MS)
  const before = await storePending(pool, endpoint, {
    first_attempt_at: at(0),
    first_failed_at: at(0),
    deadline_at: at(168 * HOUR_MS),
  })
  // Attempts that were in flight when the pause began: their run is younger than the pause.
  const during = await storePending(pool, endpoint, {
    first_attempt_at: at(12 * HOUR_MS),
    first_failed_at: at(13 * HOUR_MS),
    deadline_at: at(180 * HOUR_MS),
  })
  const never = await storePending(pool, endpoint)
  await releaseDeliveriesOf(pool, endpoint.clientKey, endpoint.endpointId, pausedAt, resumedAt)
  const rows = new Map((await readPending(pool)).map((row) => [row.id, row]))
  assert.deepEqual(rows.get(before.id)?.deadline_at, at(188 * HOUR_MS))
  assert.deepEqual(rows.get(before.id)?.first_failed_at, at(20 * HOUR_MS))
  assert.deepEqual(rows.get(during.id)?.deadline_at, at(198 * HOUR_MS))
  assert.deepEqual(rows.get(during.id)?.first_failed_at, at(30 * HOUR_MS))
  assert.equal(rows.get(never.id)?.deadline_at, null)
})

test('a clock that went back between pause and resumption takes nothing away', async () => {
  const { id } = await storePending(pool, endpoint, {
    first_attempt_at: at(0),
    first_failed_at: at(0),
    deadline_at: at(168 * HOUR_MS),
  })
  await releaseDeliveriesOf(pool, endpoint.clientKey, endpoint.endpointId, at(2_000), at(1_000))
  const [row] = await readPending(pool)
  assert.equal(row?.id, id)
  assert.deepEqual(row?.deadline_at, at(168 * HOUR_MS))
  assert.deepEqual(row?.first_failed_at, at(0))
})
