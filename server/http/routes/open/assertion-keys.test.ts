import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import test from 'node:test'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { cloneDatabase } from '../../../../test/support/database.ts'
import { assertProblem, onboard, serveHttp } from '../../../../test/support/injected-server.ts'
import { signAssertion } from '../../../operations/endpoints/sign-assertion.ts'
import { Sealer } from '../../../store/secrets/sealing.ts'

const { pool } = await cloneDatabase()
const TOKENS = { clientId: 'paybell', tokenUrl: 'https://bank.example.com/token' }
const keysUrl = (clientId: string) => `/.well-known/clients/${clientId}/jwks.json`

test('what is signed for a client verifies under its keys, and under those of no other', async (t) => {
  const server = await serveHttp(t, pool)
  const [one, other] = [await onboard(server), await onboard(server)]
  const assertion = await signAssertion(server.deps, one.clientKey, TOKENS)
  const keysOf = async (clientId: string) => {
    const answer = await server.app.inject(keysUrl(clientId))
    assert.equal(answer.statusCode, 200, answer.body)
    assert.equal(answer.headers['cache-control'], 'public, max-age=3600')
    assert.doesNotMatch(answer.body, /"d"/)
    return createLocalJWKSet(answer.json())
  }
  const checks = {
    issuer: 'paybell',
    subject: 'paybell',
    audience: TOKENS.tokenUrl,
    algorithms: ['ES256'],
    currentDate: new Date(server.clock.nowMs()),
  }
  const { payload } = await jwtVerify(assertion, await keysOf(one.clientId), checks)
  assert.equal((payload.exp ?? 0) - (payload.iat ?? 0), 60)
  await jwtVerify(assertion, await keysOf(one.clientId.toUpperCase()), checks)
  await assert.rejects(jwtVerify(assertion, await keysOf(other.clientId), checks), {
    code: 'ERR_JWKS_NO_MATCHING_KEY',
  })
  // An id of nobody looks like any other.
  await keysOf(randomUUID())
  for (const id of ['x', `${one.clientId}0`, '..%2f']) {
    assertProblem(await server.app.inject(keysUrl(id)), 404, 'not-found')
  }
})

test('regression: who asks for the keys of many ids has to wait, and those of one client are computed once', async (t) => {
  const server = await serveHttp(t, pool)
  const { clientId } = await onboard(server)
  for (let n = 0; n < 200; n++) {
    assert.equal((await server.app.inject(keysUrl(clientId))).statusCode, 200)
  }
  const statuses = new Set<number>()
  for (let n = 0; n < 50; n++) {
    statuses.add((await server.app.inject(keysUrl(randomUUID()))).statusCode)
  }
  assert.deepEqual([...statuses], [200, 429])
  const refused = await server.app.inject(keysUrl(randomUUID()))
  assertProblem(refused, 429, 'too-many-requests')
  assert.ok(Number(refused.headers['retry-after']) >= 1)
  assert.equal((await server.app.inject(keysUrl(clientId))).statusCode, 200)
  const elsewhere = { url: keysUrl(randomUUID()), remoteAddress: '192.0.2.9' }
  assert.equal((await server.app.inject(elsewhere)).statusCode, 200)
  server.clock.advance(60)
  assert.equal((await server.app.inject(keysUrl(randomUUID()))).statusCode, 200)
})

test('a new master key is published behind the old one before it signs, and the old one as long as it is there', async (t) => {
  const [before, after] = [randomBytes(32), randomBytes(32)]
  const server = await serveHttp(t, pool)
  const { clientId, clientKey } = await onboard(server)
  const kidsWith = async (...masterKeys: Buffer[]) => {
    const sealer = new Sealer(masterKeys)
    const assertion = await signAssertion({ ...server.deps, sealer }, clientKey, TOKENS)
    const [header = ''] = assertion.split('.')
    const published = sealer.assertionKeyBytes(clientId).length
    return { published, signs: JSON.parse(Buffer.from(header, 'base64url').toString()).kid }
  }
  const [one, two, three, four] = [
    await kidsWith(before),
    await kidsWith(before, after),
    await kidsWith(after, before),
    await kidsWith(after),
  ]
  assert.deepEqual(
    [one, two, three, four].map(({ published }) => published),
    [1, 2, 2, 1],
  )
  assert.equal(one.signs, two.signs)
  assert.equal(three.signs, four.signs)
  assert.notEqual(one.signs, three.signs)
})
