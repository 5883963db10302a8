// /operator/v1/keys: made once, shown once, remembered for 2 seconds.

import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import test from 'node:test'
import { cloneDatabase } from '../../../../test/support/database.ts'
import { call } from '../../../../test/support/injected-calls.ts'
import {
  assertProblem,
  OPERATOR_KEY,
  onboard,
  serveHttp,
  type TestServer,
  withoutRequestId,
} from '../../../../test/support/injected-server.ts'
import { until } from '../../../../test/support/paybell.ts'
import type { Role } from '../../../core/plain/operator.ts'
import { renewMark } from '../../../operations/sealing/bind-addresses.ts'
import { countSecretsByMasterKey } from '../../../store/secrets/master-keys.ts'
import { LIVE_KEYS_MAX } from '../../../store/secrets/operator-keys.ts'
import { Sealer } from '../../../store/secrets/sealing.ts'
import { createHttpApp } from '../../http-app.ts'
import { addOperatorInterface } from '../../server.ts'

const { pool } = await cloneDatabase()
const PATH = '/operator/v1/keys'

function ask(
  server: TestServer,
  method: 'GET' | 'POST' | 'DELETE',
  url: string,
  body?: object,
  key = OPERATOR_KEY,
) {
  return call(server, { authorization: `Bearer ${key}` }, method, url, body)
}

async function makeKey(server: TestServer, role: Role, name = `${role} ${randomUUID()}`) {
  const answer = await ask(server, 'POST', PATH, { name, role })
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json() as { id: string; name: string; role: Role; key: string }
}

const listsClients = (server: TestServer, key: string) =>
  ask(server, 'GET', '/operator/v1/clients', undefined, key)

test('a key is 256 random bits, shown once and stored as an HMAC', async (t) => {
  const server = await serveHttp(t, pool)
  const answer = await ask(server, 'POST', PATH, { name: 'Ünï "☂" core', role: 'viewer' })
  assert.equal(answer.statusCode, 201)
  assert.equal(answer.headers['cache-control'], 'no-store')
  const made = answer.json()
  assert.deepEqual(Object.keys(made), ['id', 'name', 'role', 'key'])
  assert.match(made.key, /^pbk_[\w-]{43}$/)
  assert.equal((await listsClients(server, made.key)).statusCode, 200)
  const { rows } = await pool.query('select operator_keys::text as text from operator_keys')
  const hex = Buffer.from(made.key).toString('hex')
  assert.ok(rows.every(({ text }) => !text.includes(made.key) && !text.includes(hex)))
  assert.ok(server.log.every((line) => !line.includes(made.key)))
})

test('the list shows everything but the key, revoked ones too, and not the first one', async (t) => {
  const server = await serveHttp(t, (await cloneDatabase()).pool)
  const [one, two] = [await makeKey(server, 'ingest', 'one'), await makeKey(server, 'admin', 'two')]
  assert.equal((await ask(server, 'DELETE', `${PATH}/${one.id}`)).statusCode, 204)
  const createdAt = new Date(server.clock.nowMs()).toISOString()
  const item = { createdAt, revokedAt: null, lastUsedAt: null }
  assert.deepEqual((await ask(server, 'GET', PATH)).json(), {
    content: [
      { id: one.id, name: 'one', role: 'ingest', ...item, revokedAt: createdAt },
      { id: two.id, name: 'two', role: 'admin', ...item },
    ],
    totalPages: 1,
    totalElements: 2,
    size: 20,
    number: 0,
  })
})

test('a name belongs to one live key; `operator` is the first one’s', async (t) => {
  const server = await serveHttp(t, pool)
  const { id } = await makeKey(server, 'viewer', 'night shift')
  const again = () => ask(server, 'POST', PATH, { name: 'night shift', role: 'admin' })
  assertProblem(await again(), 409, 'key-name-taken')
  assertProblem(
    await ask(server, 'POST', PATH, { name: 'operator', role: 'viewer' }),
    409,
    'key-name-taken',
  )
  assert.equal((await ask(server, 'DELETE', `${PATH}/${id}`)).statusCode, 204)
  assert.equal((await again()).statusCode, 201)
})

test('names and roles are checked, all at once', async (t) => {
  const server = await serveHttp(t, pool)
  const problem = assertProblem(
    await ask(server, 'POST', PATH, { name: ' ', role: 'root' }),
    400,
    'invalid-fields',
  )
  assert.deepEqual(problem.errors?.map(({ pointer, code }) => [pointer, code]).sort(), [
    ['/name', 'blank'],
    ['/role', 'not-in-list'],
  ])
  for (const name of ['', 'x'.repeat(101), 'a\0b']) {
    assertProblem(await ask(server, 'POST', PATH, { name, role: 'viewer' }), 400, 'invalid-fields')
  }
})

test('there are at most 100 live keys, also when asked for at once', async (t) => {
  const server = await serveHttp(t, (await cloneDatabase()).pool)
  let asked = 0
  const add = async () => {
    const name = `key ${asked++}`
    return (await ask(server, 'POST', PATH, { name, role: 'viewer' })).statusCode
  }
  const codes: number[] = []
  // As many at once as one after another are added before a busy machine makes the last of them give up.
  while (codes.length < LIVE_KEYS_MAX + 5) {
    codes.push(...(await Promise.all(Array.from({ length: 21 }, add))))
  }
  assert.equal(codes.filter((code) => code === 201).length, LIVE_KEYS_MAX)
  assertProblem(
    await ask(server, 'POST', PATH, { name: 'more', role: 'viewer' }),
    409,
    'too-many-keys',
  )
})

test('a revoked key stops at once here, and within 5 seconds in every other process', async (t) => {
  const server = await serveHttp(t, pool)
  const other = await serveHttp(t, pool, { clock: server.clock })
  const { id, key } = await makeKey(server, 'viewer')
  for (const one of [server, other]) assert.equal((await listsClients(one, key)).statusCode, 200)
  assert.equal((await ask(server, 'DELETE', `${PATH}/${id}`)).statusCode, 204)
  assertProblem(await listsClients(server, key), 401, 'invalid-token')
  server.clock.advance(4.9)
  const revoked = await listsClients(other, key)
  assertProblem(revoked, 401, 'invalid-token')
  const unknown = await listsClients(other, `pbk_${randomBytes(32).toString('base64url')}`)
  assert.equal(withoutRequestId(revoked), withoutRequestId(unknown))
  assertProblem(await ask(server, 'DELETE', `${PATH}/${id}`), 404, 'not-found')
  for (const nothing of [randomUUID(), 'operator', 'not-a-uuid']) {
    assertProblem(await ask(server, 'DELETE', `${PATH}/${nothing}`), 404, 'not-found')
  }
})

test('a key that another process has made a moment ago works without a wait', async (t) => {
  const server = await serveHttp(t, pool)
  const other = await serveHttp(t, pool, { clock: server.clock })
  const earlier = await makeKey(server, 'viewer')
  assert.equal((await listsClients(other, earlier.key)).statusCode, 200)
  const { key } = await makeKey(server, 'viewer')
  server.clock.advance(0.3)
  assert.equal((await listsClients(other, key)).statusCode, 200)
})

test('wrong keys cost no query each', async (t) => {
  const server = await serveHttp(t, pool)
  let queries = 0
  const query = pool.query.bind(pool)
  t.mock.method(pool, 'query', (...given: Parameters<typeof query>) => {
    queries++
    return query(...given)
  })
  for (let times = 0; times < 50; times++) {
    await listsClients(server, `pbk_${randomBytes(32).toString('base64url')}`)
    await listsClients(server, randomBytes(32).toString('base64url'))
  }
  assert.ok(queries <= 2, `${queries} queries`)
})

test('when it was last used is written once a minute', async (t) => {
  const server = await serveHttp(t, pool)
  const { id, key } = await makeKey(server, 'viewer')
  const lastUsedAtMs = async () => {
    const { rows } = await pool.query<{ at: Date | null }>(
      'select last_used_at as at from operator_keys where id = $1',
      [id],
    )
    return rows[0]?.at?.getTime() ?? null
  }
  const firstMs = server.clock.nowMs()
  await listsClients(server, key)
  await until('the first use is noted', async () => (await lastUsedAtMs()) === firstMs)
  server.clock.advance(30)
  await listsClients(server, key)
  server.clock.advance(31)
  await listsClients(server, key)
  await until('the next minute is noted', async () => (await lastUsedAtMs()) === firstMs + 61_000)
})

test('a key outlives its master key once it has been used under the next one', async (t) => {
  const { pool: own } = await cloneDatabase()
  const [older, newer] = [randomBytes(32), randomBytes(32)]
  const before = await serveHttp(t, own, { sealer: new Sealer([older]) })
  const { key } = await makeKey(before, 'viewer')
  const rotating = new Sealer([newer, older])
  const during = await serveHttp(t, own, { sealer: rotating })
  assert.equal((await listsClients(during, key)).statusCode, 200)
  // What is authenticated moves with `paybell reseal`, the key by its use: one of each.
  await renewMark({ pool: own, sealer: rotating })
  await until('nothing is left under the old key', async () => {
    const counts = await countSecretsByMasterKey(own)
    return counts.get(rotating.writeKeyId) === 2 && counts.size === 1
  })
  const after = await serveHttp(t, own, { sealer: new Sealer([newer]) })
  assert.equal((await listsClients(after, key)).statusCode, 200)
  const stranger = await serveHttp(t, own, { sealer: new Sealer([randomBytes(32)]) })
  assertProblem(await listsClients(stranger, key), 401, 'invalid-token')
})

test('a database that is away is 503 for a named key, never 401', async (t) => {
  const { pool: own } = await cloneDatabase()
  const server = await serveHttp(t, own)
  const { key } = await makeKey(server, 'viewer')
  server.clock.advance(10)
  t.mock.method(own, 'query', () =>
    Promise.reject(Object.assign(new Error('gone'), { code: 'ECONNREFUSED' })),
  )
  assertProblem(await listsClients(server, key), 503, 'database-away')
  assertProblem(await listsClients(server, 'x'.repeat(40)), 401, 'invalid-token')
})

test('in production /metrics takes an admin’s and a viewer’s key, and no other', async (t) => {
  const server = await serveHttp(t, pool, { mode: 'production' })
  const client = await onboard(server)
  const status = async (key: string) =>
    (await ask(server, 'GET', '/metrics', undefined, key)).statusCode
  assert.equal(await status(OPERATOR_KEY), 200)
  assert.equal(await status((await makeKey(server, 'admin')).key), 200)
  assert.equal(await status((await makeKey(server, 'viewer')).key), 200)
  const { key } = await makeKey(server, 'ingest')
  assertProblem(await ask(server, 'GET', '/metrics', undefined, key), 403, 'role-not-allowed')
  assert.equal(await status(client.token), 401)
})

test('a route that names no role, or the wrong one, fails the build of the server', async (t) => {
  const { deps } = await serveHttp(t, pool)
  const build = async (method: 'GET' | 'POST', config: object) => {
    const app = createHttpApp(deps)
    t.after(() => app.close())
    await addOperatorInterface(app, deps, [
      (scope) => {
        scope.route({ method, url: '/new', config, handler: async () => ({}) })
      },
    ])
    await app.ready()
  }
  await assert.rejects(build('GET', {}), /GET \/operator\/v1\/new does not say which role/)
  await assert.rejects(build('POST', {}), /does not say which role/)
  await assert.rejects(build('POST', { role: 'viewer' }), /a viewer reads everything and no more/)
  await assert.rejects(build('GET', { role: 'ingest' }), /a viewer reads everything and no more/)
})
