// Metrics: labels from short lists only, whatever is counted; cheap to count; and still there while the
// database is away.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import type { Pool } from 'pg'
import { parseMetrics, seriesOf } from '../../test/deploy/scrape.ts'
import { cloneDatabase } from '../../test/support/database.ts'
import { endsWithin } from '../../test/support/ends-within.ts'
import { OPERATOR } from '../../test/support/injected-calls.ts'
import { type assertProblem, onboard, serveHttp } from '../../test/support/injected-server.ts'
import { sized } from '../../test/support/size.ts'
import { EVENT_KINDS } from '../core/payments/payment.ts'
import { UuidMaker } from '../core/plain/uuid.ts'
import type { AttemptReport } from '../delivery/seams/environment.ts'
import { buildServer } from '../http/server.ts'
import { DatabaseGaugeReader } from './database-gauges.ts'
import type { GaugeSources } from './gauges.ts'
import { Metrics } from './metrics.ts'

const REQUESTS = sized(1_000, 10_000)

const GAUGES = {
  due: 1,
  scheduled: 2,
  paused: 3,
  oldestDueAtMs: 1_000,
  ended: { DELIVERED: 7 },
  endpoints: [
    { kind: 'webhook', status: 'ACTIVE', count: 4 },
    { kind: 'notice', status: 'ACTIVE', count: 1 },
  ],
  partitionDaysAhead: 7,
  auditSealedThroughMs: 31_000,
  defaultRows: { events: 3, final_deliveries: 0, earlier_attempts: 0, audit: 0 },
  certificateEndsMs: { 'pix-2026': 11_000, 'pix-2027': 3_661_000 },
} as const

function createMetrics(sources: Partial<GaugeSources> = {}): Metrics {
  const metrics = new Metrics('1.2.3')
  metrics.addGauges({
    engine: { inFlight: 1, inMemory: 2, shards: [1, 2, 3], awaitedShards: 61, hasSign: true },
    pool: { totalCount: 5, idleCount: 3, waitingCount: 1 },
    sources: [],
    nowMs: () => 61_000,
    database: async () => GAUGES,
    isReady: async () => true,
    untrustedKeys: async () => new Map([['webhook', 2]]),
    isMarkWrong: () => true,
    ...sources,
  })
  return metrics
}

const ids = new UuidMaker(Date.now, (count) => crypto.getRandomValues(new Uint8Array(count)))

function reportOf(changes: Partial<AttemptReport> = {}): AttemptReport {
  return {
    deliveryId: ids.next(),
    eventId: ids.next(),
    endpointId: ids.next(),
    paymentId: randomUUID(),
    kind: 'payment.paid',
    sequence: 1,
    isReplay: false,
    shard: 1,
    epoch: 1,
    attempt: 1,
    atMs: Date.now(),
    durationMs: 12,
    outcome: { kind: 'answered', status: 200 },
    state: 'DELIVERED',
    nextAttemptAtMs: null,
    ...changes,
  }
}

function readValue(text: string, name: string, labels: Record<string, string> = {}): number {
  const found = parseMetrics(text).find(
    (one) =>
      one.name === name &&
      Object.entries(labels).every(([label, value]) => one.labels[label] === value),
  )
  assert.ok(found, `${name} ${JSON.stringify(labels)}`)
  return found.value
}

describe('metrics', () => {
  test('10,000 attempts with ids of their own leave the number of series unchanged', async () => {
    const metrics = createMetrics()
    const statuses = [200, 204, 301, 404, 503]
    for (const status of statuses) {
      metrics.countAttempt(reportOf({ outcome: { kind: 'answered', status } }))
    }
    const before = seriesOf(await metrics.text())
    for (let n = 0; n < 10_000; n++) {
      const status = statuses[n % statuses.length] as number
      metrics.countAttempt(reportOf({ outcome: { kind: 'answered', status } }))
    }
    const text = await metrics.text()
    assert.deepEqual(seriesOf(text), before)
    assert.equal(readValue(text, 'paybell_delivery_attempt_duration_seconds_count'), 10_005)
  })

  test(`${REQUESTS} requests for unknown ids and addresses add no series`, async (t) => {
    const { pool } = await cloneDatabase()
    const server = await serveHttp(t, pool)
    const client = await onboard(server)
    const metrics = createMetrics()
    const onAnswered = metrics.countRequest.bind(metrics)
    const app = await buildServer({ ...server.deps, onAnswered })
    t.after(() => app.close())
    const ask = [
      (id: string) => ({ url: `/v1/webhooks/${id}`, headers: client.bearer }),
      (id: string) => ({ url: '/v1/webhooks/list', headers: { ...client.bearer, accountid: id } }),
      (id: string) => ({
        url: `/operator/v1/payments/${id}`,
        headers: OPERATOR,
      }),
      (id: string) => ({ url: `/nowhere/${id}?key=${id}`, headers: {} }),
    ]
    const send = async (n: number) =>
      app.inject({ method: 'GET', ...ask[n % ask.length]?.(randomUUID()) })
    for (let n = 0; n < ask.length; n++) await send(n)
    assertProblemStatus(await send(0), 404)
    const before = seriesOf(await metrics.text())
    for (let n = 0; n < REQUESTS; n += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, index) => send(n + index)))
    }
    const text = await metrics.text()
    assert.deepEqual(seriesOf(text), before)
    assert.doesNotMatch(text, /nowhere|[0-9a-f]{8}-[0-9a-f]{4}-/)
    assert.equal(
      readValue(text, 'http_server_request_duration_seconds_count', { http_route: '' }),
      REQUESTS / 4 + 1,
    )
  })

  test('a method that a caller makes up is one of the others', async () => {
    const metrics = createMetrics()
    for (let n = 0; n < 1_000; n++) {
      metrics.countRequest({ method: `M${n}`, route: null, status: 404, seconds: 0.001 })
    }
    const text = await metrics.text()
    const labels = { http_request_method: '_OTHER' }
    assert.equal(readValue(text, 'http_server_request_duration_seconds_count', labels), 1_000)
    assert.doesNotMatch(text, /M17/)
  })

  test('outcomes that no answer gave have a word each', async () => {
    const metrics = createMetrics()
    metrics.countAttempt(
      reportOf({ outcome: { kind: 'unreachable', reason: 'tls-error' }, state: 'PENDING' }),
    )
    metrics.countAttempt(
      reportOf({ outcome: { kind: 'blocked', reason: 'blocked-address' }, state: 'EXHAUSTED' }),
    )
    metrics.countExhausted(3)
    const text = await metrics.text()
    const attempts = 'paybell_delivery_attempts_total'
    assert.equal(readValue(text, attempts, { outcome: 'tls_error', status_class: 'none' }), 1)
    assert.equal(readValue(text, attempts, { outcome: 'blocked_address' }), 1)
    assert.equal(readValue(text, 'paybell_deliveries_exhausted_total'), 4)
    assert.equal(readValue(text, 'paybell_deliveries_ended_total', { state: 'EXHAUSTED' }), 1)
  })

  test('end to end counts from the event to its acknowledgement, and leaves replays out', async () => {
    const metrics = createMetrics()
    const eventId = new UuidMaker(
      () => 1_000_000,
      () => Buffer.alloc(4_096),
    ).next()
    metrics.countAttempt(reportOf({ eventId, atMs: 1_002_000, durationMs: 500 }))
    metrics.countAttempt(reportOf({ eventId, atMs: 9_002_000, isReplay: true }))
    const text = await metrics.text()
    assert.equal(readValue(text, 'paybell_delivery_end_to_end_seconds_count'), 1)
    assert.equal(readValue(text, 'paybell_delivery_end_to_end_seconds_sum'), 2.5)
    const bucket = 'paybell_delivery_end_to_end_seconds_bucket'
    assert.equal(readValue(text, bucket, { le: '1' }), 0)
    assert.equal(readValue(text, bucket, { le: '2.5' }), 1, 'a bound belongs to its bucket')
    assert.equal(readValue(text, bucket, { le: '+Inf' }), 1)
  })

  test('what the database tells is shown, and Paybell’s own endpoint is no webhook', async () => {
    const text = await createMetrics().text()
    assert.equal(readValue(text, 'paybell_deliveries', { state: 'PENDING' }), 6)
    assert.equal(readValue(text, 'paybell_deliveries', { state: 'DELIVERED' }), 7)
    assert.equal(readValue(text, 'paybell_deliveries_pending', { state: 'paused' }), 3)
    assert.equal(readValue(text, 'paybell_delivery_oldest_due_age_seconds'), 60)
    assert.equal(readValue(text, 'paybell_audit_unsealed_age_seconds'), 30)
    assert.equal(readValue(text, 'paybell_untrusted_keys', { keys: 'webhook' }), 2)
    assert.equal(readValue(text, 'paybell_webhooks', { status: 'ACTIVE' }), 4)
    assert.equal(readValue(text, 'paybell_default_partition_rows', { table: 'events' }), 3)
    const ends = 'paybell_client_certificate_expiry_seconds'
    assert.equal(readValue(text, ends, { name: 'pix-2026' }), -50, 'it has ended')
    assert.equal(readValue(text, ends, { name: 'pix-2027' }), 3_600)
    assert.equal(readValue(text, 'paybell_db_pool_connections', { state: 'active' }), 2)
  })

  for (const [name, answer] of [
    ['refuses', () => Promise.reject(new Error('away'))],
    ['never answers', () => new Promise(() => {})],
  ] as const) {
    test(`a database that ${name} costs its own figures and at most 2 seconds`, async () => {
      let asked = 0
      const ask = () => {
        asked++
        return answer()
      }
      const pool = { connect: ask, query: ask } as unknown as Pool
      const clock = { nowMs: () => Date.now(), monotonicMs: () => 0 }
      const reader = new DatabaseGaugeReader(pool, clock)
      const metrics = createMetrics({ database: () => reader.read(), isReady: async () => false })
      metrics.countAttempt(reportOf())
      const text = await endsWithin(2_500, () => metrics.text())
      assert.match(text, /^paybell_database_up 0$/m)
      assert.match(text, /^paybell_ready 0$/m)
      assert.match(text, /^paybell_delivery_attempts_total\{/m)
      assert.doesNotMatch(text, /^paybell_deliveries_pending\{/m)
      assert.doesNotMatch(text, /^paybell_delivery_oldest_due_age_seconds /m)
      asked = 0
      await metrics.text()
      assert.equal(asked, 0, 'not asked again at once')
    })
  }

  test('every figure of a named cell says which one it is', async () => {
    const text = await new Metrics('1.2.3', 7).text()
    const figures = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
    assert.ok(figures.length > 20)
    for (const line of figures) assert.match(line, /[{,]cell="7"[,}]/, line)
  })

  test('counting an attempt costs less than 2 % of a delivery', () => {
    const metrics = createMetrics()
    const reports = Array.from({ length: 1_000 }, () => reportOf())
    let best = Number.POSITIVE_INFINITY
    for (let round = 0; round < 300; round++) {
      const before = process.cpuUsage()
      for (const report of reports) metrics.countAttempt(report)
      const { user, system } = process.cpuUsage(before)
      best = Math.min(best, (user + system) / reports.length)
    }
    // Some 200 µs of CPU are a delivery's whole cost; counting it takes 0.6 of them.
    assert.ok(best < 4, `${best} µs`)
  })

  test('the text is what dashboards and alerts are written for, series at zero included', async () => {
    const metrics = createMetrics()
    const linesOf = async (name: string) =>
      (await metrics.text()).split('\n').filter((line) => line.includes(name))
    assert.deepEqual(await linesOf('paybell_deliveries_ended_total'), [
      '# HELP paybell_deliveries_ended_total Deliveries that an attempt has ended.',
      '# TYPE paybell_deliveries_ended_total counter',
      'paybell_deliveries_ended_total{state="DELIVERED"} 0',
      'paybell_deliveries_ended_total{state="EXHAUSTED"} 0',
    ])
    assert.deepEqual(
      (await linesOf('paybell_tokens_issued_total{')).map((line) => line.split('"')[1]),
      ['issued', 'refused', 'limited', 'invalid', 'failed'],
    )
    assert.equal((await linesOf('paybell_events_accepted_total{')).length, EVENT_KINDS.length)
    assert.deepEqual(await linesOf('paybell_deliveries_exhausted_total '), [
      '# HELP paybell_deliveries_exhausted_total Deliveries that were given up at the end of their 7 days.',
      '# TYPE paybell_deliveries_exhausted_total counter',
      'paybell_deliveries_exhausted_total 0',
    ])
    metrics.countBatch(2)
    metrics.countBatch(1_000)
    assert.deepEqual((await linesOf('paybell_accept_batch_size')).slice(1), [
      '# TYPE paybell_accept_batch_size histogram',
      ...[1, 2, 5, 10, 25, 50, 100, 250, 500].map(
        (le) => `paybell_accept_batch_size_bucket{le="${le}"} ${le < 2 ? 0 : 1}`,
      ),
      'paybell_accept_batch_size_bucket{le="+Inf"} 2',
      'paybell_accept_batch_size_sum 1002',
      'paybell_accept_batch_size_count 2',
    ])
    metrics.countAttempt(reportOf({ outcome: { kind: 'answered', status: 503 }, state: 'PENDING' }))
    assert.deepEqual((await linesOf('paybell_delivery_attempts_total')).slice(1), [
      '# TYPE paybell_delivery_attempts_total counter',
      'paybell_delivery_attempts_total{outcome="http_error",status_class="5xx"} 1',
    ])
    metrics.countRequest({ method: 'GET', route: '/v1/webhooks/:id', status: 200, seconds: 0.03 })
    const labels = 'http_request_method="GET",http_route="/v1/webhooks/:id"'
    const series = `${labels},http_response_status_code="200"`
    const requests = await linesOf('http_server_request_duration_seconds')
    assert.deepEqual(
      [requests[1], requests[4], requests[5], ...requests.slice(-2)],
      [
        '# TYPE http_server_request_duration_seconds histogram',
        `http_server_request_duration_seconds_bucket{le="0.025",${series}} 0`,
        `http_server_request_duration_seconds_bucket{le="0.05",${series}} 1`,
        `http_server_request_duration_seconds_sum{${series}} 0.03`,
        `http_server_request_duration_seconds_count{${series}} 1`,
      ],
    )
  })
})

function assertProblemStatus(answer: Parameters<typeof assertProblem>[0], status: number): void {
  assert.equal(answer.statusCode, status, answer.body)
}

test('what failed at each broker is counted, from 0 on', async () => {
  const metrics = createMetrics()
  metrics.countBrokerFailure('kafka')
  const text = await metrics.text()
  assert.match(text, /^paybell_broker_failures_total\{broker="kafka"\} 1$/m)
  assert.match(text, /^paybell_broker_failures_total\{broker="nats"\} 0$/m)
})

test('whether this process consumes is told where a broker is set, and nowhere else', async () => {
  assert.doesNotMatch(await createMetrics().text(), /paybell_nats_consuming/)
  for (const isConsuming of [true, false]) {
    const source = { broker: 'nats', isConsuming, lag: isConsuming ? 7 : 0 } as const
    const text = await createMetrics({ sources: [source] }).text()
    assert.match(text, new RegExp(`^paybell_nats_consuming ${isConsuming ? 1 : 0}$`, 'm'))
    assert.match(text, new RegExp(`^paybell_nats_lag_messages ${source.lag}$`, 'm'))
  }
})
