// npm run measure:lists -- [deliveries] [folder with a PostgreSQL's binaries]. Fills a database with a
// month of history, a million deliveries, starts the service on it and times every call that reads it, over
// HTTP: the median and the slowest of ten, in milliseconds, after a first one that opens connections and
// fills caches. A PostgreSQL of the machine's own runs with its default settings, as strangers have it.
// Not part of the tests: it takes minutes.

import { randomBytes } from 'node:crypto'
import { pino } from 'pino'
import { createApp } from '../../server/app.ts'
import { loadConfig } from '../../server/config/config.ts'
import { issueClientSecret } from '../../server/operations/access/issue-client-secret.ts'
import { NO_AUDIT } from '../../server/operations/shared/audit-trail.ts'
import { createPool } from '../../server/store/connection/db.ts'
import { startInstalledPostgres } from '../support/installed-postgres.ts'
import { readArguments, toCount } from '../support/number-arguments.ts'
import { HISTORY, type HistorySize, seedHistory } from '../support/seed-history.ts'
import {
  databaseUrl,
  makeTemplate,
  onServer,
  startTestServer,
  TEMPLATE,
  type TestServer,
} from '../support/test-server.ts'

const deliveries = readArguments(() =>
  toCount('deliveries', process.argv[2] ?? `${HISTORY.deliveries}`),
)
const size: HistorySize = { ...HISTORY, deliveries, pending: Math.floor(deliveries / 50) }
const LIMIT_MS = 300
const ROUNDS = 10

const server = await startServer(process.argv[3])
try {
  await onServer(server.url, (db) => db.query(`create database measured template ${TEMPLATE}`))
  await measure(databaseUrl(server.url, 'measured'))
} finally {
  await server.stop()
}

async function startServer(binDir: string | undefined): Promise<TestServer> {
  if (binDir === undefined) return startTestServer()
  const installed = await startInstalledPostgres(binDir)
  await makeTemplate(installed.url)
  return installed
}

async function measure(url: string): Promise<void> {
  const pool = createPool({
    url,
    connectionsMax: 2,
    onIdleError: () => {},
    applicationName: 'measure lists',
    statementTimeoutMs: 300_000,
  })
  const startedAt = performance.now()
  await seedHistory(pool, size, new Date())
  const seconds = Math.round((performance.now() - startedAt) / 1_000)
  console.log(`${size.deliveries} deliveries of ${size.clients} clients, stored in ${seconds} s`)

  const operatorKey = randomBytes(32).toString('base64url')
  const app = createApp({
    config: loadConfig('sandbox', { PORT: '0' }),
    logger: pino({ level: 'silent' }),
    databaseUrl: url,
    masterKeys: [randomBytes(32)],
    operatorKey,
  })
  await app.start()
  try {
    const find = async (text: string) => (await pool.query(text)).rows[0]
    const large = await find(`select c.id, c.client_key, a.id as account, e.id as endpoint
      from clients c join accounts a using (client_key) join endpoints e using (client_key)
      where c.name = 'Client 1' limit 1`)
    const small = await find(`select c.id, a.id as account, e.id as endpoint
      from clients c join accounts a using (client_key) join endpoints e using (client_key)
      where c.name = 'Client 500' limit 1`)
    const ended = await find(`select * from final_deliveries where client_key = ${large.client_key}
      order by id limit 1 offset (select count(*) / 2 from final_deliveries
        where client_key = ${large.client_key})`)
    const owed = await find(`select * from pending_deliveries where client_key = ${large.client_key}
      order by id limit 1`)
    const oldest = await find(`select id from final_deliveries where finished_at > '-infinity'
      order by id limit 1 offset 40`)
    const firstDay = await find(`select to_char(min(accepted_at) + interval '1 hour',
      'YYYY-MM-DD"T"HH24:MI:SS"Z"') as at, min(accepted_at) + interval '1 hour' as instant from payments`)
    const last = encodeCursor(oldest.id)
    const lastPayment = encodeCursor(firstDay.instant.getTime(), ended.payment_id)
    const day = new Date(Date.now() - 14 * 86_400_000).toISOString()
    const next = new Date(Date.now() - 13 * 86_400_000).toISOString()
    const operator = { authorization: `Bearer ${operatorKey}` }
    const client = { authorization: `Bearer ${await tokenOf(app, large.id)}` }

    console.log('| call | median, ms | slowest, ms |\n|---|---|---|')
    const o = (name: string, path: string) =>
      time(app.baseUrl(), name, `/operator/v1${path}`, operator)
    const c = (name: string, path: string) => time(app.baseUrl(), name, path, client)
    await c('client: deliveries', '/v1/deliveries')
    await c('client: deliveries, 200 at once', '/v1/deliveries?limit=200')
    await c('client: deliveries, last page', `/v1/deliveries?after=${last}`)
    await c('client: deliveries, EXHAUSTED', '/v1/deliveries?state=EXHAUSTED')
    await c('client: deliveries, PENDING', '/v1/deliveries?state=PENDING')
    await c('client: deliveries of an endpoint', `/v1/deliveries?endpointId=${large.endpoint}`)
    await c(
      'client: deliveries of an endpoint, EXHAUSTED',
      `/v1/deliveries?endpointId=${large.endpoint}&state=EXHAUSTED`,
    )
    await c('client: deliveries of a payment', `/v1/deliveries?paymentId=${ended.payment_id}`)
    await c('client: deliveries of a day', `/v1/deliveries?from=${day}&to=${next}`)
    await c('client: one delivery, ended', `/v1/deliveries/${ended.id}`)
    await c('client: one delivery, pending', `/v1/deliveries/${owed.id}`)
    await c('client: a payment', `/v1/payments/${ended.payment_id}`)
    await c('client: events', '/v1/events')
    await c('client: events, 200 at once', '/v1/events?limit=200')
    await o('deliveries', '/deliveries')
    await o('deliveries, last page', `/deliveries?after=${last}`)
    for (const state of ['PENDING', 'DELIVERED', 'EXHAUSTED', 'SUPERSEDED', 'CANCELLED']) {
      await o(`deliveries, ${state}`, `/deliveries?state=${state}`)
    }
    await o('deliveries, EXHAUSTED or CANCELLED', '/deliveries?state=EXHAUSTED,CANCELLED')
    await o('deliveries of one client among 1,000', `/deliveries?clientId=${small.id}`)
    await o(
      'deliveries of one client, EXHAUSTED',
      `/deliveries?clientId=${small.id}&state=EXHAUSTED`,
    )
    await o('deliveries of one account', `/deliveries?accountId=${small.account}`)
    await o('deliveries of one endpoint', `/deliveries?endpointId=${small.endpoint}`)
    await o('deliveries of one kind', '/deliveries?event=payment.paid')
    await o('deliveries of a kind that there is none of', '/deliveries?event=payment.cancelled')
    await o('deliveries of a day', `/deliveries?from=${day}&to=${next}`)
    await o('deliveries, search: payment', `/deliveries?q=${ended.payment_id}`)
    await o('deliveries, search: event', `/deliveries?q=${ended.event_id}`)
    await o('deliveries, search: delivery', `/deliveries?q=${ended.id}`)
    await o('deliveries, search: externalId', '/deliveries?q=INV-4242')
    await o('deliveries, search: nothing found', '/deliveries?q=INV-none')
    await o('one delivery, ended', `/deliveries/${ended.id}`)
    await o('one delivery, pending', `/deliveries/${owed.id}`)
    await o('body of an event', `/events/${ended.event_id}/body`)
    await o('payments', '/payments')
    await o('payments, last page', `/payments?after=${lastPayment}`)
    await o('payments of one client', `/payments?clientId=${small.id}`)
    await o('payments of one account', `/payments?accountId=${small.account}`)
    await o('payments, PAID', '/payments?state=PAID')
    await o('payments, a state that there is none of', '/payments?state=CANCELLED')
    await o('payments, externalId', '/payments?externalId=INV-77777')
    await o('payments of a day', `/payments?from=${day}&to=${next}`)
    await o('one payment', `/payments/${ended.payment_id}`)
    await o('events of a payment', `/payments/${ended.payment_id}/events`)
    await o('endpoints', '/endpoints?size=100')
    await o('endpoints that fail', '/endpoints?failing=true')
    await o('endpoints of one client', `/endpoints?clientId=${small.id}`)
    await o('one endpoint', `/endpoints/${large.endpoint}`)
    await o('stats', '/stats')
    await o('stats of a week', '/stats?window=week')
    // What the console asks for besides.
    await c('client: webhooks', '/v1/webhooks?size=100')
    await c('client: one webhook', `/v1/webhooks/${large.endpoint}`)
    await c('client: subscriptions', '/api/v1/payments/subscriptions')
    await o('clients', '/clients?size=100')
    await o('one client', `/clients/${large.id}`)
    await o('accounts of a client', `/clients/${large.id}/accounts?size=100`)
    await o('audit', '/audit')
    await o('settings', '/settings')
    const session = await sessionOf(app.baseUrl(), operatorKey)
    await time(app.baseUrl(), 'console: who is signed in', '/console/session', session)
    await time(app.baseUrl(), 'console: stats with a session', '/operator/v1/stats', session)
  } finally {
    await app.stop()
    await pool.end()
  }
}

async function time(
  baseUrl: string,
  name: string,
  path: string,
  headers: Record<string, string>,
): Promise<void> {
  const times: number[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const startedAt = performance.now()
    const answer = await fetch(baseUrl + path, { headers })
    const text = await answer.text()
    if (round > 0) times.push(performance.now() - startedAt)
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text}`)
  }
  times.sort((a, b) => a - b)
  const [median, slowest] = [times[ROUNDS / 2] as number, times.at(-1) as number]
  console.log(`| ${name} | ${median.toFixed(0)} | ${slowest.toFixed(0)} |`)
  // A small history says nothing of the full one.
  if (slowest > LIMIT_MS && deliveries >= HISTORY.deliveries) process.exitCode = 1
}

function encodeCursor(...parts: (string | number)[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

async function tokenOf(app: ReturnType<typeof createApp>, clientId: string): Promise<string> {
  const { secret } = await issueClientSecret(app.deps, clientId, NO_AUDIT)
  const answer = await fetch(`${app.baseUrl()}/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ clientId, clientSecret: secret }),
  })
  return ((await answer.json()) as { access_token: string }).access_token
}

/** The headers of a request from the console. */
async function sessionOf(baseUrl: string, operatorKey: string): Promise<Record<string, string>> {
  const console = { 'x-paybell-console': '1' }
  const answer = await fetch(`${baseUrl}/console/session`, {
    method: 'POST',
    headers: { ...console, 'content-type': 'application/json' },
    body: JSON.stringify({ operatorKey }),
  })
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';')
  return { ...console, cookie }
}
