// The dashboard and the alert rules in deploy/ speak of metrics: each name and each label has to be one
// that the running service really shows. And every alert has its section in the runbook.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { readMadeAt } from '../support/database.ts'
import { issue } from '../support/issue-certificate.ts'
import { type Paybell, startPaybell, untilAllAre } from '../support/paybell.ts'
import { startReceiver } from '../support/receiver.ts'
import { routeConfig, startRoute } from '../support/two-cells.ts'
import { labelNames, parseMetrics, type Series } from './scrape.ts'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

/** Labels that Prometheus adds by itself. */
const ADDED = ['instance', 'job']
const METRIC = /\b((?:paybell|http_server|nodejs|process)_\w+)(?:\{([^}]*)\})?/g

interface Expression {
  where: string
  text: string
}

function alertExpressions(): readonly Expression[] {
  const text = read('deploy/prometheus/alerts.yml')
  const rules = text.split(/^ {6}- alert: /m).slice(1)
  return rules.map((rule) => {
    const name = /^\w+/.exec(rule)?.[0] as string
    const one = /^ {8}expr: (?!\|)(.+)$/m.exec(rule)?.[1]
    const many = /^ {8}expr: \|\n((?: {10}.*\n)+)/m.exec(rule)?.[1]
    return { where: name, text: (one ?? many ?? '').replaceAll(/\s+/g, ' ').trim() }
  })
}

interface Panel {
  title: string
  targets?: { expr: string; legendFormat: string }[]
}

function dashboardExpressions(): readonly Expression[] {
  const { panels } = JSON.parse(read('deploy/grafana/dashboard.json')) as { panels: Panel[] }
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr, legendFormat }) => {
      // What a legend names must be among the labels too.
      const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map((match) => match[1])
      return { where: title, text: shown.length > 0 ? `${expr} by (${shown.join(', ')})` : expr }
    }),
  )
}

describe('deploy/', () => {
  const owner: (() => unknown)[] = []
  const t = { after: (task: () => unknown) => void owner.push(task) }
  let paybell: Paybell
  let scrape: () => Promise<string>
  let series: readonly Series[]
  let seriesOfRoute: readonly Series[]

  before(async () => {
    const receiver = await startReceiver(t)
    let refusals = 1
    receiver.answer = () => (refusals-- > 0 ? 503 : 200)
    // A broker that is never there: its metrics are.
    const env = { PAYBELL_NATS_URL: 'nats://127.0.0.1:9', PAYBELL_KAFKA_BROKERS: '127.0.0.1:9' }
    paybell = await startPaybell(t, {
      env: { ...env, PAYBELL_TIME_SCALE: '1000', PAYBELL_CELL: '0' },
    })
    await paybell.caller.register(receiver.url(), 'a key')
    await paybell.caller.pay()
    await untilAllAre(paybell.pool, ['DELIVERED'])
    await importCertificate()
    scrape = async () => (await fetch(`${paybell.baseUrl}/metrics`)).text()
    series = parseMetrics(await scrape())
    const { baseUrl, operatorKey } = paybell
    const route = await startRoute(t, routeConfig({ 0: baseUrl }, operatorKey))
    const headers = { authorization: `Bearer ${operatorKey}` }
    const shown = await fetch(`${route.baseUrl}/metrics`, { headers })
    seriesOfRoute = parseMetrics(await shown.text())
  })

  async function importCertificate() {
    const own = issue({ subject: 'CN=paybell', purposes: ['client'] })
    const certificate = { name: 'pix', certificatePem: own.pem, privateKeyPem: own.keyPem }
    const made = await paybell.caller.operate('POST', '/client-certificates', certificate)
    assert.equal(made.status, 201)
  }

  after(async () => {
    for (const task of owner.toReversed()) await task()
  })

  const expressions = [...alertExpressions(), ...dashboardExpressions()]

  test('there is something to hold to the code', () => {
    assert.ok(alertExpressions().length >= 10)
    assert.ok(dashboardExpressions().length >= 20)
    for (const { where, text } of expressions) assert.notEqual(text.search(METRIC), -1, where)
  })

  test('regression: every sum is one of a cell, so that a healthy cell hides none that is down', () => {
    for (const { where, text } of expressions) {
      const sums = [...text.matchAll(/\b(?:sum|max|min|avg|count|group)\b *(?:by \(([^)]*)\))?/g)]
      for (const [, by = ''] of sums) assert.match(by, /^cell\b/, `${where}: ${text}`)
    }
  })

  test('every metric and every label exists', () => {
    const known = labelNames([...series, ...seriesOfRoute])
    const wrong: string[] = []
    for (const { where, text } of expressions) {
      const used: string[] = []
      for (const [, name, selector = ''] of text.matchAll(METRIC)) {
        if (!known.has(name as string)) wrong.push(`${where}: no metric ${name}`)
        used.push(name as string)
        for (const [, label] of selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)) {
          if (!known.get(name as string)?.has(label as string)) {
            wrong.push(`${where}: ${name} has no label ${label}`)
          }
        }
      }
      for (const [, list] of text.matchAll(/\bby \(([^)]*)\)/g)) {
        for (const label of (list as string).split(',').map((one) => one.trim())) {
          const isThere = ADDED.includes(label) || used.some((name) => known.get(name)?.has(label))
          if (!isThere) wrong.push(`${where}: no label ${label} in ${used.join(', ')}`)
        }
      }
    }
    assert.deepEqual(wrong, [])
  })

  test('the names that the interface promises are all there', () => {
    const names = new Set(series.map(({ name }) => name))
    for (const name of [
      'paybell_delivery_attempts_total',
      'paybell_delivery_attempt_duration_seconds_bucket',
      'paybell_delivery_end_to_end_seconds_bucket',
      'paybell_delivery_oldest_due_age_seconds',
      'paybell_deliveries',
      'paybell_deliveries_pending',
      'paybell_deliveries_exhausted_total',
      'paybell_deliveries_created_total',
      'paybell_accept_batch_size_bucket',
      'paybell_deliveries_in_flight',
      'paybell_webhooks',
      'paybell_client_certificate_expiry_seconds',
      'paybell_tokens_issued_total',
      'paybell_worker_last_heartbeat_timestamp_seconds',
      'paybell_db_pool_connections',
      'paybell_build_info',
      'http_server_request_duration_seconds_bucket',
      'nodejs_eventloop_lag_p99_seconds',
      'paybell_event_loop_utilization_ratio',
    ]) {
      assert.ok(names.has(name), name)
    }
  })

  test('the figures are those of what happened', async () => {
    const value = (name: string, labels: Record<string, string> = {}) =>
      series.find(
        (one) =>
          one.name === name &&
          Object.entries(labels).every(([label, text]) => one.labels[label] === text),
      )?.value
    const attempts = 'paybell_delivery_attempts_total'
    assert.equal(value(attempts, { outcome: 'success', status_class: '2xx' }), 1)
    assert.equal(value(attempts, { outcome: 'http_error', status_class: '5xx' }), 1)
    assert.equal(value('paybell_delivery_attempt_duration_seconds_count'), 2)
    assert.equal(value('paybell_delivery_end_to_end_seconds_count'), 1)
    assert.equal(value('paybell_deliveries_created_total'), 1)
    assert.equal(value('paybell_events_accepted_total', { event: 'payment.created' }), 1)
    assert.equal(value('paybell_accept_batch_size_count'), 1)
    assert.equal(value('paybell_tokens_issued_total', { result: 'issued' }), 1)
    assert.equal(value('paybell_webhooks', { status: 'ACTIVE' }), 1)
    const expiry = value('paybell_client_certificate_expiry_seconds', { name: 'pix' }) as number
    assert.ok(Math.abs(expiry / 86_400 - 365) < 1, `${expiry}`)
    assert.equal(value('paybell_shards_held'), 64)
    const heartbeat = value('paybell_worker_last_heartbeat_timestamp_seconds') as number
    assert.ok(Math.abs(heartbeat - Date.now() / 1_000) < 30)
    // They were made for seven days when the tests began, which may have been yesterday.
    const dayOf = (ms: number) => Math.floor(ms / 86_400_000)
    const daysSince = dayOf(heartbeat * 1_000) - dayOf((await readMadeAt(paybell.pool)).getTime())
    assert.equal(value('paybell_partitions_ahead_days'), 7 - daysSince)
    for (const table of ['events', 'final_deliveries', 'earlier_attempts', 'audit']) {
      assert.equal(value('paybell_default_partition_rows', { table }), 0)
    }
    assert.equal(value('paybell_ready'), 1)
    assert.equal(value('paybell_delivery_oldest_due_age_seconds'), 0)
    assert.equal(
      value('http_server_request_duration_seconds_count', {
        http_request_method: 'PUT',
        http_route: '/operator/v1/payments/:id',
        http_response_status_code: '201',
      }),
      1,
    )
  })

  test('no label carries an id or an address', () => {
    for (const { name, labels } of series) {
      for (const text of Object.values(labels)) {
        assert.doesNotMatch(text, /[0-9a-f]{8}-[0-9a-f]{4}-|\/\/|127\.0/, name)
      }
    }
  })

  test('every alert has a section in the runbook, and the runbook speaks of no other', () => {
    const sections = [...read('docs/operations.md').matchAll(/^### (Paybell\w+)$/gm)]
    assert.deepEqual(
      sections.map((match) => match[1]),
      alertExpressions().map(({ where }) => where),
    )
  })
})
