import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseMetrics } from '../../test/deploy/scrape.ts'
import type { GaugeSources } from './gauges.ts'
import { joinCounted, joinFigures } from './joined-figures.ts'
import { Metrics } from './metrics.ts'

const DATABASE = {
  due: 1,
  scheduled: 2,
  paused: 3,
  oldestDueAtMs: 1_000,
  ended: { DELIVERED: 7 },
  endpoints: [{ kind: 'webhook', status: 'ACTIVE', count: 4 }],
  partitionDaysAhead: 7,
  auditSealedThroughMs: 31_000,
  defaultRows: { events: 3, final_deliveries: 0, earlier_attempts: 0, audit: 0 },
  certificateEndsMs: {},
} as const

function processWith(requests: number, shards: number, own: Partial<GaugeSources> = {}): Metrics {
  const metrics = new Metrics('1.2.3', 7)
  metrics.addGauges({
    engine: {
      inFlight: shards,
      inMemory: 0,
      shards: Array.from({ length: shards }, (_, index) => index),
      awaitedShards: 5,
      hasSign: true,
    },
    pool: { totalCount: 4, idleCount: 1, waitingCount: 0 },
    sources: [],
    nowMs: () => 61_000,
    database: async () => DATABASE,
    isReady: async () => true,
    untrustedKeys: async () => new Map([['webhook', 2]]),
    isMarkWrong: () => true,
    ...own,
  })
  const request = { method: 'GET', route: '/livez', status: 200, seconds: 0.001 }
  for (let n = 0; n < requests; n++) metrics.countRequest(request)
  return metrics
}

/** As it comes over the channel. */
async function sent(metrics: Metrics) {
  return JSON.parse(JSON.stringify(await metrics.figures()))
}

function reader(text: string) {
  const series = parseMetrics(text)
  return (name: string, labels: Record<string, string> = {}) =>
    series.find(
      (one) =>
        one.name === name &&
        Object.entries(labels).every(([key, value]) => one.labels[key] === value),
    )?.value
}

const REQUESTS = 'http_server_request_duration_seconds_count'

test('counts are added up; each gauge is joined by what it says', async () => {
  const busy = processWith(3, 40)
  busy.heartbeat(50_000)
  const late = processWith(4, 24, {
    isReady: async () => false,
    database: async () => null,
    engine: { inFlight: 0, inMemory: 0, shards: [1], awaitedShards: 6, hasSign: false },
  })
  late.heartbeat(20_000)
  const value = reader(await joinFigures([await sent(busy), await sent(late)]))
  assert.equal(value(REQUESTS), 7)
  assert.equal(value('http_server_request_duration_seconds_bucket', { le: '+Inf' }), 7)
  assert.equal(value('paybell_shards_held'), 41)
  assert.equal(value('paybell_db_pool_connections', { state: 'active' }), 6)
  assert.equal(value('paybell_shards_awaited'), 6, 'each sees the same ones')
  assert.equal(value('paybell_worker_last_heartbeat_timestamp_seconds'), 20, 'of the most silent')
  assert.equal(value('paybell_session_sign'), 0, 'one of them has none')
  assert.equal(value('paybell_ready'), 1, 'ready when one is')
  assert.equal(value('paybell_database_up'), 0, 'one of them does not reach it')
  assert.equal(value('paybell_deliveries', { state: 'DELIVERED' }), 7, 'the same from all')
  assert.equal(value('paybell_untrusted_keys', { keys: 'webhook' }), 2)
  assert.equal(value('paybell_build_info', { version: '1.2.3', cell: '7' }), 1)
})

test('of one process they are what it says itself', async () => {
  const metrics = processWith(3, 64)
  const named = (text: string) =>
    new Set(
      parseMetrics(text)
        .map(({ name, labels }) => `${name} ${JSON.stringify(Object.entries(labels).toSorted())}`)
        // A moment, which has no sum.
        .filter((name) => !name.startsWith('process_start_time')),
    )
  const joined = named(await joinFigures([await sent(metrics)]))
  assert.deepEqual(
    [...named(await metrics.text())].filter((name) => !joined.has(name)),
    [],
  )
})

test('what was counted stays when a process is gone, and its gauges do not', async () => {
  const counted = await joinCounted([await sent(processWith(3, 40))])
  const more = await joinCounted([counted, await sent(processWith(2, 40))])
  const value = reader(await joinFigures([more, await sent(processWith(1, 64))]))
  assert.equal(value(REQUESTS), 6)
  assert.equal(value('paybell_shards_held'), 64)
})
