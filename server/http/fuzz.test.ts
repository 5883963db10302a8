// No malformed request is a 5xx, and every refusal is a problem (reliability P5, P7).

import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { cloneDatabase } from '../../test/support/database.ts'
import { call, WEBHOOKS } from '../../test/support/injected-calls.ts'
import { OPERATOR_KEY, onboard, serveHttp } from '../../test/support/injected-server.ts'

const { pool } = await cloneDatabase()

const ROUTES = [
  ['POST', '/auth/token'],
  ['POST', '/v1/webhooks/register'],
  ['GET', '/v1/webhooks/list'],
  ['GET', '/v1/webhooks'],
  ['GET', '/v1/webhooks/ID'],
  ['PATCH', '/v1/webhooks/ID'],
  ['DELETE', '/v1/webhooks/ID'],
  ['POST', '/api/v1/payments/subscribe'],
  ['GET', '/api/v1/payments/subscriptions'],
  ['PATCH', '/api/v1/payments/subscriptions/ID'],
  ['POST', '/operator/v1/clients'],
  ['GET', '/operator/v1/clients'],
  ['PATCH', '/operator/v1/clients/ID'],
  ['DELETE', '/operator/v1/clients/ID/secrets/ID'],
  ['POST', '/operator/v1/clients/ID/accounts'],
  ['GET', '/problems/ID'],
] as const

const oddText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ maxLength: 40 }),
  fc.constantFrom(
    '',
    '\0',
    'a\0b',
    '\ud800',
    '\udfff\ud800',
    '__proto__',
    'constructor',
    "'; drop table endpoints; --",
    'https://example.com/',
    'https://127.0.0.1',
    'ACTIVE',
    '９',
  ),
)

const field = fc.constantFrom(
  'callbackUrl',
  'sharedKey',
  'headerKey',
  'headerValue',
  'clientId',
  'clientSecret',
  'status',
  'name',
  '__proto__',
  'toString',
)

const jsonBody = fc
  .dictionary(fc.oneof(field, oddText), fc.oneof(oddText, fc.jsonValue({ maxDepth: 3 })), {
    maxKeys: 6,
  })
  .map((value) => Buffer.from(JSON.stringify(value)))

const body = fc.oneof(
  jsonBody,
  jsonBody,
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  oddText.map((text) => Buffer.from(text)),
  fc.constantFrom(
    Buffer.from('{"callbackUrl":"https://example.com/","callbackUrl":7,"sharedKey":"k"}'),
    Buffer.from('{"__proto__":{"callbackUrl":"https://example.com/","sharedKey":"k"}}'),
    Buffer.from('{"name":"\\ud800"}'),
    Buffer.from('{"name":"\\u0000"}'),
    Buffer.concat([Buffer.from('{"name":"'), Buffer.of(0xff, 0xfe), Buffer.from('"}')]),
    Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), Buffer.from('{}')]),
    Buffer.from('['.repeat(30_000)),
    Buffer.from('['.repeat(100_000)),
    Buffer.from(`{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`),
    Buffer.from('x'.repeat(65_537)),
    Buffer.from(`[${'0,'.repeat(30_000)}0]`),
  ),
)

const query = fc.oneof(
  fc.constant(''),
  oddText.map((text) => `?page=${encodeURIComponent(text.toWellFormed())}`),
  fc.webQueryParameters().map((text) => `?${text}`),
  fc.constantFrom(
    '?page=%ff',
    '?page=1&page=2',
    '?size=1e9',
    '?%',
    '?page[a]=1',
    '?;;',
    '?page=1;',
  ),
)

const headerText = fc.string({
  unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)),
  maxLength: 60,
})

const headers = fc.record({
  credentials: fc.constantFrom('client', 'client', 'client', 'operator', 'odd', 'none'),
  account: fc.constantFrom('right', 'right', 'odd', 'none'),
  type: fc.oneof(
    fc.constant('application/json'),
    fc.constant('application/json'),
    fc.constantFrom('application/json;charset=', 'application/json; charset', ';', 'a/b', ''),
    headerText,
  ),
  odd: headerText,
})

const id = fc.oneof(
  fc.uuid(),
  oddText.map((text) => encodeURIComponent(text.toWellFormed())),
  fc.constantFrom('%00', '..', '.', '%2e%2e', '%2f', 'x'.repeat(2_000)),
)

test('no malformed request is a 5xx', async (t) => {
  const server = await serveHttp(t, pool, { env: { PAYBELL_REQUESTS_PER_SECOND: '1000000' } })
  const client = await onboard(server)
  const request = fc.record({ route: fc.constantFrom(...ROUTES), id, query, headers, body })
  const seen = new Map<number, number>()
  await fc.assert(
    fc.asyncProperty(request, async ({ route: [method, path], id, query, headers, body }) => {
      const isOperator = path.startsWith('/operator/')
      const sent: Record<string, string> = {}
      if (headers.credentials === 'client') {
        sent.authorization = isOperator ? `Bearer ${OPERATOR_KEY}` : client.bearer.authorization
      }
      if (headers.credentials === 'operator') sent.authorization = `Bearer ${OPERATOR_KEY}`
      if (headers.credentials === 'odd') sent.authorization = headers.odd
      if (headers.account === 'right') sent.accountid = client.accountId
      if (headers.account === 'odd') sent.accountid = headers.odd
      const hasBody = method !== 'GET' && method !== 'DELETE'
      if (hasBody) sent['content-type'] = headers.type
      const answer = await server.app.inject({
        method,
        url: path.replaceAll('ID', id) + query,
        headers: sent,
        ...(hasBody ? { payload: body } : {}),
      })
      seen.set(answer.statusCode, (seen.get(answer.statusCode) ?? 0) + 1)
      assert.ok(answer.statusCode < 500, `${answer.statusCode} ${answer.body}`)
      if (answer.statusCode < 400) return
      assert.equal(answer.headers['content-type'], 'application/problem+json')
      assert.equal(answer.json().status, answer.statusCode)
    }),
    { numRuns: 1_500 },
  )
  // The generator must get past every check, or the test proves nothing.
  for (const status of [200, 400, 401, 403, 404, 413, 415]) {
    assert.ok(seen.has(status), `no request was answered with ${status}`)
  }
  assert.ok(!server.log.some((line) => line.includes('request.failed')))
})

test('P5: __proto__ in a body changes no prototype', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const payload =
    '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},' +
    '"callbackUrl":"https://example.com/","sharedKey":"k"}'
  const answer = await call(
    server,
    { ...client.headers, 'content-type': 'application/json' },
    'POST',
    WEBHOOKS.post,
    payload,
  )
  assert.equal(answer.statusCode, 200)
  assert.equal(({} as { polluted?: number }).polluted, undefined)
})

test('P5: members of __proto__ are not the body’s own', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const answer = await call(
    server,
    { ...client.headers, 'content-type': 'application/json' },
    'POST',
    WEBHOOKS.post,
    '{"__proto__":{"callbackUrl":"https://example.com/","sharedKey":"k"}}',
  )
  assert.equal(answer.statusCode, 400)
})
