// The client against a real server on loopback that answers what a test tells it to.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { inspect } from 'node:util'
import { exportJWK, generateKeyPair, jwtVerify } from 'jose'
import { PaybellError } from '../plain/errors.ts'
import { createClient } from './client.ts'
import type { ClientOptions } from './client-caller.ts'

interface Seen {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
}

type Reply =
  | { status?: number; headers?: Record<string, string>; body?: string | object }
  | 'hang'
  | 'reset'

const SECRET = 'pbs_very-secret'

async function setUp(
  t: TestContext,
  reply: (seen: Seen, calls: number) => Reply,
  options: Partial<Omit<ClientOptions, 'clientSecret'>> & {
    clientSecret?: string | undefined
  } = {},
) {
  const seen: Seen[] = []
  let tokens = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const one = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      }
      let answer: Reply
      if (one.path === '/base/auth/token' && !options.fetch) {
        answer = {
          body: { access_token: `token-${++tokens}`, expires_in: 3600, token_type: 'Bearer' },
        }
      } else {
        seen.push(one)
        answer = reply(one, seen.length)
      }
      if (answer === 'hang') return
      if (answer === 'reset') return void request.socket.resetAndDestroy()
      const { status = 200, headers = {}, body = '' } = answer
      response.writeHead(status, { 'x-request-id': 'r-1', ...headers })
      response.end(typeof body === 'string' ? body : JSON.stringify(body))
    })
  }).listen(0, '127.0.0.1')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const client = createClient({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/base/`,
    clientId: 'c',
    clientSecret: SECRET,
    accountId: 'account-1',
    random: () => 0,
    ...options,
  } as ClientOptions)
  return { client, seen, tokens: () => tokens }
}

function problem(status: number, code: string, more: object = {}, headers = {}): Reply {
  return { status, headers, body: { code, status, title: 'T', detail: 'D.', ...more } }
}

async function errorOf(promise: Promise<unknown>): Promise<PaybellError> {
  const error = await promise.then(
    () => assert.fail('it should have failed'),
    (reason) => reason,
  )
  assert.ok(error instanceof PaybellError, String(error))
  return error
}

test('each call of the interface goes where it should', async (t) => {
  const item = { id: 'w', endpointUrl: 'https://EXAMPLE.com:443/hook' }
  const { client, seen } = await setUp(t, ({ method, path }) => {
    if (path.includes('/list')) return { body: { content: [item], totalPages: 1 } }
    if (path.endsWith('/subscribe')) {
      return {
        status: 201,
        headers: { location: '/api/v1/payments/subscriptions/s' },
        body: '{"amount":{"amount":1.00}}',
      }
    }
    return method === 'DELETE' ? { status: 204 } : { body: { items: [], content: [], next: null } }
  })
  const key = { sharedKey: 'k', callbackUrl: 'https://example.com/hook' }
  assert.deepEqual(await client.webhooks.register(key), item)
  await client.webhooks.list({ page: 2, size: 5 })
  await client.webhooks.list({
    kind: 'any',
    failing: true,
    health: true,
    q: 'a b',
    sort: '-createdAt',
  })
  await client.webhooks.get('w/1')
  await client.webhooks.setStatus('w', 'PAUSED')
  await client.webhooks.delete('w')
  await client.webhooks.recover('w', { since: new Date(0), states: ['EXHAUSTED'] })
  await client.webhooks.countRecoverable('w', { since: '2026-01-01T00:00:00Z' })
  await client.webhooks.change('w', { events: ['payment.paid'], deliver: 'latest' })
  await client.webhooks.change('w', { events: null, description: null })
  await client.webhooks.replayMissing('w', { since: new Date(0), events: ['payment.*'] })
  await client.webhooks.countMissing('w', { since: '2026-01-01T00:00:00Z', until: new Date(0) })
  await client.webhooks.test('w')
  await client.webhooks.verify('w', { headers: { a: 'b' }, body: '{}' })
  await client.webhooks.verify('w', { headers: new Headers({ A: 'b' }), body: Buffer.from('{}') })
  await client.webhooks.check('w')
  const subscribed = await client.subscribe({ ...key, headerKey: 'A', headerValue: 'b' })
  assert.deepEqual(subscribed, { id: 's', payment: { amount: { amount: '1.00' } } })
  await client.subscriptions.list()
  await client.subscriptions.get('s')
  await client.subscriptions.setStatus('s', 'ACTIVE')
  await client.subscriptions.change('s', { document: 'none' })
  await client.subscriptions.replayMissing('s', { since: new Date(0) })
  await client.subscriptions.countMissing('s', { since: new Date(0) })
  await client.subscriptions.delete('s')
  await client.notices.set(key)
  await client.notices.get()
  await client.notices.delete()
  await client.deliveries.list({ state: ['EXHAUSTED', 'PENDING'], from: new Date(0), limit: 10 })
  await client.deliveries.get('d')
  await client.deliveries.retry('d')
  await client.deliveries.replay('d')
  await client.webhooks.retry('w')
  await client.subscriptions.retry('s')
  await client.payments.get('p')
  await client.events.list({ after: 'a b' })
  await client.events.getBody('e')
  await client.deliveries.getBody('d')
  await client.call('GET', '/livez', { accountId: null })
  assert.deepEqual(
    seen.map(({ method, path, headers, body }) => [
      `${method} ${path.replace('/base', '')}`,
      headers.accountid,
      ...(body ? [body] : []),
    ]),
    [
      [
        'POST /v1/webhooks/register',
        'account-1',
        '{"callbackUrl":"https://example.com/hook","sharedKey":"k"}',
      ],
      ['GET /v1/webhooks/list?page=0&size=100', 'account-1'],
      ['GET /v1/webhooks?page=2&size=5', 'account-1'],
      ['GET /v1/webhooks?kind=any&failing=true&health=true&q=a+b&sort=-createdAt', 'account-1'],
      ['GET /v1/webhooks/w%2F1', 'account-1'],
      ['PATCH /v1/webhooks/w', 'account-1', '{"status":"PAUSED"}'],
      ['DELETE /v1/webhooks/w', 'account-1'],
      [
        'POST /v1/webhooks/w/recover',
        'account-1',
        '{"since":"1970-01-01T00:00:00.000Z","states":["EXHAUSTED"]}',
      ],
      ['POST /v1/webhooks/w/recover?dryRun=true', 'account-1', '{"since":"2026-01-01T00:00:00Z"}'],
      ['PATCH /v1/webhooks/w', 'account-1', '{"events":["payment.paid"],"deliver":"latest"}'],
      ['PATCH /v1/webhooks/w', 'account-1', '{"events":null,"description":null}'],
      [
        'POST /v1/webhooks/w/replay-missing',
        'account-1',
        '{"since":"1970-01-01T00:00:00.000Z","events":["payment.*"]}',
      ],
      [
        'POST /v1/webhooks/w/replay-missing?dryRun=true',
        'account-1',
        '{"since":"2026-01-01T00:00:00Z","until":"1970-01-01T00:00:00.000Z"}',
      ],
      ['POST /v1/webhooks/w/test', 'account-1'],
      ['POST /v1/webhooks/w/verify', 'account-1', '{"headers":{"a":"b"},"body":"{}"}'],
      ['POST /v1/webhooks/w/verify', 'account-1', '{"headers":{"a":"b"},"bodyBase64":"e30="}'],
      ['POST /v1/webhooks/w/check', 'account-1'],
      [
        'POST /api/v1/payments/subscribe',
        undefined,
        '{"callbackUrl":"https://example.com/hook","sharedKey":"k","headerKey":"A","headerValue":"b"}',
      ],
      ['GET /api/v1/payments/subscriptions', undefined],
      ['GET /api/v1/payments/subscriptions/s', undefined],
      ['PATCH /api/v1/payments/subscriptions/s', undefined, '{"status":"ACTIVE"}'],
      ['PATCH /api/v1/payments/subscriptions/s', undefined, '{"document":"none"}'],
      [
        'POST /api/v1/payments/subscriptions/s/replay-missing',
        undefined,
        '{"since":"1970-01-01T00:00:00.000Z"}',
      ],
      [
        'POST /api/v1/payments/subscriptions/s/replay-missing?dryRun=true',
        undefined,
        '{"since":"1970-01-01T00:00:00.000Z"}',
      ],
      ['DELETE /api/v1/payments/subscriptions/s', undefined],
      ['PUT /v1/notices', undefined, '{"sharedKey":"k","callbackUrl":"https://example.com/hook"}'],
      ['GET /v1/notices', undefined],
      ['DELETE /v1/notices', undefined],
      [
        'GET /v1/deliveries?state=EXHAUSTED%2CPENDING&from=1970-01-01T00%3A00%3A00.000Z&limit=10',
        'account-1',
      ],
      ['GET /v1/deliveries/d', 'account-1'],
      ['POST /v1/deliveries/d/retry', 'account-1'],
      ['POST /v1/deliveries/d/replay', 'account-1'],
      ['POST /v1/webhooks/w/retry', 'account-1'],
      ['POST /api/v1/payments/subscriptions/s/retry', undefined],
      ['GET /v1/payments/p', 'account-1'],
      ['GET /v1/events?after=a+b', 'account-1'],
      ['GET /v1/events/e', 'account-1'],
      ['GET /v1/deliveries/d/body', 'account-1'],
      ['GET /livez', undefined],
    ],
  )
  for (const { headers, body } of seen) {
    assert.equal(headers.authorization, 'Bearer token-1')
    assert.equal(headers['content-type'], body ? 'application/json' : undefined)
  }
})

test('fifty calls at once fetch one token', async (t) => {
  const { client, seen, tokens } = await setUp(t, () => ({ body: {} }))
  await Promise.all(Array.from({ length: 50 }, () => client.payments.get('p')))
  assert.equal(tokens(), 1)
  assert.equal(seen.length, 50)
})

test('fifty calls that meet a refused token renew it once, and succeed', async (t) => {
  const { client, tokens } = await setUp(t, ({ headers }) =>
    headers.authorization === 'Bearer token-1'
      ? problem(401, 'invalid-token')
      : { body: { id: 'p' } },
  )
  await Promise.all(Array.from({ length: 50 }, () => client.payments.get('p')))
  assert.equal(tokens(), 2)
})

test('a 401 that a new token does not mend is the answer', async (t) => {
  const { client, seen } = await setUp(t, () => problem(401, 'invalid-token'))
  assert.equal((await errorOf(client.payments.get('p'))).code, 'invalid-token')
  assert.equal(seen.length, 2)
})

test('an error tells code, status, problem and request id, and names the fields', async (t) => {
  const errors = [{ pointer: '/callbackUrl', code: 'https-required', detail: 'Use https://.' }]
  const { client } = await setUp(t, () => problem(400, 'invalid-fields', { errors }))
  const error = await errorOf(
    client.webhooks.register({ callbackUrl: 'http://a.example', sharedKey: 'k' }),
  )
  assert.equal(error.code, 'invalid-fields')
  assert.equal(error.status, 400)
  assert.equal(error.requestId, 'r-1')
  assert.deepEqual(error.problem?.errors, errors)
  assert.match(error.message, /\/callbackUrl: Use https:/)
})

test('429 and 503 are tried again, for every call, after what Retry-After says', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { client, seen } = await setUp(t, (_seen, calls) =>
    calls === 1
      ? problem(503, 'database-away', {}, { 'retry-after': '2' })
      : calls === 2
        ? problem(429, 'too-many-requests')
        : { body: { delivered: true } },
  )
  const result = client.webhooks.test('w')
  const turn = async (count: number) => {
    while (seen.length < count) await new Promise((resolve) => setImmediate(resolve))
    for (let n = 0; n < 50; n++) await new Promise((resolve) => setImmediate(resolve))
  }
  await turn(1)
  t.mock.timers.tick(2_000)
  await turn(1)
  assert.equal(seen.length, 1, 'two seconds and the backoff are not over')
  t.mock.timers.tick(125)
  await turn(2)
  t.mock.timers.tick(250)
  assert.deepEqual(await result, { delivered: true })
  assert.equal(seen.length, 3)
})

test('it gives up after the retries, and at once when it would have to wait for long', async (t) => {
  const { client, seen } = await setUp(t, () => problem(503, 'overloaded'), { retries: 1 })
  assert.equal((await errorOf(client.payments.get('p'))).code, 'overloaded')
  assert.equal(seen.length, 2)
  const limited = await setUp(t, () =>
    problem(429, 'too-many-requests', {}, { 'retry-after': '3600' }),
  )
  assert.equal((await errorOf(limited.client.payments.get('p'))).retryAfterSeconds, 3_600)
  assert.equal(limited.seen.length, 1)
})

test('Retry-After is seconds or a date, and what is neither is passed over', async (t) => {
  const asked = async (text: string) => {
    const refuse = () => problem(429, 'too-many-requests', {}, { 'retry-after': text })
    const { client } = await setUp(t, refuse, { retries: 0 })
    return (await errorOf(client.payments.get('p'))).retryAfterSeconds
  }
  assert.equal(await asked('7'), 7)
  const inADay = await asked(new Date(Date.now() + 86_400_000).toUTCString())
  assert.ok(inADay !== undefined && inADay > 86_000 && inADay <= 86_400, String(inADay))
  assert.equal(await asked('Sun, 15 Nov 2020 05:00:00 GMT'), 0)
  assert.equal(await asked('soon'), undefined)
})

test('after a network error only what may be done twice is done again', async (t) => {
  const { client, seen } = await setUp(t, (_seen, calls) => (calls % 2 ? 'reset' : { body: {} }))
  await client.payments.get('p')
  assert.equal(seen.length, 2)
  const error = await errorOf(client.deliveries.replay('d'))
  assert.equal(error.code, 'network-error')
  assert.equal(error.status, 0)
  assert.equal(seen.length, 3)
})

test('a gateway that fails is tried again by a safe call, and its page is no secret message', async (t) => {
  const { client, seen } = await setUp(
    t,
    () => ({ status: 502, body: '<html>Bad gateway</html>' }),
    { retries: 1 },
  )
  assert.equal((await errorOf(client.payments.get('p'))).code, 'unexpected-answer')
  assert.equal(seen.length, 2)
  await errorOf(client.webhooks.test('w'))
  assert.equal(seen.length, 3)
})

test('a call that takes too long ends as a timeout', async (t) => {
  const { client } = await setUp(t, () => 'hang', { retries: 0 })
  const error = await errorOf(client.payments.get('p', { timeoutMs: 30 }))
  assert.equal(error.code, 'timeout')
})

test('an AbortSignal ends a call, also while it waits to try again', async (t) => {
  const { client } = await setUp(t, () => 'hang')
  await assert.rejects(client.payments.get('p', { signal: AbortSignal.timeout(30) }), {
    name: 'TimeoutError',
  })
  const waiting = await setUp(t, () => problem(503, 'overloaded', {}, { 'retry-after': '60' }))
  const abort = new AbortController()
  const call = waiting.client.payments.get('p', { signal: abort.signal })
  while (waiting.seen.length === 0) await new Promise((resolve) => setImmediate(resolve))
  abort.abort(new Error('enough'))
  await assert.rejects(call, /enough/)
  await assert.rejects(client.payments.get('p', { signal: AbortSignal.abort() }), {
    name: 'AbortError',
  })
})

test('one caller who gives up on the token leaves the others to it', async () => {
  let answer = (_response: Response) => {}
  const client = createClient({
    baseUrl: 'https://paybell.example',
    clientId: 'c',
    clientSecret: SECRET,
    fetch: (input) =>
      String(input).endsWith('/auth/token')
        ? new Promise((resolve) => {
            answer = resolve
          })
        : Promise.resolve(Response.json({ id: 'p' })),
  })
  const abort = new AbortController()
  const one = client.payments.get('p', { signal: abort.signal })
  const other = client.payments.get('p')
  await new Promise((resolve) => setImmediate(resolve))
  abort.abort(new Error('enough'))
  await assert.rejects(one, /enough/)
  answer(Response.json({ access_token: 't', expires_in: 3600, token_type: 'Bearer' }))
  assert.equal((await other).id, 'p')
})

test('a redirect is not followed: credentials go to the address that was given', async (t) => {
  const { client, seen } = await setUp(t, () => ({
    status: 307,
    headers: { location: '/elsewhere' },
  }))
  assert.equal((await errorOf(client.payments.get('p'))).code, 'unexpected-answer')
  assert.equal(seen.length, 1)
})

test('wrong credentials reach every caller as the answer of the token call', async (t) => {
  const { client } = await setUp(t, () => problem(401, 'invalid-credentials'), {
    fetch: (input, init) => fetch(input, init),
  })
  const errors = await Promise.all([1, 2, 3].map(() => errorOf(client.payments.get('p'))))
  for (const { code } of errors) assert.equal(code, 'invalid-credentials')
})

test('amounts are exact wherever a payment is', async (t) => {
  const { client } = await setUp(t, ({ path }) => ({
    body: path.includes('/events')
      ? `{"items":[{"payment":{"amount":{"amount":9007199254740993}}}],"next":"n"}`
      : '{"amount":{"amount":100.00}}',
  }))
  assert.equal((await client.payments.get('p')).amount.amount, '100.00')
  const { items } = await client.events.list()
  assert.equal(items[0]?.payment.amount.amount, '9007199254740993')
})

/** A feed of `total` events, two on a page; the cursor is the number of those already given. */
function feed(total: () => number) {
  return ({ path }: Seen): Reply => {
    const after = Number(new URL(path, 'http://x').searchParams.get('after') ?? 0)
    const end = Math.min(after + 2, total())
    const items = Array.from({ length: end - after }, (_, n) => ({ id: `e${after + n + 1}` }))
    return { body: { items, next: String(end) } }
  }
}

test('the events can be walked through to the end, from any cursor', async (t) => {
  const { client } = await setUp(
    t,
    feed(() => 5),
  )
  const ids: string[] = []
  for await (const event of client.events.all()) ids.push(event.id)
  assert.deepEqual(ids, ['e1', 'e2', 'e3', 'e4', 'e5'])
  const cursors: string[] = []
  for await (const page of client.events.pages({ after: '3' })) cursors.push(page.next)
  assert.deepEqual(cursors, ['5'])
})

test('the events can be followed until a signal ends it', async (t) => {
  let total = 1
  const { client } = await setUp(
    t,
    feed(() => total),
  )
  const abort = new AbortController()
  const ids: string[] = []
  const following = (async () => {
    for await (const { id } of client.events.all(
      { follow: true, pollMs: 5 },
      { signal: abort.signal },
    )) {
      ids.push(id)
      if (total++ === 3) abort.abort(new Error('enough'))
    }
  })()
  await assert.rejects(following, /enough/)
  assert.deepEqual(ids, ['e1', 'e2', 'e3'])
})

test('deliveries and pages of webhooks can be walked through', async (t) => {
  const { client } = await setUp(t, ({ path }) => {
    const query = new URL(path, 'http://x').searchParams
    if (path.includes('/deliveries')) {
      const isLast = query.get('after') === 'second'
      return { body: { items: [{ id: isLast ? 'd2' : 'd1' }], next: isLast ? null : 'second' } }
    }
    return { body: { content: [{ id: `w${query.get('page')}` }], totalPages: 3 } }
  })
  const deliveries: string[] = []
  for await (const { id } of client.deliveries.all({ state: 'PENDING' })) deliveries.push(id)
  assert.deepEqual(deliveries, ['d1', 'd2'])
  const webhooks: string[] = []
  for await (const { id } of client.webhooks.all()) webhooks.push(id)
  assert.deepEqual(webhooks, ['w0', 'w1', 'w2'])
})

test('with a private key each try brings an assertion of its own, made for this token endpoint', async (t) => {
  const { privateKey, publicKey } = await generateKeyPair('EdDSA', { extractable: true })
  const asked: Seen[] = []
  const { client } = await setUp(
    t,
    (one) => {
      if (one.path !== '/base/auth/token') return { body: {} }
      asked.push(one)
      if (asked.length === 1) return { status: 503, body: { code: 'not-ready', detail: 'Wait.' } }
      if (asked.length === 2) return 'reset'
      return { body: { access_token: 'token-1', expires_in: 3600, token_type: 'Bearer' } }
    },
    {
      // Without it the server of these tests gives tokens by itself.
      fetch: (input, init) => fetch(input, init),
      clientId: 'c',
      clientSecret: undefined,
      privateKey: await exportJWK(privateKey),
    },
  )
  const nowMs = Date.now()
  await client.payments.get('p')
  assert.equal(asked.length, 3)
  const jtis = []
  for (const { headers, body } of asked) {
    assert.equal(headers['content-type'], 'application/x-www-form-urlencoded')
    const form = new URLSearchParams(body)
    assert.deepEqual([...form.keys()], ['grant_type', 'client_assertion_type', 'client_assertion'])
    const assertion = form.get('client_assertion') ?? ''
    const { payload, protectedHeader } = await jwtVerify(assertion, publicKey)
    assert.deepEqual(protectedHeader, { alg: 'EdDSA', typ: 'JWT' })
    assert.deepEqual([payload.iss, payload.sub], ['c', 'c'])
    assert.match(String(payload.aud), /^http:\/\/127\.0\.0\.1:\d+\/base\/auth\/token$/)
    assert.equal(Number(payload.exp) - Number(payload.iat), 120)
    assert.ok(Math.abs(Number(payload.iat) * 1_000 - nowMs) < 60_000)
    jtis.push(payload.jti)
  }
  assert.equal(new Set(jtis).size, 3)
})

test('the private key is never shown, and what cannot be one is refused at once', async () => {
  const good = { baseUrl: 'https://paybell.example', clientId: 'c' }
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const jwk = await exportJWK(privateKey)
  const client = createClient({ ...good, privateKey: jwk })
  assert.ok(!inspect(client, { depth: 9, showHidden: true }).includes(String(jwk.d)))
  assert.ok(!JSON.stringify(client).includes(String(jwk.d)))
  for (const [changes, message] of [
    [{ privateKey: 'no key' }, /privateKey is not PEM/],
    [{ privateKey: jwk, clientSecret: SECRET }, /clientSecret or privateKey, not both/],
    [{}, /clientSecret is missing. Give it, or privateKey/],
  ] as const) {
    assert.throws(() => createClient({ ...good, ...changes } as ClientOptions), message)
  }
})

test('options that cannot work are refused at once, and the secret is never shown', () => {
  const good = { baseUrl: 'https://paybell.example', clientId: 'c', clientSecret: SECRET }
  for (const [changes, message] of [
    [{ baseUrl: undefined }, /baseUrl is missing/],
    [{ baseUrl: 'paybell.example' }, /baseUrl is missing or no URL/],
    [{ baseUrl: 'http://paybell.example' }, /must be https/],
    [{ clientId: undefined }, /clientId is missing/],
    [{ clientSecret: '' }, /clientSecret is missing/],
  ] as const) {
    assert.throws(() => createClient({ ...good, ...changes } as ClientOptions), message)
  }
  createClient({ ...good, baseUrl: 'http://paybell.internal', allowInsecureHttp: true })
  const client = createClient(good)
  assert.ok(!inspect(client, { depth: 9, showHidden: true }).includes(SECRET))
  assert.throws(() => client.payments.get(undefined as never), /id is missing/)
})
