import assert from 'node:assert/strict'
import test from 'node:test'
import { cloneDatabase } from '../../../../test/support/database.ts'
import { assertProblem, serveHttp } from '../../../../test/support/injected-server.ts'

const { pool } = await cloneDatabase()
const URL = '/.well-known/paybell-egress.json'

test('the networks that callbacks come from are published as the operator has set them, without a token', async (t) => {
  const env = { PAYBELL_EGRESS_ADDRESSES: '192.0.2.0/28, 2001:db8::/64' }
  const server = await serveHttp(t, pool, { env })
  const { app, clock } = server
  const startedAt = new Date(clock.nowMs()).toISOString()
  clock.advance(60)
  const answer = await app.inject(`${URL}?x=1`)
  assert.equal(answer.statusCode, 200)
  assert.match(String(answer.headers['content-type']), /^application\/json/)
  assert.equal(answer.headers['cache-control'], 'public, max-age=3600')
  assert.deepEqual(answer.json(), {
    addresses: ['192.0.2.0/28', '2001:db8::/64'],
    updatedAt: startedAt,
  })
})

test('where none are set there is nothing, nor is there at the port of operators', async (t) => {
  assertProblem(await (await serveHttp(t, pool)).app.inject(URL), 404, 'not-found')
  const env = { PAYBELL_EGRESS_ADDRESSES: '192.0.2.0/28' }
  const { app } = await serveHttp(t, pool, { env, surface: 'operator' })
  assertProblem(await app.inject(URL), 404, 'not-found')
})
