// What one client asks for, however much, leaves the others and the operator their share.

import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { cloneDatabase } from '../../../../test/support/database.ts'
import {
  assertProblem,
  OPERATOR_KEY,
  onboard,
  serveHttp,
  type TestClient,
} from '../../../../test/support/injected-server.ts'
import { until } from '../../../../test/support/until.ts'

const SLOW_URL = 'https://slow.example/hook'
const { pool } = await cloneDatabase()
/** Attempts at the slow receiver that wait for their answer. */
const waiting: (() => void)[] = []
const outcome = { kind: 'answered', status: 200 } as const
const server = await serveHttp({ after } as Pick<TestContext, 'after'>, pool, {
  send: async ({ url }) => {
    if (url === SLOW_URL) await new Promise<void>((resolve) => waiting.push(resolve))
    return { outcome, durationMs: 1 }
  },
})

async function register({ headers }: TestClient, callbackUrl: string): Promise<string> {
  const payload = { callbackUrl, sharedKey: 'a-long-random-text-that-only-we-two-know' }
  await server.app.inject({ method: 'POST', url: '/v1/webhooks/register', headers, payload })
  const list = await server.app.inject({ url: '/v1/webhooks/list', headers })
  return list.json().content[0].id
}

function post(url: string, { headers }: Pick<TestClient, 'headers'>, payload?: object) {
  return server.app.inject({ method: 'POST', url, headers, ...(payload ? { payload } : {}) })
}

test('regression: tests of one client that hang leave places for others', async () => {
  const [client, other] = [await onboard(server), await onboard(server, 'Other')]
  const id = await register(client, SLOW_URL)
  const othersId = await register(other, 'https://quick.example/hook')
  const slow = Array.from({ length: 16 }, () => post(`/v1/webhooks/${id}/test`, client))
  await until('all sixteen are under way', () => waiting.length === 16)
  const refused = await post(`/v1/webhooks/${id}/test`, client)
  assert.match(assertProblem(refused, 429, 'too-many-requests').detail, /^Sixteen/)
  const theirs = await post(`/v1/webhooks/${othersId}/test`, other)
  assert.equal(theirs.json().delivered, true)
  for (const answer of waiting) answer()
  for (const answer of await Promise.all(slow)) assert.equal(answer.statusCode, 200)
})

test('regression: looks of one client that take long leave those of others and the operator in line', async () => {
  const [client, other] = [await onboard(server), await onboard(server, 'Other')]
  const id = await register(client, 'https://receiver.example/hook')
  const { jobs } = server.deps
  const ends: (() => void)[] = []
  const look = () => new Promise<void>((resolve) => ends.push(resolve))
  const looks = Array.from({ length: 16 }, () => jobs.oneAtATime(client.clientKey, look))
  const since = { since: '2026-01-01T00:00:00Z' }
  const own = await post(`/v1/webhooks/${id}/recover?dryRun=true`, client, since)
  assertProblem(own, 503, 'overloaded')

  const bulk = await server.app.inject({
    method: 'POST',
    url: '/operator/v1/deliveries/cancel',
    headers: { authorization: `Bearer ${OPERATOR_KEY}` },
    payload: { filter: { endpointId: id }, dryRun: true },
  })
  assert.deepEqual([bulk.statusCode, bulk.json().wouldCancel], [200, 0])

  const theirs = jobs.oneAtATime(other.clientKey, async () => 'theirs')
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(ends.length, 1)
  ends[0]?.()
  assert.equal(await theirs, 'theirs', 'it waits for one look, not for sixteen')
  const all = Promise.all(looks)
  for (let ended = 1; ended < 16; ended++) {
    await until('the next one has begun', () => ends.length > ended)
    ends[ended]?.()
  }
  await all
})

test('jobs of clients leave places for those of the operator', async () => {
  const client = await onboard(server)
  const id = await register(client, 'https://receiver.example/hook')
  await pool.query(
    `insert into jobs (id, kind, total, held_until, started_at)
     select gen_random_uuid(), 'recover', 1, 'infinity', now() from generate_series(1, 40)`,
  )
  const since = { since: '2026-01-01T00:00:00Z' }
  assertProblem(await post(`/v1/webhooks/${id}/recover`, client, since), 503, 'overloaded')
  const bulk = await server.app.inject({
    method: 'POST',
    url: '/operator/v1/deliveries/cancel',
    headers: { authorization: `Bearer ${OPERATOR_KEY}` },
    payload: { filter: { endpointId: id } },
  })
  assert.deepEqual([bulk.statusCode, bulk.json()], [202, { cancelled: 0 }])
})
