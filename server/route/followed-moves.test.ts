// What the route remembers of a client that has moved: what a cell says of whom it has authenticated, and nothing that
// a request shows.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type FakeAnswer, forgedToken, startFakeCell } from '../../test/support/fake-cells.ts'
import { routeConfig, startRoute } from '../../test/support/routes.ts'

const t = { after }
/** All of these were made in cell 0. */
const VICTIM = '019a8f6e-1c2d-7a3b-9000-5e6f70819204'
const ATTACKER = '019a8f6e-1c2d-7a3b-9000-5e6f70819205'
const MOVED = '019a8f6e-1c2d-7a3b-9000-5e6f70819206'
const ACCOUNT = '019a8f6e-1c2d-7a3b-9000-5e6f70819207'
const PAYMENT = '/operator/v1/payments/5bd8b9c4-7a34-4d4e-8007-7d9f5c2f3c11'

let refusal: FakeAnswer | null = null
const first = await startFakeCell(t, () => refusal ?? { status: 200 })
let onward: FakeAnswer | null = null
const seventh = await startFakeCell(t, () => onward ?? { status: 200 })
const ninth = await startFakeCell(t, () => ({ status: 200 }))
const config = routeConfig(
  { 0: first.baseUrl, 7: seventh.baseUrl, 9: ninth.baseUrl },
  'x'.repeat(43),
)
const route = await startRoute(t, config)

/** Asks while cell 0 says that the client is in cell 7, and `id`, if any, is whom it has authenticated. */
async function askMoved(id: string | null, path: string, init: RequestInit): Promise<number> {
  const headers: Record<string, string> = { 'x-paybell-cell': '7' }
  if (id !== null) headers['x-paybell-moved'] = id
  refusal = { status: 308, headers }
  const { status } = await fetch(route.baseUrl + path, { redirect: 'manual', ...init })
  refusal = null
  return status
}

/** The cell that gets a request of the client, and the one that gets a payment of the account of this id. */
async function cellsOf(id: string): Promise<number[]> {
  const [before, elsewhere] = [first.received.length, seventh.received.length]
  await fetch(`${route.baseUrl}/v1/webhooks`, { headers: { authorization: forgedToken(id) } })
  await fetch(route.baseUrl + PAYMENT, { method: 'PUT', headers: { accountid: id }, body: '{}' })
  return [first.received.length - before, seventh.received.length - elsewhere]
}
const IN_FIRST = [2, 0]
const IN_SEVENTH = [0, 2]

test('a client, or an account, that the cell names is followed, and found at once the next time', async () => {
  const client = { headers: { authorization: forgedToken(MOVED) } }
  assert.equal(await askMoved(MOVED.toUpperCase(), '/v1/webhooks', client), 200)
  assert.deepEqual(await cellsOf(MOVED), IN_SEVENTH)
  const payment = { method: 'PUT', headers: { accountid: ACCOUNT }, body: '{}' }
  assert.equal(await askMoved(ACCOUNT, PAYMENT, payment), 200)
  assert.deepEqual(await cellsOf(ACCOUNT), IN_SEVENTH)
})

test('regression: without credentials, no caller changes where the requests of others go', async () => {
  const shown = { authorization: forgedToken(VICTIM), accountid: VICTIM, 'x-paybell-cell': '0' }
  const body = JSON.stringify({ clientId: ATTACKER, clientSecret: 'x' })
  // A cell checks no secret of a client that has moved, so its answer names no one: it is followed, this once.
  const token = { method: 'POST', headers: { ...shown, 'content-type': 'application/json' }, body }
  assert.equal(await askMoved(null, '/auth/token', token), 200)
  assert.equal(seventh.received.at(-1)?.path, '/auth/token')
  assert.deepEqual(await cellsOf(VICTIM), IN_FIRST)
  assert.deepEqual(await cellsOf(ATTACKER), IN_FIRST)
})

test('regression: a client that has moved takes no other with it, whatever its request shows', async () => {
  const shown = { authorization: forgedToken(VICTIM), accountid: VICTIM, 'x-paybell-cell': '0' }
  assert.equal(await askMoved(ATTACKER, '/v1/webhooks', { headers: shown }), 200)
  assert.deepEqual(await cellsOf(VICTIM), IN_FIRST)
  assert.deepEqual(await cellsOf(ATTACKER), IN_SEVENTH)
})

test('what is no id is not remembered', async () => {
  const headers = { authorization: forgedToken(VICTIM) }
  assert.equal(await askMoved('everyone', '/v1/webhooks', { headers }), 200)
  assert.deepEqual(await cellsOf(VICTIM), IN_FIRST)
})

test('regression: a 308 that names the cell itself is passed on, and is asked for once', async () => {
  refusal = {
    status: 308,
    headers: { 'x-paybell-cell': '0', location: 'https://elsewhere.example' },
  }
  const before = first.received.length
  const headers = { authorization: forgedToken(VICTIM) }
  const answer = await fetch(`${route.baseUrl}/v1/webhooks`, { headers, redirect: 'manual' })
  refusal = null
  assert.deepEqual([answer.status, first.received.length - before], [308, 1])
})

test('regression: a cell that does not have a client cannot say where it is', async () => {
  onward = { status: 308, headers: { 'x-paybell-cell': '0', 'x-paybell-moved': VICTIM } }
  const headers = { 'x-paybell-cell': '7' }
  await fetch(`${route.baseUrl}/v1/webhooks`, { headers, redirect: 'manual' })
  onward = { status: 308, headers: { 'x-paybell-cell': '9', 'x-paybell-moved': VICTIM } }
  await fetch(`${route.baseUrl}/v1/webhooks`, { headers, redirect: 'manual' })
  onward = null
  assert.deepEqual(await cellsOf(VICTIM), IN_FIRST)
})

test('regression: a client that has moved twice is followed twice, and a circle ends with 503', async () => {
  const twice = '019a8f6e-1c2d-7a3b-9000-5e6f70819208'
  const headers = { authorization: forgedToken(twice) }
  onward = { status: 308, headers: { 'x-paybell-cell': '9', 'x-paybell-moved': twice } }
  assert.equal(await askMoved(twice, '/v1/webhooks', { headers }), 200)
  const before = ninth.received.length
  assert.equal((await fetch(`${route.baseUrl}/v1/webhooks`, { headers })).status, 200)
  assert.equal(ninth.received.length, before + 1, 'and found at once the next time')
  onward = { status: 308, headers: { 'x-paybell-cell': '0' } }
  const circling = { headers: { authorization: forgedToken(VICTIM) } }
  assert.equal(await askMoved(null, '/v1/webhooks', circling), 503)
  onward = null
})
