import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import {
  storeClient,
  storeEndpoint,
  storePending,
} from '../../../test/support/stored-deliveries.ts'
import { DURATION_BUCKETS } from '../../core/delivery/health.ts'
import { dropOldHistory } from '../removal/retention.ts'
import { ensurePartitions } from '../schema/partitions.ts'
import {
  deleteOldSteps,
  readAttemptSteps,
  readFinalCounts,
  readOwedPicture,
  saveAttemptSteps,
  sumUpFinalCounts,
} from './stats.ts'

const { pool } = await cloneDatabase()
const { clientKey } = await storeClient(pool)
const endpoint = await storeEndpoint(pool, clientKey)

async function end(state: string, count: number, finishedAt: Date): Promise<void> {
  await pool.query(
    `insert into final_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id,
       sequence, kind, created_at, state, attempts, finished_at, last_outcome, last_status,
       attempted_at, duration_ms)
     select $1, gen_random_uuid(), gen_random_uuid(), $2, gen_random_uuid(), gen_random_uuid(), 1,
       'payment.created', $4, $3, 1, $4, 'answered', 200,
       case $3 when 'DELIVERED' then $4::timestamptz end, case $3 when 'DELIVERED' then 5 end
     from generate_series(1, $5)`,
    [clientKey, endpoint.endpointId, state, finishedAt, count],
  )
}

test('what has ended is counted by state, exactly: added, removed, summed up and dropped', async () => {
  const now = new Date()
  const old = new Date(now.getTime() - 40 * 86_400_000)
  await ensurePartitions(pool, old)
  await end('DELIVERED', 7, now)
  await end('EXHAUSTED', 2, now)
  await end('DELIVERED', 5, old)
  const counted = async () => {
    const { PENDING: _, ...counts } = await readFinalCounts(pool)
    const { rows } = await pool.query(
      `select state, count(*)::int as count from final_deliveries group by state order by state`,
    )
    const real = Object.fromEntries(rows.map(({ state, count }) => [state, count]))
    for (const [state, count] of Object.entries(counts)) assert.equal(count, real[state] ?? 0)
    return counts
  }
  assert.deepEqual(await counted(), { DELIVERED: 12, EXHAUSTED: 2, SUPERSEDED: 0, CANCELLED: 0 })
  // A replay takes rows out.
  await pool.query(`delete from final_deliveries where state = 'EXHAUSTED'`)
  assert.equal((await counted()).EXHAUSTED, 0)
  // Statements that touch nothing leave nothing.
  await pool.query(`delete from final_deliveries where state = 'EXHAUSTED'`)
  await Promise.all([1, 2, 3].map(() => sumUpFinalCounts(pool)))
  assert.equal((await counted()).DELIVERED, 12)
  const { rows } = await pool.query('select day, state from final_counts')
  assert.equal(rows.length, 2)
  await end('CANCELLED', 1, now)
  await dropOldHistory(pool, now, 30)
  assert.deepEqual(await counted(), { DELIVERED: 7, EXHAUSTED: 0, SUPERSEDED: 0, CANCELLED: 1 })
})

test('a transaction that is rolled back has counted nothing', async () => {
  const before = await readFinalCounts(pool)
  const client = await pool.connect()
  await client.query('begin')
  await client.query(`delete from final_deliveries`)
  await client.query('rollback')
  client.release()
  assert.deepEqual(await readFinalCounts(pool), before)
})

test('what is owed: due, scheduled by when, and waiting', async () => {
  const now = Date.parse('2026-03-02T10:00:00Z')
  for (const [offset, count] of [
    [-60_000, 2],
    [30_000, 1],
    [600_000, 3],
    [null, 4],
  ] as const) {
    for (let i = 0; i < count; i++) {
      const next_attempt_at = offset === null ? null : new Date(now + offset)
      await storePending(pool, endpoint, { next_attempt_at })
    }
  }
  const bounds = [0, 60_000, 300_000].map((ms) => new Date(now + ms))
  assert.deepEqual(await readOwedPicture(pool, bounds), {
    due: 2,
    scheduled: 4,
    paused: 4,
    oldestDueAt: new Date(now - 60_000),
    byBound: [2, 1, 0, 3],
  })
})

test('steps of several processes add up; written twice, they are still right; old ones go', async () => {
  const atMs = Date.parse('2026-03-02T10:00:00Z')
  const durations = Array.from({ length: DURATION_BUCKETS }, (_, i) => (i === 4 ? 5 : 0))
  const step = { stepSeconds: 60, atMs, attempts: 5, delivered: 4, durations }
  const [one, other] = [randomUUID(), randomUUID()]
  await saveAttemptSteps(pool, one, [step])
  await saveAttemptSteps(pool, one, [step])
  await saveAttemptSteps(pool, other, [step, { ...step, atMs: atMs + 60_000 }])
  await saveAttemptSteps(pool, other, [])
  const steps = await readAttemptSteps(pool, 60, new Date(atMs))
  assert.deepEqual(
    steps.map(({ atMs, attempts, delivered, durations }) => [
      atMs,
      attempts,
      delivered,
      durations[4],
    ]),
    [
      [atMs, 10, 8, 10],
      [atMs + 60_000, 5, 4, 5],
    ],
  )
  await deleteOldSteps(pool, new Date(atMs + 200 * 60_000 + 1))
  assert.equal((await readAttemptSteps(pool, 60, new Date(atMs))).length, 1)
})
