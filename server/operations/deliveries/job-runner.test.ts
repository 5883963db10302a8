// What a bulk job does with deliveries that it cannot change now: those of an inactive endpoint are passed over, and
// those that another transaction is writing are tried again.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { serveHttp } from '../../../test/support/injected-server.ts'
import {
  readPending,
  type StoredEndpoint,
  setStatus,
  storeClient,
  storeEndpoint,
  storePending,
} from '../../../test/support/stored-deliveries.ts'
import { until } from '../../../test/support/until.ts'
import { parseDeliveryFilter } from '../../core/asking/delivery-filter.ts'
import { inTransaction } from '../../store/connection/db.ts'
import { findJob } from '../../store/history/jobs.ts'
import { NO_AUDIT } from '../shared/audit-trail.ts'
import { changeDeliveries } from './change-deliveries.ts'

const { pool } = await cloneDatabase()
const server = await serveHttp({ after }, pool)
const { clientKey } = await storeClient(pool)
const LATER = new Date(server.clock.nowMs() + 3_600_000)

const act = (kind: 'retry' | 'cancel', filter: object, onSelected = NO_AUDIT) =>
  changeDeliveries(server.deps, kind, parseDeliveryFilter(filter), onSelected)

const store = (endpoint: StoredEndpoint) =>
  storePending(pool, endpoint, { next_attempt_at: LATER, attempts: 1 })

test('a retry of all ends although an endpoint was paused after it began, and leaves what that is owed alone', async () => {
  const active = await storeEndpoint(pool, clientKey)
  const paused = await storeEndpoint(pool, clientKey)
  const moved = await store(active)
  const kept = await store(paused)
  const { jobId, count } = await act('retry', {}, () => setStatus(pool, paused, 'PAUSED'))
  const job = await until('it is done', async () => {
    const found = await findJob(pool, jobId)
    return found?.state === 'DONE' && found
  })
  assert.deepEqual([count, job.total, job.passedOver], [1, 2, 1])
  const due = new Map((await readPending(pool)).map((row) => [row.id, row.next_attempt_at]))
  assert.deepEqual(due.get(kept.id), LATER)
  assert.notDeepEqual(due.get(moved.id), LATER)
  await act('cancel', {})
})

test('a delivery that another transaction writes is cancelled when that has ended', async () => {
  const endpoint = await storeEndpoint(pool, clientKey)
  const { id } = await store(endpoint)
  const other = await store(endpoint)
  const started = await inTransaction(pool, async (db) => {
    await db.query('select from pending_deliveries where id = $1 for update', [id])
    const job = act('cancel', { endpointId: endpoint.endpointId })
    await until('the other one is cancelled', async () => {
      const left = await readPending(pool)
      return left.length === 1 && !left.some((row) => row.id === other.id)
    })
    return { job }
  })
  assert.equal((await started.job).count, 2)
  assert.deepEqual(await readPending(pool), [])
})
