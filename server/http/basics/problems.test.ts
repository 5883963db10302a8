// One shape for every failure (decisions, Errors), wherever it comes from, and the order of the checks.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import {
  assertProblem,
  BASE_URL,
  OPERATOR_KEY,
  onboard,
  serveHttp,
} from '../../../test/support/injected-server.ts'
import { SAMPLE, sampleBody } from '../../../test/support/payment-sample.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import { PROBLEMS } from './problems.ts'

const { pool } = await cloneDatabase()

test('an unknown address is 404 in the one shape, on every method', async (t) => {
  const server = await serveHttp(t, pool)
  for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND'] as const) {
    const answer = await server.app.inject({ method: method as 'GET', url: '/nowhere?x=1' })
    assertProblem(answer, 404, 'not-found')
  }
  for (const url of ['/v1', '/v1/', '/operator/v1', '/V1/webhooks', '//']) {
    assertProblem(await server.app.inject({ url }), 404, 'not-found')
  }
})

test('a known address with another method is 405 with Allow, before any token is asked for', async (t) => {
  const server = await serveHttp(t, pool)
  const id = randomUUID()
  for (const [method, url, allow] of [
    ['GET', '/auth/token', 'POST'],
    ['DELETE', '/auth/token', 'POST'],
    ['GET', '/v1/webhooks/register', 'POST'],
    ['POST', '/v1/webhooks/list', 'GET, HEAD'],
    ['DELETE', '/v1/webhooks/list?x=1', 'GET, HEAD'],
    ['PATCH', '/v1/webhooks/register', 'POST'],
    ['PUT', `/v1/webhooks/${id}`, 'DELETE, GET, HEAD, PATCH'],
    ['OPTIONS', '/v1/webhooks', 'GET, HEAD'],
    ['PUT', '/api/v1/payments/subscribe', 'POST'],
    ['POST', `/api/v1/payments/subscriptions/${id}`, 'DELETE, GET, HEAD, PATCH'],
    ['DELETE', '/operator/v1/clients', 'GET, HEAD, POST'],
    ['POST', '/livez', 'GET, HEAD'],
  ] as const) {
    const answer = await server.app.inject({ method, url })
    assertProblem(answer, 405, 'method-not-allowed')
    assert.equal(answer.headers.allow, allow, `${method} ${url}`)
  }
})

test('HEAD works wherever GET does', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const ask = (url: string, headers: Record<string, string> = {}) =>
    server.app.inject({ method: 'HEAD', url, headers })
  for (const url of ['/livez', '/readyz', '/.well-known/jwks.json', '/openapi.json', '/docs/']) {
    const answer = await ask(url)
    assert.deepEqual([answer.statusCode, answer.body], [200, ''], url)
  }
  assert.equal((await ask('/v1/webhooks', client.bearer)).statusCode, 200)
  assert.equal((await ask('/v1/webhooks')).statusCode, 401)
})

test('an address that is not percent-encoded correctly is 400', async (t) => {
  const server = await serveHttp(t, pool)
  for (const url of ['/%', '/%zz', '/v1/webhooks/%c3', '/problems/%ff']) {
    assertProblem(await server.app.inject({ url }), 400, 'malformed-request')
  }
})

test('a failing query string is never a 500', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const headers = client.headers
  for (const query of ['%', '%zz=1', 'page=%ff', '&&&', '=', 'page[]=1', '__proto__=1', '?']) {
    const answer = await server.app.inject({ url: `/v1/webhooks/list?${query}`, headers })
    assert.ok([200, 400].includes(answer.statusCode), query)
  }
})

test('checks come in order: route, token, account, content type, size, JSON, fields', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const ask = async (change: object, payload = '{}') => {
    const headers = { ...client.headers, 'content-type': 'application/json', ...change }
    const sent = Object.fromEntries(Object.entries(headers).filter(([, value]) => value))
    const url = '/v1/webhooks/register'
    const answer = await server.app.inject({ method: 'POST', url, headers: sent, payload })
    return `${answer.statusCode} ${answer.json().code}`
  }
  const large = `{${' '.repeat(70_000)}`
  const bad = { authorization: 'Bearer x', accountid: 'x', 'content-type': 'text/plain' }
  assert.equal(await ask(bad, large), '401 invalid-token')
  assert.equal(await ask({ ...bad, authorization: undefined }, large), '401 missing-token')
  const { authorization: _token, ...noToken } = bad
  assert.equal(await ask(noToken, large), '403 invalid-account')
  assert.equal(await ask({ 'content-type': 'text/plain' }, large), '415 unsupported-media-type')
  assert.equal(await ask({ 'content-type': undefined }, large), '415 unsupported-media-type')
  assert.equal(await ask({}, large), '413 body-too-large')
  assert.equal(await ask({}, '{'), '400 malformed-json')
  assert.equal(await ask({}, '{}'), '400 invalid-fields')
})

test('X-Request-Id is on every answer, is ours, and is in the log', async (t) => {
  const server = await serveHttp(t, pool)
  const seen = new Set<string>()
  for (const url of ['/livez', '/nowhere', '/%', '/v1/webhooks', '/docs', '/problems/internal']) {
    const answer = await server.app.inject({ url, headers: { 'x-request-id': 'mine' } })
    const id = String(answer.headers['x-request-id'])
    assert.match(id, /^[0-9a-f-]{36}$/, url)
    seen.add(id)
  }
  assert.equal(seen.size, 6)
  const logged = server.log.filter((line) => line.includes('request.answered'))
  assert.ok(logged.some((line) => seen.has(JSON.parse(line).requestId)))
})

const WARN = 40

test('regression: the request id of every refused call is in the log of a sandbox, which shows warnings alone', async (t) => {
  for (const mode of ['sandbox', 'production'] as const) {
    const server = await serveHttp(t, pool, { mode })
    const client = await onboard(server)
    server.log.length = 0
    const refused = [
      await server.app.inject('/nowhere'),
      await server.app.inject('/%'),
      await server.app.inject('/v1/webhooks'),
      await server.app.inject({ url: '/v1/webhooks?size=x', headers: client.headers }),
      await server.app.inject({ method: 'POST', url: '/livez' }),
      await server.app.inject({
        method: 'POST',
        url: '/v1/webhooks/register',
        headers: { ...client.headers, 'content-type': 'application/json' },
        payload: '{',
      }),
    ]
    const lines = server.log.map((line) => JSON.parse(line))
    for (const answer of refused) {
      assert.ok(answer.statusCode >= 400)
      const id = answer.headers['x-request-id']
      const found = lines.filter(({ requestId }) => requestId === id)
      assert.equal(found.length, 1, `${mode}: ${answer.body}`)
      assert.equal(found[0].status, answer.statusCode)
      assert.equal(found[0].level >= WARN, mode === 'sandbox', answer.body)
    }
  }
})

test('what is answered well, and a probe that says no, is no warning anywhere', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  server.readiness = { ready: false, reasons: ['It is starting.'] }
  assert.equal((await server.app.inject('/readyz')).statusCode, 503)
  const { headers } = client
  assert.equal((await server.app.inject({ url: '/v1/webhooks', headers })).statusCode, 200)
  assert.ok(server.log.length > 0)
  for (const line of server.log) assert.ok(JSON.parse(line).level < WARN, line)
})

test('a mistake of ours is a 500 without details; the log has its stack under the request id', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  server.deps.pool = {
    query: async () => {
      throw new TypeError('canary: select secret from inner_table')
    },
  } as never
  server.clock.advance(3)
  const answer = await server.app.inject({ url: '/v1/webhooks', headers: client.bearer })
  assertProblem(answer, 500, 'internal')
  assert.doesNotMatch(answer.body, /canary|TypeError|select/)
  const line = server.log.find((text) => text.includes('request.failed')) as string
  const entry = JSON.parse(line)
  assert.equal(entry.requestId, answer.headers['x-request-id'])
  assert.match(entry.err.stack, /TypeError: canary/)
})

test('a ServiceError from any route becomes its problem, with Retry-After where it has one', async (t) => {
  const server = await serveHttp(t, pool)
  server.deps.readiness = () => {
    throw new ServiceError('overloaded', 'Busy.', { retryAfterSeconds: 7 })
  }
  const answer = await server.app.inject('/readyz')
  assertProblem(answer, 503, 'overloaded')
  assert.equal(answer.headers['retry-after'], '7')
})

test('the page of every problem exists, and of none other', async (t) => {
  const server = await serveHttp(t, pool)
  for (const [code, { title }] of Object.entries(PROBLEMS)) {
    const answer = await server.app.inject(`/problems/${code}`)
    assert.equal(answer.statusCode, 200)
    assert.match(String(answer.headers['content-type']), /^text\/html/)
    assert.ok(answer.body.includes(`<h1>${title}</h1>`), code)
    assert.match(answer.body, /<p>What to do: \w/, code)
  }
  for (const code of ['nothing', 'toString', '__proto__', '%3Cscript%3E']) {
    const answer = await server.app.inject(`/problems/${code}`)
    assertProblem(answer, 404, 'not-found')
    assert.doesNotMatch(answer.body, /script/)
  }
  assert.ok(`${BASE_URL}/problems/`.startsWith('https://'))
})

test('the log has one line per request, without addresses, queries, headers or bodies', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  server.log.length = 0
  await server.app.inject({
    method: 'POST',
    url: '/v1/webhooks/register?canary=1',
    headers: { ...client.headers, 'x-canary': 'canary' },
    payload: { callbackUrl: 'https://canary.example.com/?canary', sharedKey: 'canary-key' },
  })
  assert.equal(server.log.length, 1)
  assert.doesNotMatch(server.log.join(''), /canary/)
  assert.ok(!server.log.join('').includes(client.token))
  const line = JSON.parse(server.log[0] as string)
  assert.equal(line.msg, 'request.answered')
  assert.deepEqual(
    [line.method, line.route, line.status, line.clientId],
    ['POST', '/v1/webhooks/register', 200, client.clientId],
  )
  assert.equal(typeof line.durationMs, 'number')
})

test('the line of a PUT names the payment, its account and its event; of a refused one, the account', async (t) => {
  const server = await serveHttp(t, pool)
  const { accountId } = await onboard(server)
  const put = async (payload: Buffer) => {
    server.log.length = 0
    const answer = await server.app.inject({
      method: 'PUT',
      url: `/operator/v1/payments/${SAMPLE.id}`,
      headers: {
        authorization: `Bearer ${OPERATOR_KEY}`,
        accountid: accountId.toUpperCase(),
        'content-type': 'application/json',
      },
      payload,
    })
    const {
      status,
      code,
      actor,
      paymentId,
      accountId: account,
      eventId,
    } = JSON.parse(server.log.find((line) => line.includes('request.answered')) as string)
    assert.equal(actor, 'operator')
    return { answer: answer.json(), line: { status, code, paymentId, account, eventId } }
  }
  const taken = await put(sampleBody())
  const eventId = taken.answer.event.id
  const known = { account: accountId, code: undefined }
  assert.deepEqual(taken.line, { ...known, status: 201, paymentId: SAMPLE.id, eventId })
  const refused = await put(sampleBody({ externalId: 7 }))
  const nothing = { paymentId: undefined, eventId: undefined }
  assert.deepEqual(refused.line, { ...known, ...nothing, status: 400, code: 'invalid-fields' })
})

test('every answer says nosniff, and none may be framed', async (t) => {
  const server = await serveHttp(t, pool)
  for (const url of ['/livez', '/nowhere', '/%', '/docs/', '/problems/internal', '/openapi.json']) {
    const { headers } = await server.app.inject(url)
    assert.equal(headers['x-content-type-options'], 'nosniff', url)
    assert.equal(headers['x-frame-options'], 'DENY', url)
    assert.ok(headers['content-security-policy'], url)
  }
})

test('the operator’s routes are 404 on the public port, and the client’s on the operator’s', async (t) => {
  const open = await serveHttp(t, pool, { surface: 'public' })
  const inner = await serveHttp(t, pool, { surface: 'operator' })
  const headers = { authorization: `Bearer ${OPERATOR_KEY}` }
  for (const url of ['/operator/v1/clients', '/metrics']) {
    assertProblem(await open.app.inject({ url, headers }), 404, 'not-found')
    assert.equal((await inner.app.inject({ url, headers })).statusCode, 200)
  }
  for (const url of ['/v1/webhooks', '/.well-known/jwks.json', '/auth/token']) {
    assertProblem(await inner.app.inject({ url, headers }), 404, 'not-found')
    assert.notEqual((await open.app.inject({ url, headers })).statusCode, 404)
  }
  for (const server of [open, inner]) {
    for (const url of ['/livez', '/readyz', '/openapi.json', '/problems/internal']) {
      assert.equal((await server.app.inject(url)).statusCode, 200)
    }
  }
})
