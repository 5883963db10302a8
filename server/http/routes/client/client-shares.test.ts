// What one client asks for, however much, leaves the others and the operator their share.

import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { cloneDatabase } from '../../../../test/support/database.ts'
import { addEndpoint, call, OPERATOR, WEBHOOKS } from '../../../../test/support/injected-calls.ts'
import {
  assertProblem,
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

function act({ headers }: TestClient, id: string, what: string, body?: object) {
  return call(server, headers, 'POST', `${WEBHOOKS.path}/${id}/${what}`, body)
}

test('regression: tests of one client that hang leave places for others', async () => {
  const [client, other] = [await onboard(server), await onboard(server, 'Other')]
  const { id } = await addEndpoint(server, client, { callbackUrl: SLOW_URL })
  const { id: othersId } = await addEndpoint(server, other, {
    callbackUrl: 'https://quick.example/hook',
  })
  const slow = Array.from({ length: 16 }, () => act(client, id, 'test'))
  await until('all sixteen are under way', () => waiting.length === 16)
  const refused = await act(client, id, 'test')
  assert.match(assertProblem(refused, 429, 'too-many-requests').detail, /^Sixteen/)
  const theirs = await act(other, othersId, 'test')
  assert.equal(theirs.json().delivered, true)
  for (const answer of waiting) answer()
  for (const answer of await Promise.all(slow)) assert.equal(answer.statusCode, 200)
})

test('regression: looks of one client that take long leave those of others and the operator in line', async () => {
  const [client, other] = [await onboard(server), await onboard(server, 'Other')]
  const { id } = await addEndpoint(server, client, { callbackUrl: 'https://receiver.example/hook' })
  const { jobs } = server.deps
  const ends: (() => void)[] = []
  const look = () => new Promise<void>((resolve) => ends.push(resolve))
  const looks = Array.from({ length: 16 }, () => jobs.oneAtATime(client.clientKey, look))
  const since = { since: '2026-01-01T00:00:00Z' }
  const own = await act(client, id, 'recover?dryRun=true', since)
  assertProblem(own, 503, 'overloaded')

  const bulk = await call(server, OPERATOR, 'POST', '/operator/v1/deliveries/cancel', {
    filter: { endpointId: id },
    dryRun: true,
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
  const { id } = await addEndpoint(server, client, { callbackUrl: 'https://receiver.example/hook' })
  await pool.query(
    `insert into jobs (id, kind, total, held_until, started_at)
     select gen_random_uuid(), 'recover', 1, 'infinity', now() from generate_series(1, 40)`,
  )
  const since = { since: '2026-01-01T00:00:00Z' }
  assertProblem(await act(client, id, 'recover', since), 503, 'overloaded')
  const bulk = await call(server, OPERATOR, 'POST', '/operator/v1/deliveries/cancel', {
    filter: { endpointId: id },
  })
  assert.deepEqual([bulk.statusCode, bulk.json()], [202, { cancelled: 0 }])
})
