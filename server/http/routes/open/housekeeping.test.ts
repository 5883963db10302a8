// /livez, /readyz, /metrics, /openapi.json, /docs (decisions, Housekeeping endpoints).

import assert from 'node:assert/strict'
import test from 'node:test'
import { gunzipSync } from 'node:zlib'
import { cloneDatabase } from '../../../../test/support/database.ts'
import { call, OPERATOR } from '../../../../test/support/injected-calls.ts'
import { assertProblem, BASE_URL, serveHttp } from '../../../../test/support/injected-server.ts'
import { EVENT_KINDS } from '../../../core/payments/payment.ts'

const { pool } = await cloneDatabase()

test('/livez is 200 while the process runs, ready or not', async (t) => {
  const server = await serveHttp(t, pool)
  server.readiness = { ready: false, reasons: ['The database is away.'] }
  assert.equal((await server.app.inject('/livez')).statusCode, 200)
})

test('/readyz is 200, or 503 with the reasons', async (t) => {
  const server = await serveHttp(t, pool)
  assert.equal((await server.app.inject('/readyz')).statusCode, 200)
  server.readiness = { ready: false, reasons: ['The database is away.', 'Migrations are missing.'] }
  const answer = await server.app.inject('/readyz')
  const problem = assertProblem(answer, 503, 'not-ready')
  assert.match(problem.detail, /The database is away. Migrations are missing./)
  assert.deepEqual(answer.json().reasons, server.readiness.reasons)
  assert.match(String(answer.headers['retry-after']), /^\d+$/)
})

test('/metrics is open in the sandbox and needs the operator key in production', async (t) => {
  const metrics = () => 'paybell_up 1\n'
  const sandbox = await serveHttp(t, pool, { metrics })
  const open = await sandbox.app.inject('/metrics')
  assert.equal(open.body, 'paybell_up 1\n')
  assert.match(String(open.headers['content-type']), /^text\/plain; version=0\.0\.4/)

  const production = await serveHttp(t, pool, { mode: 'production', metrics })
  assertProblem(await production.app.inject('/metrics'), 401, 'missing-token')
  const guarded = await call(production, OPERATOR, 'GET', '/metrics')
  assert.equal(guarded.statusCode, 200)

  const surface = await serveHttp(t, pool, { mode: 'production', surface: 'operator', metrics })
  assert.equal((await surface.app.inject('/metrics')).statusCode, 200)
})

test('/.well-known/security.txt is there where the operator has set it, until it expires', async (t) => {
  const none = await serveHttp(t, pool)
  assertProblem(await none.app.inject('/.well-known/security.txt'), 404, 'not-found')

  const { app, clock } = await serveHttp(t, pool, {
    env: {
      PAYBELL_BASE_URL: 'https://payments.example.com',
      PAYBELL_SECURITY_CONTACT: 'https://example.com/report, mailto:security@example.com',
      PAYBELL_SECURITY_EXPIRES: '2026-03-03',
    },
  })
  const answer = await app.inject('/.well-known/security.txt')
  assert.equal(answer.headers['content-type'], 'text/plain; charset=utf-8')
  assert.deepEqual(answer.body.split('\n'), [
    'Contact: https://example.com/report',
    'Contact: mailto:security@example.com',
    'Expires: 2026-03-03T00:00:00Z',
    'Canonical: https://payments.example.com/.well-known/security.txt',
    '',
  ])
  clock.advance(86_400)
  assertProblem(await app.inject('/.well-known/security.txt'), 404, 'not-found')
})

interface Operation {
  operationId?: string
  summary?: string
  security?: object[]
  requestBody?: { content: Record<string, { example?: unknown; examples?: unknown }> }
  responses: Record<string, { content?: Record<string, unknown> }>
}

/** The one 200 without a body. */
const EMPTY = 'post /v1/webhooks/register'

test('/openapi.json is OpenAPI 3.1 with every operation, its examples and its problems', async (t) => {
  const server = await serveHttp(t, pool)
  const document = (await server.app.inject('/openapi.json')).json()
  assert.match(document.openapi, /^3\.1\./)
  assert.deepEqual(document.servers, [{ url: BASE_URL }])
  assert.deepEqual(Object.keys(document.components.securitySchemes), ['accessToken', 'operatorKey'])
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, Operation>).map(
      ([method, operation]) => ({ name: `${method} ${path}`, path, operation }) as const,
    ),
  )
  const names: string[] = operations.map(({ name }) => name)
  for (const expected of [
    'post /auth/token',
    'post /v1/webhooks/register',
    'get /v1/webhooks/list',
    'get /v1/webhooks',
    'get /v1/webhooks/{id}',
    'patch /v1/webhooks/{id}',
    'delete /v1/webhooks/{id}',
    'post /api/v1/payments/subscribe',
    'get /api/v1/payments/subscriptions',
    'delete /api/v1/payments/subscriptions/{id}',
    'post /operator/v1/clients',
    'get /.well-known/jwks.json',
    'get /.well-known/webhook-keys.json',
    'get /.well-known/oauth-authorization-server',
    'get /readyz',
  ]) {
    assert.ok(names.includes(expected), expected)
  }
  const ids = operations.map(({ operation }) => operation.operationId)
  assert.equal(new Set(ids).size, ids.length)
  for (const { name, path, operation } of operations) {
    assert.ok(operation.summary, name)
    for (const [type, media] of Object.entries(operation.requestBody?.content ?? {})) {
      assert.ok(media.example ?? media.examples, `${name} ${type} has an example`)
    }
    if (!path.startsWith('/v1/') && !path.startsWith('/operator/')) continue
    assert.ok(operation.responses['401']?.content?.['application/problem+json'], name)
    assert.ok(
      Object.entries(operation.responses).some(
        ([status, { content }]) =>
          status === '204' || (status.startsWith('2') && (content || name === EMPTY)),
      ),
      `${name} says what it answers`,
    )
    const scheme = path.startsWith('/operator/') ? 'operatorKey' : 'accessToken'
    const security = operation.security ?? document.security
    assert.deepEqual(security, [{ [scheme]: [] }], name)
  }
})

test('its webhooks section has the callback’s headers and an example of each kind', async (t) => {
  const server = await serveHttp(t, pool)
  const { webhooks } = (await server.app.inject('/openapi.json')).json()
  const { parameters, requestBody } = webhooks.payment.post
  const headers = parameters.map((parameter: { name: string }) => parameter.name)
  for (const name of ['X-Paybell-Hmac', 'webhook-id', 'webhook-signature', 'X-Paybell-Event']) {
    assert.ok(headers.includes(name), name)
  }
  const { examples } = requestBody.content['application/json']
  assert.deepEqual(Object.keys(examples), [...EVENT_KINDS])
})

test('/docs shows the interface offline: nothing of it is loaded from another host', async (t) => {
  const server = await serveHttp(t, pool)
  const redirect = await server.app.inject('/docs')
  assert.deepEqual([redirect.statusCode, redirect.headers.location], [302, '/docs/'])
  const page = await server.app.inject('/docs/')
  assert.equal(page.statusCode, 200)
  assert.doesNotMatch(page.body, /https?:\/\//)
  const script = /<script src="([^"]+)"/.exec(page.body)?.[1]
  assert.equal(script, 'js/scalar.js')
  assert.equal((await server.app.inject(`/docs/${script}`)).statusCode, 200)
  for (const setting of [
    /"withDefaultFonts": false/,
    /"telemetry": false/,
    /"proxyUrl": ""/,
    /"agent": \{\s*"disabled": true/,
  ]) {
    assert.match(page.body, setting)
  }
  // If the bundle tries anyway, the browser refuses.
  const policy = String(page.headers['content-security-policy'])
  assert.doesNotMatch(policy, /https?:|\*/)
  assert.match(policy, /default-src 'self'/)
  assert.match(policy, /connect-src 'self'/)
  assert.match(page.body, /^<!doctype html>\s*<html lang="en">/)
})

test('/ leads to the documentation', async (t) => {
  const server = await serveHttp(t, pool)
  const answer = await server.app.inject('/')
  assert.deepEqual([answer.statusCode, answer.headers.location], [302, '/docs/'])
})

test('regression: the interface and its viewer come from memory, tagged, and compressed where that is wanted', async (t) => {
  const { app } = await serveHttp(t, pool)
  for (const url of ['/openapi.json', '/docs/', '/docs/js/scalar.js']) {
    const whole = await app.inject(url)
    const etag = String(whole.headers.etag)
    assert.match(etag, /^"[\w-]{27}"$/)
    const same = await app.inject({ url, headers: { 'if-none-match': etag } })
    assert.deepEqual([same.statusCode, same.body], [304, ''])
    const small = await app.inject({ url, headers: { 'accept-encoding': 'gzip' } })
    assert.equal(small.headers['content-encoding'], 'gzip')
    assert.deepEqual(gunzipSync(small.rawPayload), whole.rawPayload)
  }
  // Beside the largest file, on the same machine at the same moment: written anew, they would cost several times as much.
  const fileMs = await cpuMsOf(() => app.inject('/docs/js/scalar.js'), 20)
  for (const url of ['/openapi.json', '/docs/']) {
    const costMs = await cpuMsOf(() => app.inject(url), 20)
    assert.ok(costMs < fileMs, `${url} ${costMs} ms, the file ${fileMs}`)
  }
})

/** CPU time of one of many, of this thread; the least of a few rounds, because garbage may be collected in any. */
async function cpuMsOf(act: () => Promise<unknown>, times: number): Promise<number> {
  let leastMs = Number.POSITIVE_INFINITY
  for (let round = 0; round < 3; round++) {
    const before = process.threadCpuUsage()
    for (let n = 0; n < times; n++) await act()
    const { user, system } = process.threadCpuUsage(before)
    leastMs = Math.min(leastMs, (user + system) / 1_000 / times)
  }
  return leastMs
}
