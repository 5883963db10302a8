// The published interface and the service agree: what the schema refuses is a 400, and what it accepts is
// accepted. On the whole service, over real sockets, with its own /openapi.json as the judge.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { Caller } from '../../../test/support/caller.ts'
import { addClient, startPaybell } from '../../../test/support/paybell.ts'
import { SAMPLE } from '../../../test/support/payment-sample.ts'
import { isUuid } from '../../core/plain/uuid.ts'

const paybell = await startPaybell({ after })
const facts = await addClient(paybell)
const caller = new Caller(facts)
const document = (await (await fetch(`${paybell.baseUrl}/openapi.json`)).json()) as {
  paths: Record<string, Record<string, Operation>>
}
const formats = { uuid: isUuid, 'date-time': true, uri: true, byte: true } as const
const ajv = new Ajv2020({ strict: false, formats })

type Operation = {
  parameters?: { name: string; in: string; schema: object }[]
  requestBody?: { content: Record<string, { schema: object }> }
  responses: Record<string, unknown>
}

function operation(method: string, path: string): Operation {
  return document.paths[path]?.[method] as Operation
}

function accepts(schema: object, value: unknown): boolean {
  return ajv.compile(schema)(value) as boolean
}

function bodySchema(method: string, path: string, type = 'application/json'): object {
  return operation(method, path).requestBody?.content[type]?.schema as object
}

async function call(
  method: string,
  path: string,
  body: unknown,
  as: 'client' | 'operator',
  type = 'application/json',
): Promise<{ status: number; text: string }> {
  const token = as === 'client' ? await caller.token() : paybell.operatorKey
  const answer = await fetch(`${paybell.baseUrl}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      accountid: facts.accountId,
      'x-paybell-console': '1',
      ...(body === undefined ? {} : { 'content-type': type }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: answer.status, text: await answer.text() }
}

const long = (characters: number) => 'x'.repeat(characters)
const withDocument = (changes: object) => ({ document: { ...SAMPLE.document, ...changes } })

/** Members of a payment that the service refuses, and some that it takes. */
const PAYMENTS: readonly Record<string, unknown>[] = [
  {},
  { amount: { amount: -1, currency: 'EUR' } },
  { amount: { amount: 0, currency: 'EUR' } },
  { externalId: '' },
  { externalId: long(1_024) },
  { externalId: long(1_025) },
  { externalId: 'a\0b' },
  { reference: '' },
  { reference: long(1_025) },
  { status: { state: 'DRAFT', reason: long(1_025) } },
  { status: { state: 'DRAFT', reason: '' } },
  { documentReference: long(1_025) },
  withDocument({ name: '' }),
  withDocument({ name: long(1_025) }),
  withDocument({ mediaType: '' }),
  withDocument({ mediaType: 'pdf' }),
  withDocument({ mediaType: 'Text/Plain; charset=utf-8' }),
  withDocument({ mediaType: `application/${long(320)}` }),
  withDocument({ base64EncodedFile: '' }),
  withDocument({ base64EncodedFile: 'no base64' }),
  withDocument({ base64EncodedFile: 'AAB=' }),
  withDocument({ base64EncodedFile: 'AAA=' }),
  withDocument({ base64EncodedFile: 'AB==' }),
  withDocument({ base64EncodedFile: 'AA' }),
  { version: 9007199254740992 },
  { version: 1.5 },
  { createdAt: undefined },
  { id: null, status: null, complete: null, createdAt: null, completedAt: null },
  { documentReference: null, document: null, version: null },
  { status: { state: 'DRAFT', reason: null } },
  { externalId: null },
  { amount: null },
]

test('every schema of a request is one, by the rules of JSON Schema', () => {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => [`${method} ${path}`, one] as const),
  )
  const schemas = operations.flatMap(([name, { parameters = [], requestBody }]) => {
    const bodies = Object.values(requestBody?.content ?? {})
    return [...parameters, ...bodies].map(({ schema }) => [name, schema] as const)
  })
  assert.ok(schemas.length > 100)
  for (const [name, schema] of schemas) assert.equal(ajv.validateSchema(schema), true, name)
  assert.equal(ajv.validateSchema({ type: 'text' }), false, 'it does look')
})

test('regression: a payment that fits the published schema is taken, and no other', async () => {
  const schema = bodySchema('put', '/operator/v1/payments/{id}')
  for (const changes of PAYMENTS) {
    const body = JSON.parse(JSON.stringify({ ...SAMPLE, id: undefined, ...changes }))
    const { status, text } = await call(
      'PUT',
      `/operator/v1/payments/${randomUUID()}`,
      body,
      'operator',
    )
    const label = `${JSON.stringify(changes).slice(0, 80)}: ${text.slice(0, 300)}`
    assert.ok(status === 201 || status === 400, label)
    assert.equal(accepts(schema, body), status === 201, label)
  }
})

test('regression: a line without createdAt and with nulls fits the published schema', async () => {
  const type = 'application/x-ndjson'
  const schema = bodySchema('post', '/operator/v1/payments/batch', type)
  const line = { accountId: facts.accountId, ...SAMPLE, id: randomUUID(), document: null }
  const body = JSON.parse(JSON.stringify({ ...line, createdAt: undefined }))
  const { text } = await call('POST', '/operator/v1/payments/batch', body, 'operator', type)
  assert.match(text, /"event":\{/)
  assert.ok(accepts(schema, body))
})

const URL_OF = 'https://example.com/paybell'
const header = (headerKey: string, headerValue: string) => ({
  callbackUrl: URL_OF,
  sharedKey: 'a-key-of-16-characters',
  headerKey,
  headerValue,
})

test('regression: what clients send is bounded in the published schema as in the service', async () => {
  const cases: [method: string, path: string, body: unknown][] = [
    ...['', '   ', 'a\u0007b', long(257), 'k', 'Key of two words'].map(
      (sharedKey): [string, string, unknown] => [
        'POST',
        '/v1/webhooks/register',
        { callbackUrl: URL_OF, sharedKey },
      ],
    ),
    ...[
      'ftp://example.com',
      'https://u:p@example.com',
      'https://example.com/#f',
      'HTTPS://example.com/A',
      'https://exa mple.com',
      '',
      'https://example.com/a@b',
    ].map((callbackUrl): [string, string, unknown] => [
      'POST',
      '/v1/webhooks/register',
      { callbackUrl, sharedKey: 'a-key-of-16-characters' },
    ]),
    ...[
      header('X-Own', 'value'),
      header('X Own', 'value'),
      header('', 'value'),
      header(long(65), 'value'),
      header('X-Own', ''),
      header('X-Own', ' value'),
      header('X-Own', 'é'),
      header('X-Own', 'two words'),
    ].map((body): [string, string, unknown] => ['POST', '/api/v1/payments/subscribe', body]),
  ]
  for (const [method, path, body] of cases) {
    const { status, text } = await call(method, path, body, 'client')
    const label = `${path} ${JSON.stringify(body)}: ${status} ${text}`
    assert.ok(status < 300 || status === 400, label)
    assert.equal(accepts(bodySchema(method.toLowerCase(), path), body), status < 300, label)
  }
})

test('regression: the schema says which of two members belongs in a body', async () => {
  const verify = bodySchema('post', '/v1/webhooks/{id}/verify')
  const outcomes = bodySchema('post', '/v1/listeners/{id}/outcomes')
  const signIn = bodySchema('post', '/console/session')
  const offerId = randomUUID()
  const cases: [object, object, boolean][] = [
    [verify, { headers: {}, body: '{}' }, true],
    [verify, { headers: {}, bodyBase64: 'e30=' }, true],
    [verify, { headers: {} }, false],
    [verify, { headers: {}, body: '{}', bodyBase64: 'e30=' }, false],
    [verify, { headers: {}, bodyBase64: '{}' }, false],
    [outcomes, { offerId, status: 200 }, true],
    [outcomes, { offerId, error: 'timeout' }, true],
    [outcomes, { offerId }, false],
    [outcomes, { offerId, status: 200, error: 'timeout' }, false],
    [signIn, { operatorKey: 'k' }, true],
    [signIn, { clientId: 'c', clientSecret: 's' }, true],
    [signIn, { clientId: 'c' }, false],
    [signIn, { operatorKey: 'k', link: 'l' }, false],
    [signIn, {}, false],
  ]
  for (const [schema, body, isTaken] of cases) {
    assert.equal(accepts(schema, body), isTaken, JSON.stringify(body))
  }
})

test('regression: the filter by state and names of clients are bounded in the schema', async () => {
  const named = bodySchema('post', '/operator/v1/clients')
  for (const name of ['', '  ', 'a\0b', 'Northwind']) {
    const { status } = await call('POST', '/operator/v1/clients', { name }, 'operator')
    assert.equal(accepts(named, { name }), status === 201, JSON.stringify(name))
  }
  const state = operation('get', '/v1/deliveries').parameters?.find(({ name }) => name === 'state')
  for (const value of ['PENDING', 'PENDING,EXHAUSTED', 'pending', 'LOST', 'PENDING,', '']) {
    const path = `/v1/deliveries?state=${encodeURIComponent(value)}`
    const { status } = await call('GET', path, undefined, 'client')
    assert.equal(accepts(state?.schema as object, value), status === 200, value)
  }
})

test('regression: every operation tells of 431, and the console’s of its header', () => {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
  // An operation that declares no problem at all, such as /livez, declares none of these either.
  const withProblems = operations.filter(({ responses }) => '500' in responses)
  assert.ok(withProblems.length > 50)
  for (const { responses } of withProblems) assert.ok('431' in responses)
  for (const method of ['post', 'delete']) {
    const names = operation(method, '/console/session').parameters?.map(({ name }) => name)
    assert.ok(names?.includes('X-Paybell-Console'), method)
  }
})

test('no format of our own reaches the published interface', () => {
  const ours = /"format":"(callback-url|shared-key|header-key|header-value|text)"/
  assert.doesNotMatch(JSON.stringify(document), ours)
  assert.doesNotMatch(JSON.stringify(document), /"published"/)
})

/** A parameter of a query, as a client that follows the schema would judge it. */
function parameter(method: string, path: string, name: string): object {
  const found = operation(method, path).parameters?.find((one) => one.name === name)
  return found?.schema ?? assert.fail(`${path} has no ${name}`)
}

test('regression: whole numbers of a query have a greatest one, and a greater one is said to be too large', async () => {
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const one of Object.values(methods)) {
      for (const { name, in: place, schema } of one.parameters ?? []) {
        const { type, maximum } = schema as { type?: string; maximum?: number }
        if (place !== 'query' || type !== 'integer') continue
        assert.ok(Number.isSafeInteger(maximum), `${path} ${name}`)
      }
    }
  }
  for (const [path, name] of [
    ['/v1/webhooks', 'page'],
    ['/v1/webhooks', 'size'],
    ['/v1/deliveries', 'limit'],
  ] as const) {
    const { maximum } = parameter('get', path, name) as { maximum: number }
    for (const [value, status] of [
      [String(maximum), 200],
      [String(BigInt(maximum) + 1n), 400],
      ['9'.repeat(40), 400],
    ] as const) {
      const answer = await call('GET', `${path}?${name}=${value}`, undefined, 'client')
      assert.equal(answer.status, status, answer.text)
      if (status === 400) assert.equal(JSON.parse(answer.text).errors[0].code, 'too-large')
    }
  }
})

test('regression: outcomes that fit the published pattern are taken, and no others', async () => {
  const words = ['503', '5xx', '99', '6xx', '999', 'answered', 'none', 'timeout', 'no-address']
  const lists = ['none,503', 'none,', ',none', 'a', 'dns-error', 'blocked-address', 'nonesuch']
  for (const [as, path] of [
    ['client', '/v1/deliveries'],
    ['operator', '/operator/v1/deliveries'],
  ] as const) {
    for (const word of [...words, ...lists]) {
      const schema = parameter('get', path, 'outcome')
      const { status } = await call('GET', `${path}?outcome=${word}`, undefined, as)
      assert.equal(accepts(schema, word), status === 200, `${as} ${word}`)
    }
  }
})

test('regression: a statement takes whole hours, and its schema says so', async () => {
  const path = '/v1/webhooks/{id}/statement'
  const schema = parameter('get', path, 'from')
  for (const [from, isWhole] of [
    ['2026-03-02T09:00:00Z', true],
    ['2026-03-02T09:00:00.000Z', true],
    ['2026-03-02T09:00:00+02:00', true],
    ['2026-03-02T09:30:00+05:30', true],
    ['2026-03-02T09:30:00-03:30', true],
    ['2026-03-02T09:45:00+05:45', true],
    ['2026-03-02T09:30:00Z', false],
    ['2026-03-02T09:00:01Z', false],
    ['2026-03-02T09:00:00.001Z', false],
    ['2026-03-02T09:00:00+05:30', false],
  ] as const) {
    assert.equal(accepts(schema, from), isWhole, from)
    const period = `from=${encodeURIComponent(from)}&to=2026-03-03T00:00:00Z`
    const asked = path.replace('{id}', randomUUID())
    const { text } = await call('GET', `${asked}?${period}`, undefined, 'client')
    assert.equal(text.includes('not-a-whole-hour'), !isWhole, `${from} ${text}`)
  }
})
