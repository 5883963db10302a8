// /operator/v1/clients (decisions, the operator's side §1; Tokens §6).

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test from 'node:test'
import { cloneDatabase } from '../../../../test/support/database.ts'
import { call, OPERATOR } from '../../../../test/support/injected-calls.ts'
import {
  assertProblem,
  OPERATOR_KEY,
  serveHttp,
  type TestServer,
} from '../../../../test/support/injected-server.ts'

const { pool } = await cloneDatabase()
const PATH = '/operator/v1/clients'

function ask(
  server: TestServer,
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  url: string,
  body?: object,
) {
  return call(server, OPERATOR, method, PATH + url, body)
}

function login(server: TestServer, clientId: string, clientSecret: string) {
  const payload = { clientId, clientSecret }
  return server.app.inject({ method: 'POST', url: '/auth/token', payload })
}

test('a new client gets an id and a secret of 256 bits, shown once and stored as an HMAC', async (t) => {
  const server = await serveHttp(t, pool)
  const answer = await ask(server, 'POST', '', { name: 'Ünï ☂ Ltd' })
  assert.equal(answer.statusCode, 201)
  const client = answer.json()
  assert.deepEqual(Object.keys(client), ['clientId', 'clientSecret', 'name'])
  assert.equal(client.name, 'Ünï ☂ Ltd')
  assert.match(client.clientSecret, /^pbs_[\w-]{43}$/)
  assert.equal((await login(server, client.clientId, client.clientSecret)).statusCode, 200)
  const item = await ask(server, 'GET', `/${client.clientId}`)
  assert.ok(!item.body.includes(client.clientSecret))
  const { rows } = await pool.query('select client_secrets::text as text from client_secrets')
  const hex = Buffer.from(client.clientSecret).toString('hex')
  assert.ok(rows.every(({ text }) => !text.includes(client.clientSecret) && !text.includes(hex)))
})

test('a name has 1 to 200 characters of well-formed text', async (t) => {
  const server = await serveHttp(t, pool)
  assert.equal((await ask(server, 'POST', '', { name: '☂'.repeat(200) })).statusCode, 201)
  for (const [name, code] of [
    ['', 'empty'],
    ['   ', 'blank'],
    ['x'.repeat(201), 'too-long'],
    ['a\0b', 'invalid-text'],
    ['\ud800', 'invalid-text'],
    [7, 'wrong-type'],
    [undefined, 'missing'],
  ] as const) {
    const answer = await ask(server, 'POST', '', { name })
    const problem = assertProblem(answer, 400, 'invalid-fields')
    assert.deepEqual(
      problem.errors?.map((error) => [error.pointer, error.code]),
      [['/name', code]],
    )
  }
})

test('clients are listed as a page, without secrets', async (t) => {
  const server = await serveHttp(t, pool)
  await ask(server, 'POST', '', { name: 'Listed' })
  const page = (await ask(server, 'GET', '?size=1&page=0')).json()
  assert.deepEqual(Object.keys(page), ['content', 'totalPages', 'totalElements', 'size', 'number'])
  assert.deepEqual(Object.keys(page.content[0]), [
    'clientId',
    'name',
    'status',
    'credentials',
    'createdAt',
  ])
  assert.equal(page.content.length, 1)
  const far = (await ask(server, 'GET', '?page=100000')).json()
  assert.deepEqual([far.content, far.totalElements], [[], page.totalElements])
  assertProblem(await ask(server, 'GET', '?size=0'), 400, 'invalid-query')
})

test('PATCH disables a client, which gets no more tokens, and enables it again', async (t) => {
  const server = await serveHttp(t, pool)
  const client = (await ask(server, 'POST', '', { name: 'Switch' })).json()
  const url = `/${client.clientId}`
  const disabled = await ask(server, 'PATCH', url, { status: 'DISABLED' })
  assert.deepEqual([disabled.statusCode, disabled.json().status], [200, 'DISABLED'])
  const refused = await login(server, client.clientId, client.clientSecret)
  assertProblem(refused, 401, 'invalid-credentials')
  assert.equal((await ask(server, 'PATCH', url, { status: 'ACTIVE' })).json().status, 'ACTIVE')
  assert.equal((await login(server, client.clientId, client.clientSecret)).statusCode, 200)
  assertProblem(await ask(server, 'PATCH', url, { status: 'GONE' }), 400, 'invalid-fields')
})

test('a second secret is 201, a third 409, also when asked for at once', async (t) => {
  const server = await serveHttp(t, pool)
  const client = (await ask(server, 'POST', '', { name: 'Rotating' })).json()
  const url = `/${client.clientId}/secrets`
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask(server, 'POST', url)))
  assert.deepEqual(answers.map((answer) => answer.statusCode).sort(), [201, ...Array(7).fill(409)])
  const refused = answers.find((answer) => answer.statusCode === 409) as (typeof answers)[0]
  assertProblem(refused, 409, 'too-many-secrets')
  const made = answers.find((answer) => answer.statusCode === 201)?.json()
  assert.deepEqual(Object.keys(made), ['secretId', 'clientSecret'])
  assert.equal((await login(server, client.clientId, made.clientSecret)).statusCode, 200)
  assert.equal((await login(server, client.clientId, client.clientSecret)).statusCode, 200)
})

test('a secret is revoked with 204, once; the last one too', async (t) => {
  const server = await serveHttp(t, pool)
  const client = (await ask(server, 'POST', '', { name: 'Revoking' })).json()
  const url = `/${client.clientId}/secrets`
  const second = (await ask(server, 'POST', url)).json()
  const { secrets } = (await ask(server, 'GET', `/${client.clientId}`)).json()
  assert.equal(secrets.length, 2)
  const first = secrets.find((secret: { secretId: string }) => secret.secretId !== second.secretId)
  assert.equal((await ask(server, 'DELETE', `${url}/${first.secretId}`)).statusCode, 204)
  const old = await login(server, client.clientId, client.clientSecret)
  assertProblem(old, 401, 'invalid-credentials')
  assert.equal((await login(server, client.clientId, second.clientSecret)).statusCode, 200)
  assertProblem(await ask(server, 'DELETE', `${url}/${first.secretId}`), 404, 'not-found')
  assertProblem(await ask(server, 'DELETE', `${url}/${randomUUID()}`), 404, 'not-found')
  // The last one too: a secret that has leaked must go at once.
  assert.equal((await ask(server, 'DELETE', `${url}/${second.secretId}`)).statusCode, 204)
})

test("a client's secret cannot be revoked under another's id", async (t) => {
  const server = await serveHttp(t, pool)
  const [one, two] = [
    (await ask(server, 'POST', '', { name: 'One' })).json(),
    (await ask(server, 'POST', '', { name: 'Two' })).json(),
  ]
  const secret = (await ask(server, 'POST', `/${one.clientId}/secrets`)).json()
  const url = `/${two.clientId}/secrets/${secret.secretId}`
  assertProblem(await ask(server, 'DELETE', url), 404, 'not-found')
  assert.equal((await login(server, one.clientId, secret.clientSecret)).statusCode, 200)
})

test('accounts are opened with 201 {id, name} and listed as a page', async (t) => {
  const server = await serveHttp(t, pool)
  const client = (await ask(server, 'POST', '', { name: 'Banking' })).json()
  const url = `/${client.clientId}/accounts`
  const opened = await ask(server, 'POST', url, { name: 'Main' })
  assert.equal(opened.statusCode, 201)
  assert.deepEqual(Object.keys(opened.json()), ['id', 'name'])
  await ask(server, 'POST', url, { name: 'Other' })
  const page = (await ask(server, 'GET', url)).json()
  assert.equal(page.totalElements, 2)
  assert.ok(page.content.some((item: object) => JSON.stringify(item) === opened.body))
  assertProblem(await ask(server, 'POST', url, {}), 400, 'invalid-fields')
})

test('ids that are unknown or no uuids are 404 everywhere', async (t) => {
  const server = await serveHttp(t, pool)
  for (const id of [randomUUID(), 'nobody', '%00']) {
    for (const [method, url, body] of [
      ['GET', `/${id}`],
      ['PATCH', `/${id}`, { status: 'ACTIVE' }],
      ['POST', `/${id}/secrets`],
      ['DELETE', `/${id}/secrets/${randomUUID()}`],
      ['POST', `/${id}/accounts`, { name: 'x' }],
      ['GET', `/${id}/accounts`],
    ] as const) {
      assertProblem(await ask(server, method, url, body), 404, 'not-found')
    }
  }
})

test('without the operator key every call is refused', async (t) => {
  const server = await serveHttp(t, pool)
  for (const authorization of [
    '',
    'Bearer x',
    `Bearer ${OPERATOR_KEY}x`,
    `Bearer ${OPERATOR_KEY.slice(0, -1)}`,
    `Basic ${OPERATOR_KEY}`,
    [`Bearer ${OPERATOR_KEY}`, `Bearer ${OPERATOR_KEY}`],
  ]) {
    const headers = { authorization } as { authorization: string }
    const answer = await server.app.inject({ url: PATH, headers })
    assertProblem(answer, 401, authorization === '' ? 'missing-token' : 'invalid-token')
  }
  const headers = { authorization: `bearer ${OPERATOR_KEY}` }
  assert.equal((await server.app.inject({ url: PATH, headers })).statusCode, 200)
})
