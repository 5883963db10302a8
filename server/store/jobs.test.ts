// Jobs in the store: how far they are, and when they are given up.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test from 'node:test'
import { cloneDatabase } from '../../test/support/database.ts'
import { findJob, insertJob, noteFailure, readItems, settleItems } from './jobs.ts'

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
