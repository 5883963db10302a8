// How often a receiver is checked (POST …/check), how many checks go on at once, and what they do not reveal.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { cloneDatabase } from '../../../../test/support/database.ts'
import { addEndpoint, call, WEBHOOKS } from '../../../../test/support/injected-calls.ts'
import {
  assertProblem,
  onboard,
  serveHttp,
  type TestClient,
  type TestServer,
} from '../../../../test/support/injected-server.ts'

const { pool } = await cloneDatabase()

type Send = TestServer['deps']['send']

const REFUSED = { outcome: { kind: 'answered', status: 404 }, durationMs: 1 } as const

async function serve(t: TestContext, send: Send = async () => REFUSED) {
  const server = await serveHttp(t, pool, { send })
  return { server, client: await onboard(server) }
}

async function addEndpoints(server: TestServer, client: TestClient, count: number) {
  const ids: string[] = []
  for (let at = 0; at < count; at++) {
    const callbackUrl = `https://example.com/${at}`
    ids.push((await addEndpoint(server, client, { callbackUrl })).id)
  }
  return ids
}

function check(server: TestServer, { bearer }: TestClient, webhookId: string) {
  return call(server, bearer, 'POST', `${WEBHOOKS.path}/${webhookId}/check`)
}

test('regression: an endpoint is checked five times in a row, then once a minute', async (t) => {
  const { server, client } = await serve(t)
  const [webhookId, other] = (await addEndpoints(server, client, 2)) as [string, string]
  for (let at = 0; at < 5; at++) {
    assert.equal((await check(server, client, webhookId)).statusCode, 200)
  }
  const refused = await check(server, client, webhookId)
  assertProblem(refused, 429, 'too-many-requests')
  assert.equal(refused.headers['retry-after'], '60')
  assert.equal((await check(server, client, other)).statusCode, 200)
  server.clock.advance(60)
  assert.equal((await check(server, client, webhookId)).statusCode, 200)
  assert.equal((await check(server, client, webhookId)).statusCode, 429)
})

test('regression: a client checks twenty times in a row, then ten times a minute', async (t) => {
  const { server, client } = await serve(t)
  const webhookIds = await addEndpoints(server, client, 22)
  const statuses: number[] = []
  for (const id of webhookIds) statuses.push((await check(server, client, id)).statusCode)
  assert.deepEqual(statuses, [...Array(20).fill(200), 429, 429])
  server.clock.advance(6)
  assert.equal((await check(server, client, webhookIds[20] as string)).statusCode, 200)
})

test('regression: one client makes two checks at once, and other clients are not held up', async (t) => {
  const waiting: (() => void)[] = []
  const { server, client } = await serve(
    t,
    () => new Promise((resolve) => waiting.push(() => resolve(REFUSED))),
  )
  const webhookIds = await addEndpoints(server, client, 20)
  const running = webhookIds.slice(0, 2).map((id) => check(server, client, id))
  while (waiting.length < 2) await new Promise(setImmediate)
  const [, , ...more] = webhookIds
  for (const id of more) {
    const refused = await check(server, client, id)
    assertProblem(refused, 429, 'too-many-requests')
    assert.match(String(refused.headers['retry-after']), /^[1-9]\d*$/)
  }
  const stranger = await onboard(server, 'Stranger')
  const [theirs] = (await addEndpoints(server, stranger, 1)) as [string]
  running.push(check(server, stranger, theirs))
  while (waiting.length < 3) await new Promise(setImmediate)
  // A second check of the same receiver is a conflict, not one too many.
  const twice = await check(server, stranger, theirs)
  assertProblem(twice, 409, 'check-running')
  for (const end of waiting) end()
  for (const answer of await Promise.all(running)) assert.equal(answer.statusCode, 200)
  const next = check(server, client, more[0] as string)
  while (waiting.length < 4) await new Promise(setImmediate)
  waiting[3]?.()
  assert.equal((await next).statusCode, 200)
})

test('regression: a check that died while the clock was ahead keeps others away for no longer than any that died', async (t) => {
  const { server, client } = await serve(t)
  const [webhookId] = (await addEndpoints(server, client, 1)) as [string]
  const died = (aheadMs: number) =>
    pool.query(
      `insert into receiver_checks (client_key, endpoint_id, started_at)
       select client_key, id, $2 from endpoints where id = $1`,
      [webhookId, new Date(server.clock.nowMs() + aheadMs)],
    )
  await died(3 * 86_400_000)
  assert.equal((await check(server, client, webhookId)).statusCode, 200)
  // Clocks that are a little apart are right, and the check may be under way.
  await died(60_000)
  assertProblem(await check(server, client, webhookId), 409, 'check-running')
  server.clock.advance(151)
  assert.equal((await check(server, client, webhookId)).statusCode, 200)
})

test('regression: neither a test nor a check reveals whether a host name exists', async (t) => {
  const outcomes = [
    { kind: 'unreachable', reason: 'dns-error' },
    { kind: 'blocked', reason: 'blocked-address' },
  ] as const
  let outcome: (typeof outcomes)[number] = outcomes[0]
  const { server, client } = await serve(t, async () => ({ outcome, durationMs: 1 }))
  const [webhookId] = (await addEndpoints(server, client, 1)) as [string]
  const answers: string[] = []
  for (outcome of outcomes) {
    const { body } = await check(server, client, webhookId)
    assert.match(body, /gave no answer: no public address\./)
    const sent = await call(server, client.bearer, 'POST', `${WEBHOOKS.path}/${webhookId}/test`)
    assert.equal(sent.json().error, 'no-address', sent.body)
    answers.push(body + sent.body)
  }
  assert.equal(answers[0], answers[1])
})
