// /api/v1/payments/subscribe and /subscriptions (decisions, Subscriptions; reliability T5, H1 to H4).

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test from 'node:test'
import { cloneDatabase } from '../../../../test/support/database.ts'
import {
  call,
  postEndpoint,
  SUBSCRIPTIONS,
  WEBHOOKS,
} from '../../../../test/support/injected-calls.ts'
import {
  assertProblem,
  onboard,
  serveHttp,
  type TestClient,
  type TestServer,
} from '../../../../test/support/injected-server.ts'
import { sealedFor } from '../../../store/secrets/endpoint-secrets.ts'

const { pool } = await cloneDatabase()
const NIL = '00000000-0000-0000-0000-000000000000'
const KEY = 'a-shared-key-of-some-length'

function subscribe(server: TestServer, client: TestClient, more: object = {}) {
  const body = { callbackUrl: 'https://example.com/s', sharedKey: KEY, ...more }
  return postEndpoint(server, { headers: client.bearer }, body, SUBSCRIPTIONS)
}

async function store(server: TestServer, client: TestClient, text: string, at: number) {
  const changedAt = new Date(server.clock.nowMs() + at)
  await pool.query(
    `insert into payments (client_key, id, account_id, sequence, text, accepted_at, changed_at)
     values ($1, $2, $3, 1, $4, $5, $5)`,
    [client.clientKey, randomUUID(), client.accountId, text, changedAt],
  )
}

test('subscribing answers 201, a Location and, without payments, the specimen', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const answer = await subscribe(server, client)
  assert.equal(answer.statusCode, 201)
  assert.match(String(answer.headers['content-type']), /^application\/json/)
  assert.match(
    String(answer.headers.location),
    /^\/api\/v1\/payments\/subscriptions\/[0-9a-f-]{36}$/,
  )
  const payment = answer.json()
  assert.deepEqual(
    [payment.id, payment.quoteId, payment.beneficiaryId, payment.externalId, payment.reference],
    [NIL, NIL, NIL, 'SPECIMEN', 'SPECIMEN'],
  )
  assert.equal(payment.status.state, 'DRAFT')
  assert.ok(payment.createdAt && payment.purposeOfPayment && payment.amount.currency)
})

test('the Location leads to the subscription', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const { headers } = await subscribe(server, client)
  const answer = await call(server, client.bearer, 'GET', String(headers.location))
  assert.equal(answer.statusCode, 200)
  assert.equal(answer.json().endpointUrl, 'https://example.com/s')
  assert.ok('health' in answer.json())
})

test('subscribing needs a token', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const answer = await subscribe(server, { ...client, bearer: {} as TestClient['bearer'] })
  assertProblem(answer, 401, 'missing-token')
})

test('T5: the answer is the client’s own latest payment, digit for digit, never another’s', async (t) => {
  const server = await serveHttp(t, pool)
  const [client, other] = [await onboard(server), await onboard(server, 'Other')]
  const text = (id: string) => `{"id":"${id}","amount":{"amount":100.00,"currency":"EUR"}}`
  await store(server, client, text('older'), 0)
  await store(server, client, text('mine'), 1_000)
  await store(server, other, text('foreign'), 2_000)
  const answer = await subscribe(server, client)
  assert.equal(answer.body, text('mine'))
  assert.equal((await subscribe(server, other)).body, text('foreign'))
})

test('the same address again replaces key and header: 201, the same Location, no copy', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const header = { headerKey: 'Authorization', headerValue: 'Basic abc' }
  const first = await subscribe(server, client, header)
  const read = async () => {
    const id = String(first.headers.location).split('/').at(-1) as string
    const { rows } = await pool.query('select * from endpoints where id = $1', [id])
    return { id, row: rows[0] }
  }
  const { row } = await read()
  assert.equal(row.header_name, 'Authorization')
  const place = sealedFor('header_value', row)
  assert.equal(server.deps.sealer.open(row.header_value, place).toString(), 'Basic abc')

  const again = await subscribe(server, client, { sharedKey: 'key two' })
  assert.equal(again.statusCode, 201)
  assert.equal(again.headers.location, first.headers.location)
  const after = (await read()).row
  assert.deepEqual([after.header_name, after.header_value], [null, null])
  assert.ok(after.previous_key)
  const page = (await call(server, client.bearer, 'GET', SUBSCRIPTIONS.path)).json()
  assert.equal(page.totalElements, 1)
})

test('a subscription and a webhook may share an address', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  await subscribe(server, client)
  const body = { callbackUrl: 'https://example.com/s', sharedKey: KEY }
  assert.equal((await postEndpoint(server, client, body)).statusCode, 200)
  const list = async (url: string) =>
    (await call(server, client.bearer, 'GET', url)).json().totalElements
  assert.deepEqual([await list(SUBSCRIPTIONS.path), await list(WEBHOOKS.path)], [1, 1])
})

test('H4: headerKey and headerValue come together or not at all', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  for (const [body, pointer] of [
    [{ headerKey: 'X-A' }, '/headerValue'],
    [{ headerValue: 'a' }, '/headerKey'],
  ] as const) {
    const problem = assertProblem(await subscribe(server, client, body), 400, 'invalid-fields')
    assert.deepEqual(
      problem.errors?.map((error) => [error.pointer, error.code]),
      [[pointer, 'missing']],
    )
  }
  const both = { headerKey: 'X-A', headerValue: 'a' }
  assert.equal((await subscribe(server, client, both)).statusCode, 201)
})

test('H1, H2, H3: bad header names and values are 400, each with its pointer', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const expect = async (body: object, pointer: string, code?: string) => {
    const problem = assertProblem(await subscribe(server, client, body), 400, 'invalid-fields')
    assert.deepEqual(
      problem.errors?.map((error) => error.pointer),
      [pointer],
    )
    if (code) assert.equal(problem.errors?.[0]?.code, code)
  }
  for (const headerKey of ['X-A\r\nHost: evil', 'X A', '', 'X-Ünï', 'x'.repeat(65), ':a', 5]) {
    await expect({ headerKey, headerValue: 'a' }, '/headerKey')
  }
  for (const headerValue of [
    'a\r\nX: 1',
    'a\tb',
    'é',
    '\u010a',
    '',
    ' a',
    'x'.repeat(1_025),
    null,
  ]) {
    await expect({ headerKey: 'X-A', headerValue }, '/headerValue')
  }
  for (const headerKey of ['Host', 'content-type', 'Webhook_Id', 'X-PAYBELL-hmac', 'cookie']) {
    await expect({ headerKey, headerValue: 'a' }, '/headerKey', 'forbidden-header')
  }
})

test('A9: neither the shared key nor the header value is ever shown again', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const canary = { sharedKey: 'canary-key', headerKey: 'X-Canary', headerValue: 'canary-value' }
  const first = await subscribe(server, client, canary)
  const item = await call(server, client.bearer, 'GET', String(first.headers.location))
  const list = await call(server, client.bearer, 'GET', SUBSCRIPTIONS.path)
  for (const answer of [first, item, list]) assert.doesNotMatch(answer.body, /canary/i)
  assert.doesNotMatch(server.log.join(''), /canary/i)
  const { rows } = await pool.query('select endpoints::text as text from endpoints')
  const hex = Buffer.from('canary').toString('hex')
  assert.ok(rows.every(({ text }) => !text.includes('canary-') && !text.includes(hex)))
})

test('a subscription is paused, resumed and deleted like a webhook', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const url = String((await subscribe(server, client)).headers.location)
  const ask = (method: 'PATCH' | 'DELETE' | 'GET', payload?: object) =>
    server.app.inject({ method, url, headers: client.bearer, ...(payload ? { payload } : {}) })
  assert.equal((await ask('PATCH', { status: 'PAUSED' })).json().status, 'PAUSED')
  assert.equal((await ask('PATCH', { status: 'ACTIVE' })).json().status, 'ACTIVE')
  assert.equal((await ask('DELETE')).statusCode, 204)
  for (const method of ['GET', 'DELETE'] as const) {
    assertProblem(await ask(method), 404, 'not-found')
  }
})

test("T2: another client's subscription is 404 for every verb", async (t) => {
  const server = await serveHttp(t, pool)
  const [owner, other] = [await onboard(server), await onboard(server, 'Other')]
  const url = String((await subscribe(server, owner)).headers.location)
  for (const method of ['GET', 'DELETE', 'PATCH'] as const) {
    const payload = method === 'PATCH' ? { status: 'PAUSED' } : undefined
    const headers = other.bearer
    const answer = await server.app.inject({ method, url, headers, ...(payload && { payload }) })
    assertProblem(answer, 404, 'not-found')
  }
  assert.equal((await call(server, owner.bearer, 'GET', url)).json().status, 'ACTIVE')
})

test('the 51st subscription of a client is 409', async (t) => {
  const server = await serveHttp(t, pool, { env: { PAYBELL_MAX_ENDPOINTS: '2' } })
  const client = await onboard(server)
  for (const path of ['1', '2']) {
    const callbackUrl = `https://example.com/${path}`
    assert.equal((await subscribe(server, client, { callbackUrl })).statusCode, 201)
  }
  const third = await subscribe(server, client, { callbackUrl: 'https://example.com/3' })
  assertProblem(third, 409, 'too-many-endpoints')
})

test('a wrong AccountId is 403 here too, although none is needed', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const headers = { ...client.bearer, accountid: randomUUID() }
  assertProblem(await call(server, headers, 'GET', SUBSCRIPTIONS.path), 403, 'invalid-account')
})
