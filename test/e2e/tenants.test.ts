// Every route of the client interface against another client, and against another account of the same client: what is
// not theirs does not exist. The routes come from the service itself: one that is missing here fails the test.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { RouteEntry } from '../../server/http/route-table.ts'
import { Caller } from '../support/caller.ts'
import { addAccount, addClient, type Paybell, startPaybell, until } from '../support/paybell.ts'
import { startReceiver } from '../support/receiver.ts'

const KEY = 'a key of this client'
const SINCE = new Date(Date.now() - 3_600_000).toISOString()

/** Routes that name nothing. Of those that answer with a list, or with what there is, none may show what is not theirs. */
const UNNAMED: Readonly<Record<string, 'reads' | 'writes'>> = {
  'GET /v1/webhooks': 'reads',
  'GET /v1/webhooks/list': 'reads',
  'GET /api/v1/payments/subscriptions': 'reads',
  'GET /v1/listeners': 'reads',
  'GET /v1/deliveries': 'reads',
  'GET /v1/payments': 'reads',
  'GET /v1/events': 'reads',
  'GET /v1/search': 'reads',
  'GET /v1/notices': 'reads',
  'GET /v1/stats': 'reads',
  'GET /v1/client-certificates': 'reads',
  'POST /v1/webhooks/register': 'writes',
  'POST /api/v1/payments/subscribe': 'writes',
  'POST /v1/listeners': 'writes',
  'PUT /v1/notices': 'writes',
  'DELETE /v1/notices': 'writes',
}

/** What the call needs so that nothing but the id can be wrong with it, by the end of its path. */
const GIVEN: Readonly<Record<string, { body?: object; query?: string }>> = {
  ':id': { body: { status: 'PAUSED', description: 'mine now' } },
  series: {},
  statement: { query: `?from=${wholeHour(-1)}&to=${wholeHour(0)}` },
  receipt: {},
  body: {},
  replay: {},
  retry: {},
  test: {},
  check: {},
  next: { query: '?wait=0' },
  recover: { body: { since: SINCE } },
  'replay-missing': { body: { since: SINCE, events: ['payment.*'] } },
  verify: { body: { headers: { 'X-Paybell-Hmac': '00' }, body: '{}' } },
  outcomes: { body: { offerId: randomUUID(), status: 200 } },
}

function wholeHour(hours: number): string {
  const hour = 3_600_000
  return new Date((Math.floor(Date.now() / hour) + hours) * hour).toISOString()
}

/** The owner's things, by the part of a path before `:id`. */
type Things = Readonly<Record<string, string>>

async function makeThings(paybell: Paybell, url: (path: string) => string): Promise<Things> {
  const { caller } = paybell
  assert.equal((await caller.register(url('/webhook'), KEY)).status, 200)
  await caller.subscribe({ callbackUrl: url('/subscription'), sharedKey: KEY })
  await caller.call('POST', '/v1/listeners', { name: 'laptop', sharedKey: KEY })
  await caller.call('PUT', '/v1/notices', { callbackUrl: url('/notices'), sharedKey: KEY })
  const payment = randomUUID()
  assert.ok((await caller.putSample(payment)).ok)
  const first = async (path: string) => {
    const page = (await (await caller.get(path)).json()) as Record<string, { id: string }[]>
    return (page.content ?? page.items)?.[0]?.id
  }
  const delivered = await until('a delivery', () => first('/v1/deliveries?state=DELIVERED'))
  return {
    '/v1/webhooks': (await first('/v1/webhooks/list')) ?? assert.fail(),
    '/api/v1/payments/subscriptions':
      (await first('/api/v1/payments/subscriptions')) ?? assert.fail(),
    '/v1/listeners': (await first('/v1/listeners')) ?? assert.fail(),
    '/v1/deliveries': delivered,
    '/v1/payments': payment,
    '/v1/events': await until('its event in the feed', () => first('/v1/events')),
  }
}

/** A PATCH of a listener takes a status, and no setting. */
function givenFor({ method, url }: RouteEntry): { body?: object; query?: string } {
  const given = GIVEN[url.split('/').at(-1) as string]
  assert.ok(given, `${method} ${url}: say here what it has to be given`)
  const { query } = given
  if (method === 'GET' || method === 'HEAD' || method === 'DELETE') return query ? { query } : {}
  return url === '/v1/listeners/:id' ? { body: { status: 'PAUSED' } } : given
}

async function ask(caller: Caller, route: RouteEntry, id: string) {
  const { body, query = '' } = givenFor(route)
  const answer = await caller.call(route.method, route.url.replace(':id', id) + query, body)
  const text = await answer.text()
  return { status: answer.status, text, problem: text.startsWith('{') ? JSON.parse(text) : null }
}

test('what belongs to another client, or to another account, does not exist; no route is left out', async (t) => {
  const receiver = await startReceiver(t)
  const paybell = await startPaybell(t, { env: { PAYBELL_REQUESTS_PER_SECOND: '10000' } })
  const things = await makeThings(paybell, (path) => receiver.url(path))
  const stranger = new Caller(await addClient(paybell, 'Stranger'))
  const beside = new Caller(await addAccount(paybell, paybell))
  const routes = paybell.app
    .routes()
    .filter(({ url, method }) => /^(\/api)?\/v1\//.test(url) && method !== 'HEAD')
  const [named, unnamed] = [
    routes.filter(({ url }) => url.includes(':id')),
    routes.filter(({ url }) => !url.includes(':')),
  ]
  assert.equal(named.length + unnamed.length, routes.length, 'a route with another parameter')
  assert.ok(named.length > 30, `${named.length} routes`)

  for (const route of named) {
    const what = `${route.method} ${route.url}`
    const id = things[route.url.split('/:id')[0] as string] ?? assert.fail(what)
    const callers = /subscriptions/.test(route.url) ? [stranger] : [stranger, beside]
    const never = await ask(stranger, route, randomUUID())
    for (const caller of callers) {
      const refused = await ask(caller, route, id)
      assert.deepEqual([refused.status, refused.problem.code], [404, 'not-found'], what)
      assert.equal(refused.problem.detail, never.problem.detail, `${what} tells the two apart`)
    }
    if (route.method === 'GET') {
      const own = await ask(paybell.caller, route, id)
      assert.ok(own.status === 200 || own.status === 204, `${what}: ${own.status} ${own.text}`)
    }
  }

  for (const { method, url } of unnamed) {
    const kind = UNNAMED[`${method} ${url}`]
    assert.ok(kind, `${method} ${url}: say here what it does`)
    if (kind === 'writes') continue
    const query = url === '/v1/search' ? `?q=${things['/v1/payments']}` : ''
    const { status, text } = await stranger
      .get(url + query)
      .then(async (answer) => ({ status: answer.status, text: await answer.text() }))
    assert.ok(status === 200 || url === '/v1/notices', `${url}: ${status}`)
    for (const id of Object.values(things)) assert.ok(!text.includes(id), `${url} shows ${id}`)
    assert.ok(!text.includes(receiver.url('')), `${url} shows an address`)
  }

  // Nothing of it has done anything.
  const { rows } = await paybell.pool.query(
    `select status, description from endpoints where deleted_at is null and kind <> 'listener'`,
  )
  assert.deepEqual(
    rows.map(({ status, description }) => [status, description]),
    [1, 2, 3].map(() => ['ACTIVE', null]),
  )
  const { rows: jobs } = await paybell.pool.query('select 1 from jobs')
  assert.equal(jobs.length, 0)
  assert.ok(receiver.received.every(({ headers }) => headers['x-paybell-replay'] === undefined))
})
