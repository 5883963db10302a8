// Every operation of both interfaces, as /openapi.json lists them: what it does not know is refused, and named.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test from 'node:test'
import { cloneDatabase } from '../../test/support/database.ts'
import {
  assertProblem,
  OPERATOR_KEY,
  onboard,
  serveHttp,
  type TestServer,
} from '../../test/support/injected-server.ts'

const { pool } = await cloneDatabase()

/** Those of the first interface, which ignore what resembles nothing. */
const TOLERANT = new Set(['issueToken', 'subscribe', 'registerWebhook', 'listWebhooks'])

interface Operation {
  operationId: string
  method: string
  url: string
  query: readonly string[]
  /** The members of its JSON body; null where it has none. */
  body: readonly string[] | null
  /** Whether its body is of another kind, such as lines. */
  isForm: boolean
  isClosed: boolean
  /** A body that conforms, where it has one. */
  example: object | undefined
}

async function operationsOf({ app }: TestServer): Promise<readonly Operation[]> {
  const { paths } = (await app.inject('/openapi.json')).json()
  return Object.entries(paths as Record<string, Record<string, Shown>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, shown]) => {
      const schema = shown.requestBody?.content['application/json']?.schema
      const parameters = (shown.parameters ?? []).filter((one) => one.in === 'query')
      return {
        operationId: shown.operationId,
        method: method.toUpperCase(),
        url: path.replaceAll(/\{\w+\}/g, randomUUID()),
        query: parameters.map((one) => one.name),
        body: schema?.properties ? Object.keys(schema.properties) : null,
        isForm: shown.requestBody !== undefined && schema === undefined,
        isClosed: schema?.additionalProperties === false,
        example: exampleOf(shown),
      }
    }),
  )
}

interface Shown {
  operationId: string
  parameters?: { in: string; name: string }[]
  requestBody?: {
    content: Record<string, Body>
  }
}

interface Body {
  schema: { properties?: object; additionalProperties?: boolean; examples?: object[] }
  example?: object
  examples?: Record<string, { value: object }>
}

function exampleOf({ requestBody }: Shown): object | undefined {
  const body = requestBody?.content['application/json']
  const [first] = Object.values(body?.examples ?? {})
  return first?.value ?? body?.example ?? body?.schema.examples?.[0]
}

type Fields = readonly { pointer: string; code: string; detail: string }[]

async function setUp(t: test.TestContext) {
  const server = await serveHttp(t, pool)
  const { token, accountId } = await onboard(server)
  const ask = async (operation: Operation, query: string, payload: object | undefined) => {
    const isOperator = operation.url.startsWith('/operator/')
    const answer = await server.app.inject({
      method: operation.method as 'POST',
      url: `${operation.url}${query}`,
      headers: {
        authorization: `Bearer ${isOperator ? OPERATOR_KEY : token}`,
        accountid: accountId,
        ...(operation.operationId === 'putPayments'
          ? { 'content-type': 'application/x-ndjson' }
          : {}),
      },
      ...(payload === undefined ? {} : { payload }),
    })
    return {
      answer,
      errors: (answer.statusCode === 400 ? (answer.json().errors ?? []) : []) as Fields,
    }
  }
  const all = await operationsOf(server)
  const operations = all.filter(
    ({ url }) => /^\/(operator\/v1|v1|api)\//.test(url) || url === '/auth/token',
  )
  assert.ok(operations.length > 80, `${operations.length} operations`)
  return { server, operations, ask, accountId }
}

const find = (errors: Fields, pointer: string) => errors.find((one) => one.pointer === pointer)

test('every operation refuses a parameter that it does not know, except the first four', async (t) => {
  const { operations, ask } = await setUp(t)
  for (const operation of operations) {
    const { errors } = await ask(operation, '?nothingLikeIt=1', operation.example)
    const found = find(errors, '/nothingLikeIt')
    const expected = TOLERANT.has(operation.operationId) ? undefined : 'unknown'
    assert.equal(found?.code, expected, operation.operationId)
  }
})

test('every operation names the parameter that a misspelt one stands for', async (t) => {
  const { operations, ask } = await setUp(t)
  for (const operation of operations) {
    for (const name of operation.query) {
      const spelt = name.toUpperCase()
      const { answer, errors } = await ask(operation, `?${spelt}=1`, operation.example)
      assertProblem(answer, 400, 'invalid-query')
      const detail = `${spelt} is not known here. Did you mean ${name}?`
      assert.deepEqual(find(errors, `/${spelt}`)?.detail, detail, operation.operationId)
    }
  }
})

test('every operation refuses a member that it does not know, except the first four, and says so in its schema', async (t) => {
  const { operations, ask } = await setUp(t)
  const withBody = operations.filter(({ body }) => body !== null)
  assert.ok(withBody.length > 20, `${withBody.length} bodies`)
  for (const operation of withBody) {
    const isTolerant = TOLERANT.has(operation.operationId)
    assert.equal(operation.isClosed, !isTolerant, operation.operationId)
    const { answer, errors } = await ask(operation, '', { nothingLikeIt: 1 })
    if (operation.operationId === 'putPayment' && answer.statusCode === 404) continue
    const found = find(errors, '/nothingLikeIt')
    assert.equal(found?.code, isTolerant ? undefined : 'unknown', operation.operationId)
    for (const name of operation.body ?? []) {
      const spelt = `${name}X`
      const misspelt = find((await ask(operation, '', { [spelt]: 1 })).errors, `/${spelt}`)
      const known = new Set(operation.body)
      if (known.has(spelt) || name.length < 3) continue
      assert.match(
        misspelt?.detail ?? '',
        new RegExp(`^${spelt} .* Did you mean ${name}\\?$`),
        name,
      )
    }
  }
})

test('regression: an operation that takes no body refuses whatever is in one', async (t) => {
  const { operations, ask } = await setUp(t)
  const without = operations.filter(
    ({ body, method, isForm }) => body === null && !isForm && method !== 'GET',
  )
  assert.ok(without.length > 10, `${without.length} operations`)
  for (const operation of without) {
    const { errors } = await ask(operation, '', { nothingLikeIt: 1 })
    assert.equal(find(errors, '/nothingLikeIt')?.code, 'unknown', operation.operationId)
    const list = await ask(operation, '', [1])
    assert.equal(find(list.errors, '')?.code, 'wrong-type', operation.operationId)
    const empty = await ask(operation, '', {})
    assert.equal(find(empty.errors, ''), undefined, operation.operationId)
  }
})

test('the first four take more than they read, and name what was misspelt', async (t) => {
  const { server, accountId } = await setUp(t)
  const { clientId, clientSecret, token } = await onboard(server)
  const { body: openAccount } = await server.app.inject({
    method: 'POST',
    url: `/operator/v1/clients/${clientId}/accounts`,
    headers: { authorization: `Bearer ${OPERATOR_KEY}` },
    payload: { name: 'Own' },
  })
  const headers = { authorization: `Bearer ${token}`, accountid: JSON.parse(openAccount).id }
  assert.notEqual(headers.accountid, accountId)
  const post = (url: string, payload: object) =>
    server.app.inject({ method: 'POST', url, headers, payload })
  const more = { webhookUrl: 'https://example.com/other', name: 'x', metadata: { a: 1 }, status: 1 }
  const endpoint = { callbackUrl: 'https://example.com/p', sharedKey: 'a-long-shared-key' }
  const credentials = { clientId, clientSecret }
  assert.equal((await post('/auth/token?trace=1', { ...credentials, ...more })).statusCode, 200)
  assert.equal((await post('/v1/webhooks/register', { ...endpoint, ...more })).statusCode, 200)
  const subscribed = await post('/api/v1/payments/subscribe', { ...endpoint, ...more })
  assert.equal(subscribed.statusCode, 201)
  const list = (query: string) => server.app.inject({ url: `/v1/webhooks/list${query}`, headers })
  assert.equal((await list('?page=0&size=20&since=x&sort=name&_=1')).statusCode, 200)

  const cases = [
    [
      await post('/v1/webhooks/register', { ...endpoint, event: ['payment.paid'] }),
      'event',
      'events',
    ],
    [await post('/v1/webhooks/register', { ...endpoint, Events: [] }), 'Events', 'events'],
    [
      await post('/v1/webhooks/register', { sharedKey: 'x'.repeat(16), callbackURL: 'x' }),
      'callbackURL',
      'callbackUrl',
    ],
    [
      await post('/api/v1/payments/subscribe', { ...endpoint, headerkey: 'x' }),
      'headerkey',
      'headerKey',
    ],
    [await post('/auth/token', { clientID: clientId, clientSecret }), 'clientID', 'clientId'],
    [await list('?pages=1'), 'pages', 'page'],
    [await list('?Size=1'), 'Size', 'size'],
  ] as const
  for (const [answer, spelt, meant] of cases) {
    assert.equal(answer.statusCode, 400)
    const detail = `${spelt} is not known here. Did you mean ${meant}?`
    assert.equal(find(answer.json().errors, `/${spelt}`)?.detail, detail)
  }
})

test('the token form ignores what it does not know, and names what was misspelt', async (t) => {
  const { server } = await setUp(t)
  const { clientId, clientSecret } = await onboard(server)
  const send = (more: Record<string, string>, id = 'client_id') =>
    server.app.inject({
      method: 'POST',
      url: '/auth/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({
        grant_type: 'client_credentials',
        [id]: clientId,
        client_secret: clientSecret,
        ...more,
      }).toString(),
    })
  assert.equal((await send({ audience: 'x', resource: 'y', scope: 'z' })).statusCode, 200)
  for (const [answer, spelt, meant] of [
    [await send({}, 'clientId'), 'clientId', 'client_id'],
    [await send({ scopes: 'a' }), 'scopes', 'scope'],
  ] as const) {
    const { errors } = assertProblem(answer, 400, 'invalid-fields')
    const detail = `${spelt} is not known here. Did you mean ${meant}?`
    assert.equal(find((errors ?? []) as Fields, `/${spelt}`)?.detail, detail)
  }
})
