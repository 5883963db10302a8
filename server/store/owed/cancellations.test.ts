// Cancelling and replaying against what the engine still has to record: whatever was under way can neither
// bring a cancelled delivery back nor be taken for the outcome of a replay.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import {
  attemptRecord,
  holdShard,
  type PendingColumns,
  readFinal,
  readPending,
  STORED_AT,
  type StoredEndpoint,
  setStatus,
  storeClient,
  storeEndpoint,
  storeEvent,
  storePending,
  untilWaiting,
} from '../../../test/support/stored-deliveries.ts'
import { NIL_UUID } from '../../core/plain/uuid.ts'
import { inTransaction } from '../connection/db.ts'
import { cancelDeliveries, findStillPending } from './cancellations.ts'
import { findFinal, findPending } from './one-delivery.ts'
import { type AttemptRecord, recordOutcomes } from './outcomes.ts'
import { replayDeliveries } from './replays.ts'
import { readChangedEndpoints } from './sending-endpoints.ts'

const { pool } = await cloneDatabase()
const { clientKey } = await storeClient(pool)
const epoch = await holdShard(pool)
const NOW = new Date(STORED_AT.getTime() + 1_000)
const OWNER = { clientKey, accountId: null }

async function store(
  columns: Partial<PendingColumns> = {},
  status = 'ACTIVE',
): Promise<{ id: string; endpoint: StoredEndpoint }> {
  const endpoint = await storeEndpoint(pool, clientKey, { status })
  const { id } = await storePending(pool, endpoint, columns)
  const { rows } = await pool.query(
    `select event_id, payment_id from pending_deliveries where id = $1`,
    [id],
  )
  await storeEvent(pool, clientKey, { id: rows[0].event_id, paymentId: rows[0].payment_id })
  return { id, endpoint }
}

function cancel(id: string, endpoint: StoredEndpoint, at = NOW) {
  const key = { clientKey, id, endpointId: endpoint.endpointId }
  return inTransaction(pool, (db) => cancelDeliveries(db, [key], at, { isWaiting: true }))
}

function replay(id: string, at = NOW) {
  return inTransaction(pool, async (db) => {
    const found = await findFinal(db, OWNER, id)
    return found === null ? [] : replayDeliveries(db, [found], at)
  })
}

/** What the engine has to say of attempt number `attempt`, which began before all this. */
function record(id: string, { endpointId, shard }: StoredEndpoint, attempt: number): AttemptRecord {
  return attemptRecord({
    clientKey,
    id,
    shard,
    epoch,
    endpointId,
    paymentId: randomUUID(),
    attempt,
  })
}

async function stateOf(id: string): Promise<string> {
  const pending = (await readPending(pool)).filter((row) => row.id === id)
  const final = (await readFinal(pool)).filter((row) => row.id === id)
  assert.equal(pending.length + final.length, 1, 'in exactly one table')
  return final[0]?.state ?? 'PENDING'
}

test('what was under way when its delivery was cancelled changes nothing', async () => {
  const { id, endpoint } = await store()
  assert.equal((await cancel(id, endpoint)).length, 1)
  assert.equal((await recordOutcomes(pool, [record(id, endpoint, 1)], NOW)).ids.size, 0)
  assert.equal(await stateOf(id), 'CANCELLED')
  assert.deepEqual(await cancel(id, endpoint), [])
})

test('a statement that asks where the cell lives loses nothing where the cell has no such row', async () => {
  const { id, endpoint } = await store()
  const { rows } = await pool.query('delete from feed_origin returning *')
  try {
    await cancel(id, endpoint)
    const ended = (await readFinal(pool)).find((row) => row.id === id)
    assert.equal(ended?.state, 'CANCELLED')
  } finally {
    const names = Object.keys(rows[0])
    const places = names.map((_, index) => `$${index + 1}`)
    await pool.query(
      `insert into feed_origin (${names}) values (${places})`,
      Object.values(rows[0]),
    )
  }
})

test('nor is it taken for the outcome of a replay, before or behind it', async () => {
  for (const isEarly of [true, false]) {
    const { id, endpoint } = await store()
    await cancel(id, endpoint)
    if (isEarly) await recordOutcomes(pool, [record(id, endpoint, 1)], NOW)
    const [again] = await replay(id)
    assert.deepEqual([again?.attempts, again?.runAttempts, again?.isReplay], [1, 0, true])
    if (!isEarly) await recordOutcomes(pool, [record(id, endpoint, 1)], NOW)
    assert.equal(await stateOf(id), 'PENDING')
    // The replay's own attempt is the next number, and is recorded.
    const { ids } = await recordOutcomes(pool, [record(id, endpoint, 2)], NOW)
    assert.deepEqual([...ids], [id])
    assert.equal(await stateOf(id), 'DELIVERED')
  }
})

test('what waits for its next attempt, or was paused long ago, is not under way: no number is skipped', async () => {
  const later = { attempts: 2, run_attempts: 2, next_attempt_at: new Date(NOW.getTime() + 4_000) }
  const waiting = await store(later)
  await cancel(waiting.id, waiting.endpoint)
  assert.equal((await replay(waiting.id))[0]?.attempts, 2)

  const parked = await store({ next_attempt_at: null }, 'PAUSED')
  await cancel(parked.id, parked.endpoint, new Date(NOW.getTime() + 120_000))
  await setStatus(pool, parked.endpoint, 'ACTIVE')
  assert.equal((await replay(parked.id))[0]?.attempts, 0)
})

test('an attempt that ended behind the cancellation is counted from its record', async () => {
  const later = { attempts: 2, run_attempts: 2, next_attempt_at: new Date(NOW.getTime() + 60_000) }
  const { id, endpoint } = await store(later)
  await cancel(id, endpoint)
  await recordOutcomes(pool, [record(id, endpoint, 3)], NOW)
  assert.equal((await replay(id))[0]?.attempts, 3)
})

test('the endpoint is marked, so that its owner in another process drops what it holds', async () => {
  const { id, endpoint } = await store()
  const before = await readChangedEndpoints(pool, STORED_AT.getTime(), NIL_UUID, 1_000)
  assert.ok(!before.some(({ endpointId }) => endpointId === endpoint.endpointId))
  await cancel(id, endpoint)
  const changed = await readChangedEndpoints(pool, STORED_AT.getTime(), NIL_UUID, 1_000)
  const mine = changed.filter(({ endpointId }) => endpointId === endpoint.endpointId)
  assert.deepEqual(mine, [{ ...endpoint, retriedAtMs: 0, changedAtMs: NOW.getTime() }])
})

test('a cancellation waits for a recording that is under way, and finds that it has come too late', async () => {
  const { id, endpoint } = await store()
  const client = await pool.connect()
  try {
    await client.query('begin')
    await recordOutcomes(client, [record(id, endpoint, 1)], NOW)
    const cancelling = cancel(id, endpoint)
    await untilWaiting(pool, 'where p.client_key = k.client_key and p.id = k.id')
    await client.query('commit')
    assert.deepEqual(await cancelling, [])
  } finally {
    client.release()
  }
  assert.equal(await stateOf(id), 'DELIVERED')
})

test('in bulk nobody waits: what somebody is writing is left for another time', async () => {
  const { id, endpoint } = await store()
  const free = await store()
  const keys = [
    { clientKey, id, endpointId: endpoint.endpointId },
    { clientKey, id: free.id, endpointId: free.endpoint.endpointId },
  ]
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query('select from pending_deliveries where id = $1 for update', [id])
    const done = await inTransaction(pool, (db) =>
      cancelDeliveries(db, keys, NOW, { isWaiting: false }),
    )
    assert.deepEqual(
      done.map((one) => one.id),
      [free.id],
    )
    assert.deepEqual([...(await findStillPending(pool, keys))], [id])
    await client.query('rollback')
  } finally {
    client.release()
  }
})

test('regression: what a cancelled update held back is due, what has a time of its own keeps it', async () => {
  const endpoint = await storeEndpoint(pool, clientKey)
  const payment_id = randomUUID()
  const later = new Date(NOW.getTime() + 3_600_000)
  const tried = { attempts: 4, run_attempts: 4, next_attempt_at: later }
  const owe = (sequence: number, columns: Partial<PendingColumns>) =>
    storePending(pool, endpoint, { payment_id, sequence, ...columns })
  const first = await owe(1, tried)
  const second = await owe(2, { next_attempt_at: later })
  const parked = await owe(3, { next_attempt_at: null })
  const replayed = await owe(4, { next_attempt_at: later, is_replay: true })
  const elsewhere = await storePending(pool, await storeEndpoint(pool, clientKey), {
    payment_id,
    sequence: 2,
    next_attempt_at: later,
  })
  const timeOf = async (id: string) =>
    (await readPending(pool)).find((row) => row.id === id)?.next_attempt_at

  await cancel(first.id, endpoint)
  assert.deepEqual(await timeOf(second.id), NOW)
  assert.equal(await timeOf(parked.id), null)
  assert.deepEqual(await timeOf(replayed.id), later)
  assert.deepEqual(await timeOf(elsewhere.id), later)

  const elder = await owe(5, tried)
  const untried = await owe(6, { next_attempt_at: later })
  await cancel(untried.id, endpoint)
  assert.deepEqual(await timeOf(elder.id), later, 'nothing went ahead of it')
  const ahead = await owe(7, tried)
  await cancel(ahead.id, endpoint)
  assert.deepEqual(await timeOf(elder.id), NOW)
})

test('regression: what a job has still to come to is not let go by what it has cancelled', async () => {
  const endpoint = await storeEndpoint(pool, clientKey)
  const payment_id = randomUUID()
  const later = new Date(NOW.getTime() + 3_600_000)
  const owe = (sequence: number, columns: Partial<PendingColumns>) =>
    storePending(pool, endpoint, { payment_id, sequence, ...columns })
  const first = await owe(1, { attempts: 4, run_attempts: 4, next_attempt_at: later })
  const second = await owe(2, { next_attempt_at: later })
  const third = await owe(3, { next_attempt_at: later })
  const jobId = randomUUID()
  await pool.query(
    `insert into job_items (job_id, place, client_key, delivery_id, endpoint_id)
     values ($1, 1, $2, $3, $4)`,
    [jobId, clientKey, second.id, endpoint.endpointId],
  )
  await cancel(first.id, endpoint)
  await pool.query('delete from job_items where job_id = $1', [jobId])
  const rows = await readPending(pool)
  const timeOf = (id: string) => rows.find((row) => row.id === id)?.next_attempt_at
  assert.deepEqual([timeOf(second.id), timeOf(third.id)], [later, NOW])
})

test('several of one payment are due at once: the engine sends them in sequence', async () => {
  const endpoint = await storeEndpoint(pool, clientKey)
  const payment_id = randomUUID()
  const ids: string[] = []
  for (const sequence of [3, 1, 2]) {
    const { id } = await storePending(pool, endpoint, { payment_id, sequence })
    ids[sequence - 1] = id
    await pool.query(
      `insert into events (client_key, id, payment_id, account_id, sequence, kind, text, created_at)
       select client_key, event_id, payment_id, account_id, sequence, kind, '{}', created_at
       from pending_deliveries where id = $1`,
      [id],
    )
    await cancel(id, endpoint)
  }
  const again = await inTransaction(pool, async (db) => {
    const found = await Promise.all(ids.map((id) => findFinal(db, OWNER, id)))
    return replayDeliveries(
      db,
      found.flatMap((one) => one ?? []),
      NOW,
    )
  })
  assert.deepEqual(
    again.map(({ id, nextAttemptAtMs }) => [id, nextAttemptAtMs - NOW.getTime()]),
    ids.toSorted().map((id) => [id, 0]),
  )
})

test('nobody finds another’s, and the operator finds everybody’s', async () => {
  const { id, endpoint } = await store()
  const stranger = { clientKey: clientKey + 1, accountId: null }
  const operator = { clientKey: null, accountId: null }
  assert.equal(await findPending(pool, stranger, id), null)
  assert.equal((await findPending(pool, operator, id))?.id, id)
  await cancel(id, endpoint)
  assert.equal(await inTransaction(pool, (db) => findFinal(db, stranger, id)), null)
  assert.equal(
    await inTransaction(pool, (db) => findFinal(db, { clientKey, accountId: randomUUID() }, id)),
    null,
  )
  assert.equal(
    (await inTransaction(pool, (db) => findFinal(db, operator, id)))?.clientKey,
    clientKey,
  )
})
