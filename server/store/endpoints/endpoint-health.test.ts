import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import {
  type StoredEndpoint,
  storeClient,
  storeEndpoint,
  storePending,
} from '../../../test/support/stored-deliveries.ts'
import { DURATION_BUCKETS, durationBucket } from '../../core/delivery/health.ts'
import { type HealthDelta, readHealth, saveHealth } from './endpoint-health.ts'

const { pool } = await cloneDatabase()
const NOON_MS = Date.parse('2026-03-02T12:00:00Z')
const HOUR_MS = 3_600_000
let endpoint: StoredEndpoint

beforeEach(async () => {
  const client = await storeClient(pool)
  endpoint = await storeEndpoint(pool, client.clientKey)
})

function delta(changes: Partial<HealthDelta> & { tookMs?: readonly number[] } = {}): HealthDelta {
  const durations = new Array<number>(DURATION_BUCKETS).fill(0)
  const { tookMs = [], ...rest } = changes
  for (const ms of tookMs) durations[durationBucket(ms)] = (durations[durationBucket(ms)] ?? 0) + 1
  return {
    clientKey: endpoint.clientKey,
    endpointId: endpoint.endpointId,
    attempts: tookMs.length,
    delivered: 0,
    durations,
    lastSuccessAtMs: null,
    lastFailureAtMs: null,
    lastError: null,
    failingSinceMs: null,
    circuit: 'CLOSED',
    nextProbeAtMs: null,
    ...rest,
  }
}

const save = (changes: Parameters<typeof delta>[0], atMs = NOON_MS) =>
  saveHealth(pool, [delta(changes)], new Date(atMs))
const read = (atMs = NOON_MS) =>
  readHealth(pool, endpoint.clientKey, endpoint.endpointId, new Date(atMs))

function failing(sinceMs: number, error = 'timeout') {
  return { failingSinceMs: sinceMs, lastFailureAtMs: sinceMs, lastError: error, tookMs: [1] }
}

function succeeding(atMs: number) {
  return { lastSuccessAtMs: atMs, delivered: 1, tookMs: [1] }
}

test('an endpoint that nothing was sent to has no health to tell', async () => {
  assert.deepEqual(await read(), {
    failingSince: null,
    lastSuccessAt: null,
    lastError: null,
    pending: 0,
    circuit: 'CLOSED',
    nextProbeAt: null,
    successRate24h: null,
    p95Ms: null,
  })
})

test('counts add up over flushes and hours, and what is older than a day does not count', async () => {
  await save({ tookMs: [10, 10, 10], delivered: 3 }, NOON_MS - 25 * HOUR_MS)
  await save({ tookMs: [100, 100], delivered: 2 }, NOON_MS - 2 * HOUR_MS)
  await save({ tookMs: [100], delivered: 1 }, NOON_MS)
  await save({ tookMs: [1_000], delivered: 0 }, NOON_MS + 60_000)
  const { successRate24h, p95Ms } = await read(NOON_MS + 60_000)
  assert.equal(successRate24h, 3 / 4)
  // The slowest of four is in the bucket from 724 to 1,024 ms; four fifths into it the share is reached.
  assert.equal(p95Ms, 964)
  const { rows } = await pool.query(
    'select attempts, durations from endpoint_hours where endpoint_id = $1 order by hour',
    [endpoint.endpointId],
  )
  assert.deepEqual(
    rows.map(({ attempts }) => attempts),
    [3, 2, 2],
  )
  assert.equal(rows[2]?.durations.length, DURATION_BUCKETS)
  assert.equal(rows[2]?.durations[durationBucket(100)], 1)
  assert.equal(rows[2]?.durations[durationBucket(1_000)], 1)
})

test('it fails since its first failure, however many flushes ago, until a success', async () => {
  await save(succeeding(1_000))
  await save({ ...failing(2_000), circuit: 'CLOSED' })
  await save({ ...failing(9_000, 'answered 503'), circuit: 'OPEN' })
  const health = await read()
  assert.equal(health.failingSince?.getTime(), 2_000)
  assert.equal(health.lastSuccessAt?.getTime(), 1_000)
  assert.equal(health.lastError, 'answered 503')
  assert.equal(health.circuit, 'OPEN')
  await save(succeeding(10_000))
  const again = await read()
  assert.equal(again.failingSince, null)
  assert.equal(again.lastError, null, 'what is over is not shown')
  assert.equal(again.circuit, 'CLOSED')
})

test('a success between failures, within one flush, starts the count anew', async () => {
  await save(failing(2_000))
  await save({ ...failing(6_000), lastSuccessAtMs: 5_000 })
  assert.equal((await read()).failingSince?.getTime(), 6_000)
})

test('regression: failures that a former owner writes after the next one’s success change nothing', async () => {
  await save({ ...failing(2_000, 'answered 503'), circuit: 'OPEN', nextProbeAtMs: 7_000 })
  await save(succeeding(9_000))
  await save({ ...failing(4_000), lastSuccessAtMs: 3_000, circuit: 'OPEN', nextProbeAtMs: 9_000 })
  const health = await read()
  assert.equal(health.failingSince, null)
  assert.equal(health.lastSuccessAt?.getTime(), 9_000)
  assert.equal(health.circuit, 'CLOSED')
  assert.equal(health.nextProbeAt, null)
  assert.equal(health.successRate24h, 1 / 3, 'they are counted all the same')
  await save(failing(9_001))
  assert.equal((await read()).failingSince?.getTime(), 9_001, 'what came after it counts')
})

test('a success of a clock that was days ahead does not hide failures', async () => {
  await save(succeeding(NOON_MS + 8 * 24 * HOUR_MS), NOON_MS + 8 * 24 * HOUR_MS)
  await save(failing(NOON_MS))
  assert.equal((await read()).failingSince?.getTime(), NOON_MS)
})

test('many endpoints are saved at once, and pending is counted as it is now', async () => {
  const other = await storeEndpoint(pool, endpoint.clientKey)
  await saveHealth(
    pool,
    [delta(succeeding(1)), delta({ ...failing(2), endpointId: other.endpointId })],
    new Date(NOON_MS),
  )
  await saveHealth(pool, [], new Date(NOON_MS))
  await storePending(pool, endpoint)
  await storePending(pool, endpoint, { next_attempt_at: null })
  assert.equal((await read()).pending, 2)
  assert.equal((await read()).successRate24h, 1)
  const second = await readHealth(pool, other.clientKey, other.endpointId, new Date(NOON_MS))
  assert.equal(second.pending, 0)
  assert.equal(second.successRate24h, 0)
})
