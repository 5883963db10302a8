// Jobs in the store: how far they are, and when they are given up.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import {
  idAt,
  setStatus,
  storeClient,
  storeEndpoint,
  storePending,
} from '../../../test/support/stored-deliveries.ts'
import { countJobEndpoints, countJobOutcome, nameEndpoints } from './job-deliveries.ts'
import {
  deleteOldJobs,
  findJob,
  findLeftJobs,
  holdJob,
  insertJob,
  noteFailure,
  readItems,
  settleItems,
} from './jobs.ts'

const { pool } = await cloneDatabase()
const NOW = new Date('2026-03-02T09:30:00Z')
const FAILURES_MAX = 5

/** A running job of so many items; no foreign key binds them to deliveries. */
async function addJob(total: number): Promise<string> {
  const id = randomUUID()
  const hold = { runner: randomUUID(), until: NOW, now: NOW }
  await insertJob(pool, { id, kind: 'cancel', total }, hold)
  for (let place = 0; place < total; place++) {
    await pool.query(
      `insert into job_items (job_id, place, client_key, delivery_id, endpoint_id)
       values ($1, $2, 1, $3, $4)`,
      [id, place, randomUUID(), randomUUID()],
    )
  }
  return id
}

async function fail(jobId: string, times: number): Promise<boolean> {
  let isGivenUp = false
  for (let time = 0; time < times; time++) {
    isGivenUp = await noteFailure(pool, jobId, FAILURES_MAX, NOW)
  }
  return isGivenUp
}

test('a job is given up after so many failures in a row, and its items leave', async () => {
  const jobId = await addJob(2)
  assert.equal(await fail(jobId, FAILURES_MAX - 1), false)
  assert.equal(await fail(jobId, 1), true)
  assert.equal((await findJob(pool, jobId))?.state, 'FAILED')
  assert.deepEqual((await readItems(pool, jobId, 0, 10)).items, [])
})

test('regression: failures with progress between them are not in a row', async () => {
  const jobId = await addJob(3)
  assert.equal(await fail(jobId, FAILURES_MAX - 1), false)
  const { items } = await readItems(pool, jobId, 0, 1)
  await settleItems(pool, jobId, items, 0)
  assert.equal(await fail(jobId, FAILURES_MAX - 1), false)
  assert.equal((await findJob(pool, jobId))?.state, 'RUNNING')
  assert.equal((await readItems(pool, jobId, 0, 10)).items.length, 2)
  assert.equal(await fail(jobId, 1), true)
})

test('a job tells how its deliveries stand: on their way, held up, or ended since it began', async () => {
  const { clientKey, accountId } = await storeClient(pool)
  const [open, paused] = [
    await storeEndpoint(pool, clientKey),
    await storeEndpoint(pool, clientKey),
  ]
  await setStatus(pool, paused, 'PAUSED')
  const jobId = randomUUID()
  const tried = { attempts: 3, run_attempts: 1, first_attempt_at: NOW, deadline_at: NOW }
  const ids = [
    (await storePending(pool, open, { id: idAt(NOW) })).id,
    (await storePending(pool, open, { id: idAt(NOW), ...tried })).id,
    (await storePending(pool, paused, { id: idAt(NOW) })).id,
  ]
  const end = async (state: string, minutes: number) => {
    const id = idAt(NOW)
    const isDelivered = state === 'DELIVERED'
    await pool.query(
      `insert into final_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id,
         sequence, kind, created_at, state, attempts, finished_at, last_outcome, last_status,
         attempted_at, duration_ms)
       values ($1, $2, $2, $3, $2, $4, 1, 'payment.due', $5, $6, 1, $7, 'answered', $8, $9, $10)`,
      [
        ...[clientKey, id, open.endpointId, accountId, NOW, state],
        new Date(NOW.getTime() + minutes * 60_000),
        isDelivered ? 200 : 500,
        isDelivered ? NOW : null,
        isDelivered ? 5 : null,
      ],
    )
    ids.push(id)
  }
  await end('DELIVERED', 1)
  await end('DELIVERED', 2)
  await end('EXHAUSTED', 3)
  await end('EXHAUSTED', -3)
  for (const id of ids) {
    await pool.query('insert into job_deliveries values ($1, $2, $3, $4)', [
      ...[jobId, id, clientKey],
      id === ids[2] ? paused.endpointId : open.endpointId,
    ])
  }
  assert.deepEqual(await countJobOutcome(pool, jobId, NOW), {
    queued: 1,
    waiting: 2,
    ended: { DELIVERED: 2, EXHAUSTED: 1 },
  })
  const counts = (await countJobEndpoints(pool, jobId)).toSorted((a, b) => b.count - a.count)
  const named = await nameEndpoints(pool, counts)
  assert.deepEqual(
    named.map(({ endpointId, status, count, clientName }) => [
      endpointId,
      status,
      count,
      clientName,
    ]),
    [
      [open.endpointId, 'ACTIVE', 6, 'Test'],
      [paused.endpointId, 'PAUSED', 1, 'Test'],
    ],
  )
})

test('with an old job goes the list of what it was about', async () => {
  const jobId = randomUUID()
  const hold = { runner: randomUUID(), until: NOW, now: NOW }
  await insertJob(pool, { id: jobId, kind: 'replay', total: 0 }, hold)
  await pool.query('insert into job_deliveries values ($1, $1, 1, $1)', [jobId])
  await deleteOldJobs(pool, NOW)
  assert.notEqual(await findJob(pool, jobId), null)
  await deleteOldJobs(pool, new Date(NOW.getTime() + 1))
  assert.equal(await findJob(pool, jobId), null)
  const { rows } = await pool.query('select from job_deliveries where job_id = $1', [jobId])
  assert.equal(rows.length, 0)
})

test('regression: a job that was held by a clock that was ahead is free again within two holds, not when that time has come', async () => {
  const jobId = randomUUID()
  const at = (ms: number) => new Date(NOW.getTime() + ms)
  const dead = { runner: randomUUID(), until: at(3_600_000 + 5_000), now: at(3_600_000) }
  await insertJob(pool, { id: jobId, kind: 'cancel', total: 1 }, dead)
  const holdAt = (ms: number) => ({ runner: randomUUID(), until: at(ms + 5_000), now: at(ms) })
  assert.equal((await holdJob(pool, jobId, holdAt(0)))?.id, jobId)
  // That hold is an ordinary one: until it is over, also by a clock that is a little behind.
  for (const ms of [-2_000, 0, 4_999]) assert.equal(await holdJob(pool, jobId, holdAt(ms)), null)
  const found = async (ms: number) => (await findLeftJobs(pool, holdAt(ms), 100)).includes(jobId)
  assert.deepEqual(
    [await found(0), await found(5_001), await found(-3_600_000)],
    [false, true, true],
  )
})
