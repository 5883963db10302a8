import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { beforeEach, test } from 'node:test'
import type { Pool } from 'pg'
import { cloneDatabase } from '../../../test/support/database.ts'
import {
  attemptRecord,
  holdShard,
  readFinal,
  readPending,
  STORED_AT,
  type StoredEndpoint,
  setStatus,
  storeClient,
  storeEndpoint,
  storePending,
  untilWaiting,
} from '../../../test/support/stored-deliveries.ts'
import { inTransaction } from '../connection/db.ts'
import { readAttempts } from '../history/delivery-details.ts'
import type { HeldDelivery } from './held-deliveries.ts'
import { renewLeases, takeLeases } from './leases.ts'
import { findFinal } from './one-delivery.ts'
import { type AttemptRecord, recordOutcomes } from './outcomes.ts'
import { replayDeliveries } from './replays.ts'
import { exhaustDeliveries, postponeDeliveries, settleInactive } from './unattempted.ts'

const NOW = new Date(STORED_AT.getTime() + 60_000)
const LATER_MS = NOW.getTime() + 5_000
const { pool } = await cloneDatabase()
let endpoint: StoredEndpoint
let epoch: number

beforeEach(async () => {
  // Not truncate, which makes new files for every index of every day.
  await pool.query(
    'delete from pending_deliveries; delete from final_deliveries; delete from earlier_attempts',
  )
  const client = await storeClient(pool)
  endpoint = await storeEndpoint(pool, client.clientKey)
  epoch = await holdShard(pool)
})

function held(id: string, changes: Partial<HeldDelivery> = {}): HeldDelivery {
  return { clientKey: endpoint.clientKey, id, shard: endpoint.shard, epoch, ...changes }
}

function record(
  of: { id: string; paymentId: string },
  changes: Partial<AttemptRecord> = {},
): AttemptRecord {
  return attemptRecord({
    ...held(of.id),
    endpointId: endpoint.endpointId,
    paymentId: of.paymentId,
    durationMs: 12.4,
    deadlineAtMs: LATER_MS,
    ...changes,
  })
}

const FAILED = {
  status: 500,
  excerpt: Buffer.from('no'),
  state: 'PENDING',
  nextAttemptAtMs: LATER_MS,
  firstFailedAtMs: STORED_AT.getTime(),
} as const

async function attemptsOf(db: Pool, id: string) {
  const { rows } = await db.query(
    'select attempt, duration_ms, outcome, status, excerpt from attempts where delivery_id = $1 order by attempt',
    [id],
  )
  return rows
}

/** Without its event a delivery cannot be replayed. */
async function storeEventOf({ id }: { id: string }): Promise<void> {
  await pool.query(
    `insert into events (client_key, id, payment_id, account_id, sequence, kind, text, created_at)
     select client_key, event_id, payment_id, account_id, sequence, kind, '{}', created_at
     from final_deliveries where id = $1`,
    [id],
  )
}

test('a 200 moves the delivery to the final ones, with its attempt', async () => {
  const delivery = await storePending(pool, endpoint)
  const recorded = await recordOutcomes(pool, [record(delivery)], NOW)
  assert.deepEqual(recorded, { ids: new Set([delivery.id]), lost: [] })
  assert.deepEqual(await readPending(pool), [])
  const [final] = await readFinal(pool)
  assert.equal(final?.state, 'DELIVERED')
  assert.equal(final?.attempts, 1)
  assert.deepEqual(final?.finished_at, NOW)
  assert.deepEqual(await attemptsOf(pool, delivery.id), [
    { attempt: 1, duration_ms: 12, outcome: 'answered', status: 200, excerpt: null },
  ])
})

test('regression: what is kept of the body of a 200 goes with its delivery, and into a replay', async () => {
  const thanks = Buffer.from('thanks\0"\\')
  const payment_id = randomUUID()
  const elder = await storePending(pool, endpoint, { payment_id })
  const [plain, talking, ahead] = [
    await storePending(pool, endpoint),
    await storePending(pool, endpoint),
    await storePending(pool, endpoint, { payment_id, sequence: 2 }),
  ]
  const excerpt = thanks
  await recordOutcomes(
    pool,
    [
      record(plain),
      record(talking, { excerpt }),
      record(ahead, { excerpt, sequence: 2, supersedes: true }),
    ],
    NOW,
  )
  const excerptsOf = async ({ id }: { id: string }) =>
    (await attemptsOf(pool, id)).map((row) => row.excerpt)
  assert.deepEqual(await excerptsOf(plain), [null])
  assert.deepEqual(await excerptsOf(talking), [thanks])
  assert.deepEqual(await excerptsOf(ahead), [thanks])
  assert.deepEqual(await excerptsOf(elder), [], 'superseded without an attempt')
  const of = {
    clientKey: endpoint.clientKey,
    id: talking.id,
    createdAt: STORED_AT,
    finishedAt: NOW,
  }
  assert.deepEqual(
    (await readAttempts(pool, of)).map((attempt) => attempt.excerpt),
    [thanks],
  )
  // Cancelled while it was under way: a row of its own.
  const gone = await storePending(pool, endpoint)
  await pool.query('delete from pending_deliveries where id = $1', [gone.id])
  await recordOutcomes(pool, [record(gone, { excerpt })], NOW)
  assert.deepEqual(await excerptsOf(gone), [thanks])
  await storeEventOf(talking)
  const owner = { clientKey: endpoint.clientKey, accountId: null }
  const again = await inTransaction(pool, async (db) => {
    const found = await findFinal(db, owner, talking.id)
    return found === null ? [] : replayDeliveries(db, [found], NOW)
  })
  assert.equal(again.length, 1)
  assert.deepEqual(await excerptsOf(talking), [thanks], 'when its row leaves the history')
})

test('a failure keeps it pending, with all that the next attempt must know', async () => {
  const delivery = await storePending(pool, endpoint)
  const recorded = await recordOutcomes(pool, [record(delivery, FAILED)], NOW)
  assert.deepEqual(recorded, { ids: new Set([delivery.id]), lost: [] })
  const [row] = await readPending(pool)
  assert.equal(row?.attempts, 1)
  assert.equal(row?.run_attempts, 1)
  assert.equal(row?.next_attempt_at?.getTime(), LATER_MS)
  assert.deepEqual(row?.first_attempt_at, STORED_AT)
  assert.deepEqual(row?.first_failed_at, STORED_AT)
  assert.equal(row?.deadline_at?.getTime(), LATER_MS)
  assert.equal(row?.last_outcome, 'answered')
  assert.equal(row?.last_status, 500)
  assert.deepEqual((await attemptsOf(pool, delivery.id))[0].excerpt, Buffer.from('no'))
})

test('I12: under an old epoch nothing changes, and no attempt is written', async () => {
  const old = await storePending(pool, endpoint)
  const stale = record(old)
  const elsewhere = await storeEndpoint(pool, endpoint.clientKey, { shard: 8 })
  const ours = await storePending(pool, elsewhere)
  const otherEpoch = await holdShard(pool, 8)
  await holdShard(pool)
  const batch = [stale, record(ours, { shard: 8, epoch: otherEpoch })]
  const { ids } = await recordOutcomes(pool, batch, NOW)
  assert.deepEqual(ids, new Set([ours.id]))
  assert.deepEqual(
    (await readPending(pool)).map(({ id, attempts }) => [id, attempts]),
    [[old.id, 0]],
  )
  assert.deepEqual(await attemptsOf(pool, old.id), [])
})

test('regression: leases that a record was made under and that are lost are named, each once', async () => {
  const [one, other] = [await storePending(pool, endpoint), await storePending(pool, endpoint)]
  const elsewhere = await storeEndpoint(pool, endpoint.clientKey, { shard: 8 })
  const ours = await storePending(pool, elsewhere)
  const otherEpoch = await holdShard(pool, 8)
  const lost = { shard: 7, epoch }
  await holdShard(pool)
  const [delivered, failed] = [record(one), record(other, FAILED)]
  for (const batch of [[delivered], [failed], [delivered, failed]]) {
    const recorded = await recordOutcomes(pool, batch, NOW)
    assert.deepEqual(recorded, { ids: new Set(), lost: [lost] })
  }
  const kept = await recordOutcomes(pool, [record(ours, { shard: 8, epoch: otherEpoch })], NOW)
  assert.deepEqual(kept, { ids: new Set([ours.id]), lost: [] })
})

test('F5: recording again after a lost answer changes nothing more', async () => {
  const [done, failing] = [await storePending(pool, endpoint), await storePending(pool, endpoint)]
  const batch = [record(done), record(failing, FAILED)]
  assert.equal((await recordOutcomes(pool, batch, NOW)).ids.size, 2)
  const before = [await readPending(pool), await readFinal(pool)]
  const again = await recordOutcomes(pool, batch, new Date(LATER_MS))
  assert.deepEqual(again, { ids: new Set(), lost: [] })
  assert.deepEqual([await readPending(pool), await readFinal(pool)], before)
  assert.equal((await attemptsOf(pool, done.id)).length, 1)
  assert.equal((await attemptsOf(pool, failing.id)).length, 1)
})

test('a delivery that was cancelled meanwhile stays cancelled; its attempt is on record', async () => {
  const delivery = await storePending(pool, endpoint)
  await pool.query('delete from pending_deliveries')
  const recorded = await recordOutcomes(pool, [record(delivery)], NOW)
  assert.deepEqual(recorded, { ids: new Set(), lost: [] }, 'the lease is ours all the same')
  assert.deepEqual(await readFinal(pool), [])
  assert.equal((await attemptsOf(pool, delivery.id)).length, 1)
})

test('an accepted update supersedes its elders in the same statement, and nothing else', async () => {
  const payment_id = randomUUID()
  const elders = [1, 2].map((sequence) => storePending(pool, endpoint, { payment_id, sequence }))
  const [first, second] = await Promise.all(elders)
  const third = await storePending(pool, endpoint, { payment_id, sequence: 3 })
  const fourth = await storePending(pool, endpoint, { payment_id, sequence: 4 })
  const other = await storePending(pool, endpoint)
  const elsewhere = await storeEndpoint(pool, endpoint.clientKey)
  const sibling = await storePending(pool, elsewhere, { payment_id })
  await recordOutcomes(pool, [record(third, { sequence: 3, supersedes: true })], NOW)
  assert.deepEqual(
    new Map((await readFinal(pool)).map(({ id, state }) => [id, state])),
    new Map([
      [first?.id, 'SUPERSEDED'],
      [second?.id, 'SUPERSEDED'],
      [third.id, 'DELIVERED'],
    ]),
  )
  assert.deepEqual(
    new Set((await readPending(pool)).map(({ id }) => id)),
    new Set([fourth.id, other.id, sibling.id]),
  )
})

test('a replay of an elder is not superseded: somebody asked for it', async () => {
  const payment_id = randomUUID()
  const replay = await storePending(pool, endpoint, { payment_id, is_replay: true })
  const second = await storePending(pool, endpoint, { payment_id, sequence: 2 })
  await recordOutcomes(pool, [record(second, { sequence: 2, supersedes: true })], NOW)
  assert.deepEqual(
    (await readPending(pool)).map(({ id }) => id),
    [replay.id],
  )
})

test('F16: a take-over passes over a recording under way, and later reads what it wrote', async () => {
  const delivery = await storePending(pool, endpoint)
  await pool.query(`update leases set owner = null`)
  const takeOver = () => takeLeases(pool, randomUUID(), 64, 1_000, new Map())
  const shards = await inTransaction(pool, async (db) => {
    await recordOutcomes(db, [record(delivery)], NOW)
    return (await takeOver()).map(({ shard }) => shard)
  })
  assert.ok(!shards.includes(7))
  assert.equal(shards.length, 63)
  assert.deepEqual(
    (await takeOver()).map((lease) => [lease.shard, lease.epoch]),
    [[7, epoch + 1]],
  )
  assert.deepEqual(await readPending(pool), [])
})

test('regression: F7, a recording that is slow does not hold up the renewal of its lease', async () => {
  const delivery = await storePending(pool, endpoint)
  const owner = { id: randomUUID(), host: 'host', version: '1' }
  await pool.query(`update leases set owner = $1 where shard = 7`, [owner.id])
  const renewal = await inTransaction(pool, async (db) => {
    await recordOutcomes(db, [record(delivery)], NOW)
    return renewLeases(pool, owner, 1_000, new Map())
  })
  assert.deepEqual(
    renewal.held.map((lease) => [lease.shard, lease.epoch]),
    [[7, epoch]],
  )
})

test('exhausting ends only what is ours and over', async () => {
  const tried = { attempts: 1, run_attempts: 1, first_attempt_at: STORED_AT }
  const over = { ...tried, deadline_at: NOW }
  const ended = await storePending(pool, endpoint, over)
  const notYet = { ...over, deadline_at: new Date(NOW.getTime() + 1) }
  const running = await storePending(pool, endpoint, notYet)
  const foreign = await storePending(pool, endpoint, over)
  await exhaustDeliveries(
    pool,
    [held(ended.id), held(running.id), held(foreign.id, { epoch: epoch - 1 })],
    NOW,
  )
  assert.deepEqual(
    (await readFinal(pool)).map(({ id, state }) => [id, state]),
    [[ended.id, 'EXHAUSTED']],
  )
  assert.equal((await readPending(pool)).length, 2)
})

test('regression: a retry of all that is owed holds for what is parked and under way, one before it does not', async () => {
  const during = new Date(STORED_AT.getTime() + 1_000)
  const cases = [
    ['during the attempt', during, during],
    ['as it began', STORED_AT, new Date(LATER_MS)],
    ['never', null, new Date(LATER_MS)],
  ] as const
  for (const [when, retriedAt, nextAttemptAt] of cases) {
    const parked = await storePending(pool, endpoint, { next_attempt_at: null })
    await pool.query('update endpoints set retried_at = $1 where id = $2', [
      retriedAt,
      endpoint.endpointId,
    ])
    await recordOutcomes(pool, [record(parked, FAILED)], NOW)
    const rows = new Map((await readPending(pool)).map((row) => [row.id, row.next_attempt_at]))
    assert.deepEqual(rows.get(parked.id), nextAttemptAt, when)
  }
})

test('postponing moves what is due, leaves what is parked or was retried, and needs the lease', async () => {
  const due = await storePending(pool, endpoint)
  const parked = await storePending(pool, endpoint, { next_attempt_at: null })
  const retried = await storePending(pool, endpoint)
  const foreign = await storePending(pool, endpoint)
  const knownAtMs = STORED_AT.getTime()
  await postponeDeliveries(pool, [
    { ...held(due.id), knownAtMs, nextAttemptAtMs: LATER_MS },
    { ...held(parked.id), knownAtMs, nextAttemptAtMs: LATER_MS },
    { ...held(retried.id), knownAtMs: knownAtMs + 1, nextAttemptAtMs: LATER_MS },
    { ...held(foreign.id, { epoch: epoch + 1 }), knownAtMs, nextAttemptAtMs: LATER_MS },
  ])
  const rows = new Map((await readPending(pool)).map((row) => [row.id, row.next_attempt_at]))
  assert.equal(rows.get(due.id)?.getTime(), LATER_MS)
  assert.equal(rows.get(parked.id), null)
  assert.deepEqual(rows.get(retried.id), STORED_AT)
  assert.deepEqual(rows.get(foreign.id), STORED_AT)
})

test('what a paused endpoint is owed waits; what a deleted one is owed ends', async () => {
  const paused = await storePending(pool, endpoint)
  const gone = await storeEndpoint(pool, endpoint.clientKey)
  const cancelled = await storePending(pool, gone)
  const active = await storeEndpoint(pool, endpoint.clientKey)
  const moving = await storePending(pool, active)
  await setStatus(pool, endpoint, 'PAUSED')
  await pool.query('update endpoints set deleted_at = $2 where id = $1', [gone.endpointId, NOW])
  const all = [paused, cancelled, moving].map(({ id }) => held(id))
  await settleInactive(pool, all, NOW)
  await settleInactive(pool, all, NOW)
  const rows = new Map((await readPending(pool)).map((row) => [row.id, row.next_attempt_at]))
  assert.deepEqual(
    rows,
    new Map(
      [
        [paused.id, null],
        [moving.id, STORED_AT],
      ].toSorted() as [string, Date | null][],
    ),
  )
  assert.deepEqual(
    (await readFinal(pool)).map(({ id, state }) => [id, state]),
    [[cancelled.id, 'CANCELLED']],
  )
})

test('settling needs the lease', async () => {
  const delivery = await storePending(pool, endpoint)
  await setStatus(pool, endpoint, 'DISABLED')
  await settleInactive(pool, [held(delivery.id, { epoch: epoch - 1 })], NOW)
  assert.deepEqual((await readPending(pool))[0]?.next_attempt_at, STORED_AT)
})

test('F20: settling that meets a resumption under way waits for it, and parks nothing', async () => {
  const delivery = await storePending(pool, endpoint)
  await setStatus(pool, endpoint, 'PAUSED')
  let settling: Promise<void> | undefined
  await inTransaction(pool, async (db) => {
    await db.query(`update endpoints set status = 'ACTIVE', inactive_since = null where id = $1`, [
      endpoint.endpointId,
    ])
    settling = settleInactive(pool, [held(delivery.id)], NOW)
    await untilWaiting(pool, 'inactive as (')
  })
  await settling
  assert.deepEqual((await readPending(pool))[0]?.next_attempt_at, STORED_AT)
})

test('F20: a resumption that meets settling under way sees what was parked', async () => {
  const delivery = await storePending(pool, endpoint)
  await setStatus(pool, endpoint, 'PAUSED')
  let resuming: Promise<void> | undefined
  await inTransaction(pool, async (db) => {
    await settleInactive(db, [held(delivery.id)], NOW)
    resuming = setStatus(pool, endpoint, 'ACTIVE')
    await untilWaiting(pool, 'update endpoints set status')
  })
  await resuming
  assert.equal((await readPending(pool))[0]?.next_attempt_at, null)
})

test('nothing to do is nothing asked', async () => {
  assert.equal((await recordOutcomes(pool, [], NOW)).ids.size, 0)
  await exhaustDeliveries(pool, [], NOW)
  await postponeDeliveries(pool, [])
  await settleInactive(pool, [], NOW)
})
