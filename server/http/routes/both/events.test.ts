import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, test } from 'node:test'
import type { Pool } from 'pg'
import { cloneDatabase } from '../../../../test/support/database.ts'
import { call } from '../../../../test/support/injected-calls.ts'
import {
  assertProblem,
  onboard,
  serveHttp,
  type TestClient,
  type TestServer,
} from '../../../../test/support/injected-server.ts'
import { sampleWrite } from '../../../../test/support/payment-sample.ts'
import { until } from '../../../../test/support/until.ts'
import { DAY_MS } from '../../../core/delivery/backoff.ts'
import { recordingOn } from '../../../operations/accepting/postgres-payment-store.ts'
import { recordPayments } from '../../../operations/accepting/record-payments.ts'
import { AccountDirectory } from '../../../operations/access/account-directory.ts'
import { openAccount } from '../../../operations/clients/open-account.ts'

let pool: Pool

before(async () => {
  pool = (await cloneDatabase()).pool
})

interface Item {
  id: string
  event: string
  sequence: number
  paymentId: string
  createdAt: string
  payment: { id: string; document?: Record<string, unknown> }
}

async function record(
  server: TestServer,
  accountId: string,
  changes: Record<string, unknown> = {},
) {
  const write = sampleWrite({ id: randomUUID(), ...changes })
  const accounts = new AccountDirectory(pool)
  const recording = recordingOn(server.deps, accounts)
  const { results } = await recordPayments(recording, [{ accountId, write }])
  const [result] = results
  assert.ok(result && 'event' in result && result.event)
  return { eventId: result.event.id, paymentId: write.id }
}

async function readPage(server: TestServer, headers: Record<string, string>, query = '') {
  const answer = await call(server, headers, 'GET', `/v1/events${query}`)
  assert.equal(answer.statusCode, 200, answer.body)
  return { text: answer.body, ...(answer.json() as { items: Item[]; next: string }) }
}

/** Waits for the server's own upkeep, whose transactions hold the feed back for a moment. */
async function untilItems(server: TestServer, client: TestClient, count: number, query = '') {
  return until(`${count} events`, async () => {
    const page = await readPage(server, client.bearer, query)
    return page.items.length >= count && page
  })
}

test('events come oldest first, with exact amounts and without files; next is always a cursor', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const empty = await readPage(server, client.bearer)
  assert.deepEqual(empty.items, [])
  assert.ok(empty.next)

  const ids: string[] = []
  for (let n = 0; n < 5; n++) ids.push((await record(server, client.accountId)).eventId)
  const all = await untilItems(server, client, 5)
  assert.deepEqual(
    all.items.map(({ id }) => id),
    ids,
  )
  const [first] = all.items
  assert.deepEqual(Object.keys(first ?? {}), [
    'id',
    'event',
    'sequence',
    'paymentId',
    'createdAt',
    'payment',
  ])
  assert.equal(first?.event, 'payment.created')
  assert.equal(first?.payment.id, first?.paymentId)
  assert.deepEqual(first?.payment.document, { mediaType: 'application/pdf', name: 'receipt.pdf' })
  assert.match(all.text, /"amount":12345\.67/)

  const seen: string[] = []
  let after = empty.next
  for (let n = 0; n < 4; n++) {
    const page = await readPage(server, client.bearer, `?limit=2&after=${after}`)
    seen.push(...page.items.map(({ id }) => id))
    after = page.next
  }
  assert.deepEqual(seen, ids)
  const { eventId } = await record(server, client.accountId)
  const later = await untilItems(server, client, 1, `?after=${after}`)
  assert.deepEqual(
    later.items.map(({ id }) => id),
    [eventId],
  )
})

test('AccountId narrows, also where most events are of other accounts; a wrong one is a 403', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const other = await openAccount(server.deps, client.clientId, 'Other')
  const wanted: string[] = []
  for (let n = 0; n < 6; n++) {
    if (n % 3 === 0) wanted.push((await record(server, other.id)).eventId)
    else await record(server, client.accountId)
  }
  await untilItems(server, client, 6)
  const headers = { ...client.bearer, accountid: other.id }
  const one = await readPage(server, headers, '?limit=1')
  const two = await readPage(server, headers, `?limit=1&after=${one.next}`)
  const end = await readPage(server, headers, `?limit=1&after=${two.next}`)
  assert.deepEqual(
    [...one.items, ...two.items].map(({ id }) => id),
    wanted,
  )
  assert.deepEqual(end.items, [])
  for (const url of ['/v1/events', `/v1/events/${wanted[0]}`]) {
    const wrong = { ...client.bearer, accountid: randomUUID() }
    assertProblem(await call(server, wrong, 'GET', url), 403, 'invalid-account')
  }
})

test('a client cannot read the events of another, in lists, by id or with its cursor', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const other = await onboard(server, 'Other')
  const { eventId } = await record(server, client.accountId)
  const { next } = await untilItems(server, client, 1)
  assert.deepEqual((await readPage(server, other.bearer)).items, [])
  const byId = { url: `/v1/events/${eventId}`, headers: other.bearer }
  assertProblem(await server.app.inject(byId), 404, 'not-found')
  const stolen = { url: `/v1/events?after=${next}`, headers: other.bearer }
  assertProblem(await server.app.inject(stolen), 400, 'invalid-query')
  assertProblem(await server.app.inject({ url: '/v1/events' }), 401, 'missing-token')
})

test('a cursor that was tampered with, and a limit that is none, are 400', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  await record(server, client.accountId)
  const { next } = await untilItems(server, client, 1)
  const parts = JSON.parse(Buffer.from(next, 'base64url').toString()) as (string | number)[]
  const forge = (at: number, value: string | number) =>
    Buffer.from(JSON.stringify(parts.with(at, value))).toString('base64url')
  const forged = [
    forge(0, '999999999999999999'),
    forge(0, '-1'),
    forge(1, 2),
    forge(2, 'x'),
    forge(3, 1),
  ]
  for (const after of [...forged, 'x', next.slice(0, -4), `${'9'.repeat(500)}`]) {
    const problem = assertProblem(
      await call(server, client.bearer, 'GET', `/v1/events?after=${after}`),
      400,
      'invalid-query',
    )
    assert.equal(problem.errors?.[0]?.code, 'invalid-cursor')
  }
  for (const query of ['limit=0', 'limit=x', 'limit=1&limit=2']) {
    const answer = await call(server, client.bearer, 'GET', `/v1/events?${query}`)
    assertProblem(answer, 400, 'invalid-query')
  }
})

test('GET /v1/events/{id} answers the bytes of the callback, the file included', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const { eventId, paymentId } = await record(server, client.accountId)
  const answer = await call(server, client.bearer, 'GET', `/v1/events/${eventId}`)
  assert.equal(answer.statusCode, 200)
  assert.equal(answer.headers['content-type'], 'application/json')
  assert.equal(answer.headers['x-paybell-event'], 'payment.created')
  assert.equal(answer.headers['x-paybell-sequence'], '1')
  const { rows } = await pool.query('select text from events where id = $1', [eventId])
  const text = String(rows[0].text)
  assert.equal(answer.body, `${text.slice(0, -2)},"base64EncodedFile":"JVBERi0="}}`)
  assert.equal(answer.json().id, paymentId)
  for (const id of [randomUUID(), 'x', paymentId]) {
    const unknown = { url: `/v1/events/${id}`, headers: client.bearer }
    assertProblem(await server.app.inject(unknown), 404, 'not-found')
  }
  const narrowed = { ...client.bearer, accountid: client.accountId }
  assert.equal((await call(server, narrowed, 'GET', `/v1/events/${eventId}`)).statusCode, 200)
})

test('a cursor older than what is kept is a 410; that of a reader that keeps asking is not', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  await record(server, client.accountId)
  const { next: old } = await untilItems(server, client, 1, '?limit=1')
  // Forty quiet days, with one read of the feed near the end.
  server.clock.advance((39 * DAY_MS) / 1_000)
  const { bearer } = await tokenFor(server, client)
  const { next: fresh } = await readPage(server, bearer, `?after=${old}`)
  const keptSince = new Date(server.clock.nowMs() - 8 * DAY_MS)
  await pool.query('update feed_origin set kept_since = $1', [keptSince])
  t.after(() => pool.query("update feed_origin set kept_since = '-infinity'"))
  const expired = { url: `/v1/events?after=${old}`, headers: bearer }
  const problem = assertProblem(await server.app.inject(expired), 410, 'cursor-expired')
  assert.ok(problem.detail.includes(keptSince.toISOString()))
  assert.deepEqual((await readPage(server, bearer, `?after=${fresh}`)).items, [])
  assert.equal((await readPage(server, bearer)).items.length, 1, 'without a cursor it begins again')
})

async function tokenFor(server: TestServer, { clientId, clientSecret }: TestClient) {
  const payload = { clientId, clientSecret }
  const answer = await server.app.inject({ method: 'POST', url: '/auth/token', payload })
  return { bearer: { authorization: `Bearer ${answer.json().access_token}` } }
}
