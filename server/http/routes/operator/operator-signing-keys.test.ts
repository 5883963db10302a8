// A key that leaked is ended by one call, in every process. Two servers on one database are two processes here.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test from 'node:test'
import { decodeProtectedHeader } from 'jose'
import { cloneDatabase } from '../../../../test/support/database.ts'
import { call, OPERATOR } from '../../../../test/support/injected-calls.ts'
import {
  assertProblem,
  HandClock,
  onboard,
  serveHttp,
  type TestServer,
} from '../../../../test/support/injected-server.ts'
import { TOKEN_KEYS } from '../../../operations/access/key-purposes.ts'
import { rotateSigningKey } from '../../../operations/access/keyring.ts'
import { WEBHOOK_KEYS } from '../../../operations/access/webhook-keys.ts'

const { pool } = await cloneDatabase()

async function setUp(t: test.TestContext) {
  const clock = new HandClock()
  const here = await serveHttp(t, pool, { clock })
  const there = await serveHttp(t, pool, { clock })
  return { clock, here, there, both: [here, there] as const }
}

function revoke({ app }: TestServer, path: string, kid: string, headers: object = OPERATOR) {
  const url = `/operator/v1/${path}/${kid}/revoke`
  return app.inject({ method: 'POST', url, headers: { ...headers } })
}

async function publishedBy({ app }: TestServer, file: string): Promise<string[]> {
  const { keys, retired = [] } = (await app.inject(`/.well-known/${file}`)).json()
  return [...keys, ...retired].map(({ kid }: { kid: string }) => kid)
}

const statusOf = async ({ app }: TestServer, token: string) =>
  (await app.inject({ url: '/v1/webhooks', headers: { authorization: `Bearer ${token}` } }))
    .statusCode

test('a revoked signing key is trusted and published by no process within 5 seconds, and tokens go on', async (t) => {
  const { clock, here, there, both } = await setUp(t)
  const { token, clientId, clientSecret } = await onboard(here)
  const kid = decodeProtectedHeader(token).kid as string
  // Both have verified it and remember that.
  for (const one of both) assert.equal(await statusOf(one, token), 200)

  const answer = await revoke(here, 'signing-keys', kid)
  assert.equal(answer.statusCode, 200, answer.body)
  const { newKid } = answer.json()
  assert.deepEqual(answer.json(), { kid, newKid })
  assert.match(newKid, /^[0-9a-f-]{36}$/)

  assert.equal(await statusOf(here, token), 401)
  assert.ok(!(await publishedBy(here, 'jwks.json')).includes(kid))
  clock.advance(4.9)
  assert.equal(await statusOf(there, token), 401)
  assert.ok(!(await publishedBy(there, 'jwks.json')).includes(kid))

  for (const one of both) {
    const login = await one.app.inject({
      method: 'POST',
      url: '/auth/token',
      payload: { clientId, clientSecret },
    })
    assert.equal(login.statusCode, 200)
    const fresh = login.json().access_token
    assert.equal(decodeProtectedHeader(fresh).kid, newKid)
    for (const other of both) assert.equal(await statusOf(other, fresh), 200)
  }
  const { rows } = await pool.query(
    "select actor, object from audit where action = 'signing-key.revoke'",
  )
  assert.deepEqual(rows, [{ actor: 'operator', object: `signing-key:${kid}` }])
})

test('revoking a key that signs no more leaves the one that does', async (t) => {
  const { clock, here } = await setUp(t)
  const { token } = await onboard(here)
  const old = decodeProtectedHeader(token).kid as string
  clock.advance(1)
  const current = await rotateSigningKey(here.deps, TOKEN_KEYS)
  assert.deepEqual((await revoke(here, 'signing-keys', old)).json(), { kid: old, newKid: null })
  const published = await publishedBy(here, 'jwks.json')
  assert.ok(published.includes(current) && !published.includes(old))
  assert.equal(await statusOf(here, token), 401)
})

test('a process that is never idle reads the keys again before they are 5 seconds old', async (t) => {
  const { clock, here, there } = await setUp(t)
  const { token } = await onboard(here)
  assert.equal(await statusOf(there, token), 200)
  await revoke(here, 'signing-keys', decodeProtectedHeader(token).kid as string)
  let refusedAfter = 0
  while ((await statusOf(there, token)) === 200) {
    clock.advance(0.5)
    refusedAfter += 0.5
  }
  assert.ok(refusedAfter < 5, `${refusedAfter} s`)
})

test('a revoked webhook key signs and verifies no more, retired or not, and another one signs', async (t) => {
  const { clock, here, there, both } = await setUp(t)
  const signersOf = async ({ deps }: TestServer) =>
    (await deps.webhookKeys.signers()).map(({ kid }) => kid)
  const [first] = await signersOf(here)
  assert.deepEqual(await signersOf(there), [first])
  clock.advance(1)
  const second = await rotateSigningKey(here.deps, WEBHOOK_KEYS)
  await here.deps.webhookKeys.reload()
  assert.deepEqual(await signersOf(here), [second, first])

  // The overlap of the one before ends at once.
  assert.equal((await revoke(here, 'webhook-keys', first as string)).json().newKid, null)
  clock.advance(4.9)
  for (const one of both) {
    assert.deepEqual(await signersOf(one), [second])
    assert.ok(!(await publishedBy(one, 'webhook-keys.json')).includes(first as string))
  }
  const { newKid } = (await revoke(here, 'webhook-keys', second)).json()
  clock.advance(4.9)
  for (const one of both) {
    assert.deepEqual(await signersOf(one), [newKid])
    assert.deepEqual(await publishedBy(one, 'webhook-keys.json'), [newKid])
  }
  const { rows } = await pool.query(
    "select object from audit where action = 'webhook-key.revoke' order by id",
  )
  assert.deepEqual(
    rows.map(({ object }) => object),
    [`webhook-key:${first}`, `webhook-key:${second}`],
  )
})

test('a key that is unknown, revoked already or of the other kind is a 404, and nothing is made for it', async (t) => {
  const { here } = await setUp(t)
  const { token } = await onboard(here)
  const [webhookKid] = await publishedBy(here, 'webhook-keys.json')
  const before = await pool.query('select count(*) from signing_keys')
  for (const kid of [randomUUID(), 'not-a-uuid', webhookKid as string]) {
    assertProblem(await revoke(here, 'signing-keys', kid), 404, 'not-found')
  }
  assert.deepEqual((await pool.query('select count(*) from signing_keys')).rows, before.rows)
  const kid = decodeProtectedHeader(token).kid as string
  assert.equal((await revoke(here, 'signing-keys', kid)).statusCode, 200)
  assertProblem(await revoke(here, 'signing-keys', kid), 404, 'not-found')
})

test('only an admin revokes', async (t) => {
  const { here } = await setUp(t)
  const { token } = await onboard(here)
  const kid = decodeProtectedHeader(token).kid as string
  const made = await call(here, OPERATOR, 'POST', '/operator/v1/keys', {
    name: randomUUID(),
    role: 'viewer',
  })
  const viewer = { authorization: `Bearer ${made.json().key}` }
  for (const path of ['signing-keys', 'webhook-keys']) {
    assertProblem(await revoke(here, path, kid, viewer), 403, 'role-not-allowed')
  }
  assert.equal(await statusOf(here, token), 200)
})
