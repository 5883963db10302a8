// Statements and receipts as callers get them (decisions §14), on the whole service: the callbacks have really
// been made, and the signatures are checked with the published keys.

import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { compactVerify, createLocalJWKSet } from 'jose'
import { Caller } from '../../../../test/support/caller.ts'
import { addClient, startPaybell, until } from '../../../../test/support/paybell.ts'
import { type Received, startReceiver } from '../../../../test/support/receiver.ts'
import { digestOfIds, NO_IDS } from '../../../core/proofs/ids-digest.ts'
import { HOUR_MS, hourStartMs } from '../../../core/proofs/statement.ts'

const paybell = await startPaybell({ after })
const receiver = await startReceiver({ after })
const stranger = new Caller(await addClient(paybell, 'Stranger'))
const { caller } = paybell

interface Counts {
  isFinal: boolean
  owed: number
  delivered: number
  superseded: number
  exhausted: number
  cancelled: number
  pending: number
  idsDigest: string
}
interface Statement extends Counts {
  endpointId: string
  from: string
  to: string
  hours: (Counts & { from: string })[]
  jws: string
}

const refused = randomUUID()
let webhookId: string
let subscriptionId: string

/** The hour that is open and the two before it: the tests may run over the end of one. */
function period(): string {
  const toMs = hourStartMs(Date.now()) + HOUR_MS
  const text = (ms: number) => new Date(ms).toISOString()
  return `from=${text(toMs - 3 * HOUR_MS)}&to=${text(toMs)}`
}

async function statementOf(path: string, by = caller): Promise<Statement> {
  const answer = await by.get(`${path}/statement?${period()}`)
  assert.equal(answer.status, 200, await answer.clone().text())
  return (await answer.json()) as Statement
}

async function verified(jws: string, typ: string): Promise<unknown> {
  const answer = await fetch(`${paybell.baseUrl}/.well-known/webhook-keys.json`)
  const keys = createLocalJWKSet((await answer.json()) as never)
  const { payload, protectedHeader } = await compactVerify(jws, keys)
  assert.deepEqual([protectedHeader.alg, protectedHeader.typ], ['EdDSA', typ])
  return JSON.parse(Buffer.from(payload).toString())
}

async function deliveries(query = ''): Promise<{ id: string; eventId: string; state: string }[]> {
  const answer = await caller.get(`/v1/deliveries?endpointId=${webhookId}${query}`)
  return ((await answer.json()) as { items: [] }).items
}

const idsTaken = (path: string) =>
  receiver.received
    .filter((one) => one.path === path && one.status === 200)
    .map(({ headers }) => String(headers['webhook-id']))

before(async () => {
  receiver.answer = ({ body }) => (JSON.parse(body.toString()).id === refused ? 503 : 200)
  webhookId = await caller.addWebhook(receiver.url('/hook'), 'a shared key')
  subscriptionId = await caller.addSubscription(receiver.url('/all'), 'a shared key')
  for (const id of [randomUUID(), randomUUID(), randomUUID(), refused]) {
    const answer = await caller.putSample(id, { version: undefined })
    assert.ok(answer.ok)
  }
  await until('the callbacks are recorded', async () => {
    const items = await deliveries()
    return items.filter(({ state }) => state === 'DELIVERED').length === 3
  })
})

/** Transactions of other test files on the same server keep an hour from being final for a moment. */
function settledStatementOf(path: string): Promise<Statement> {
  return until('its first hour is final', async () => {
    const statement = await statementOf(path)
    return statement.hours[0]?.isFinal ? statement : null
  })
}

test('a statement counts what was owed, and its digest is that of the ids that the receiver has', async () => {
  const statement = await settledStatementOf(`/v1/webhooks/${webhookId}`)
  const { hours, jws, from, to, ...whole } = statement
  assert.deepEqual(whole, {
    endpointId: webhookId,
    isFinal: false,
    owed: 4,
    delivered: 3,
    superseded: 0,
    exhausted: 0,
    cancelled: 0,
    pending: 1,
    idsDigest: digestOfIds(new Set(idsTaken('/hook'))),
  })
  assert.deepEqual(
    hours.map((hour) => hour.from),
    [0, 1, 2].map((at) => new Date(Date.parse(from) + at * HOUR_MS).toISOString()),
  )
  assert.equal(
    hours.reduce((sum, { owed }) => sum + owed, 0),
    4,
  )
  const quiet = hours[0] ?? assert.fail()
  assert.deepEqual([quiet.owed, quiet.isFinal, quiet.idsDigest], [0, true, NO_IDS])
  const { jws: _, ...claims } = statement
  assert.deepEqual(await verified(jws, 'paybell-statement+jws'), claims)
})

test('a subscription has one too, and the operator has those of all clients', async () => {
  const path = `/api/v1/payments/subscriptions/${subscriptionId}`
  await until('the subscription has its callbacks', async () => {
    return (await statementOf(path)).delivered === 3
  })
  const { jws, ...own } = await settledStatementOf(path)
  assert.equal(own.idsDigest, digestOfIds(new Set(idsTaken('/all'))))
  const answer = await caller.operate('GET', `/endpoints/${subscriptionId}/statement?${period()}`)
  const { jws: signed, ...seen } = (await answer.json()) as Statement
  assert.deepEqual(seen, own)
  assert.deepEqual(await verified(signed, 'paybell-statement+jws'), own)
  assert.notEqual(jws, '')
})

test('another client’s endpoint is not found, and periods that make no statement are refused', async () => {
  const other = await stranger.get(`/v1/webhooks/${webhookId}/statement?${period()}`)
  assert.equal(other.status, 404)
  const codesOf = async (query: string) => {
    const answer = await caller.get(`/v1/webhooks/${webhookId}/statement?${query}`)
    const { code, errors } = (await answer.json()) as {
      code: string
      errors: { pointer: string; code: string }[]
    }
    assert.deepEqual([answer.status, code], [400, 'invalid-query'])
    return errors.map((error) => `${error.pointer} ${error.code}`)
  }
  assert.deepEqual(await codesOf('from=2026-03-02T09:30:00Z&to=2026-03-02T10:00:00Z'), [
    '/from not-a-whole-hour',
  ])
  assert.deepEqual(await codesOf('from=2026-03-02T09:00:00Z&to=2026-03-02T09:00:00Z'), [
    '/to not-after-from',
  ])
  assert.deepEqual(await codesOf('from=2026-01-01T00:00:00Z&to=2026-02-01T01:00:00Z'), [
    '/from period-too-long',
  ])
  assert.deepEqual(await codesOf('from=2126-03-02T09:00:00Z&to=2126-03-02T10:00:00Z'), [
    '/to in-the-future',
  ])
  assert.equal((await codesOf('from=yesterday')).length, 2)
})

test('a receipt says what was sent and when it was answered', async () => {
  const [item] = await deliveries('&state=DELIVERED')
  const { id, eventId } = item ?? assert.fail()
  const answer = await caller.get(`/v1/deliveries/${id}/receipt`)
  assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'application/jose'])
  const receipt = (await verified(await answer.text(), 'paybell-receipt+jws')) as Record<
    string,
    string | number
  >
  const sent = receiver.received.find(
    ({ path, headers }) => path === '/hook' && headers['webhook-id'] === eventId,
  ) as Received
  const { sentAt, answeredAt, ...rest } = receipt
  assert.deepEqual(rest, {
    deliveryId: id,
    webhookId: eventId,
    paymentId: JSON.parse(sent.body.toString()).id,
    sequence: 1,
    endpointUrl: receiver.url('/hook'),
    bodySha256: createHash('sha256').update(sent.body).digest('hex'),
    attempt: 1,
    status: 200,
  })
  assert.ok(Date.parse(sentAt as string) <= Date.parse(answeredAt as string))
  const operators = await caller.operate('GET', `/deliveries/${id}/receipt`)
  assert.deepEqual(await verified(await operators.text(), 'paybell-receipt+jws'), receipt)
  assert.equal((await stranger.get(`/v1/deliveries/${id}/receipt`)).status, 404)
})

test('what was not delivered has no receipt, nor has one whose payload is gone', async () => {
  const [pending] = await deliveries('&state=PENDING')
  const none = await caller.get(`/v1/deliveries/${pending?.id}/receipt`)
  assert.deepEqual(
    [none.status, ((await none.json()) as { code: string }).code],
    [409, 'no-receipt'],
  )
  const [item] = await deliveries('&state=DELIVERED')
  await paybell.pool.query('delete from events where id = $1', [item?.eventId])
  const gone = await caller.get(`/v1/deliveries/${item?.id}/receipt`)
  assert.deepEqual(
    [gone.status, ((await gone.json()) as { code: string }).code],
    [410, 'payload-expired'],
  )
})

test('regression: the owner of a deleted endpoint still gets its statement, and no one else does', async () => {
  const id = await caller.addWebhook(receiver.url('/deleted'), 'a shared key')
  const paymentId = randomUUID()
  await caller.putSample(paymentId, { version: undefined })
  const path = `/v1/webhooks/${id}`
  await until('it is delivered', async () => (await statementOf(path)).delivered === 1)
  assert.equal((await caller.call('DELETE', path)).status, 204)
  assert.equal((await caller.get(path)).status, 404)
  const { owed, delivered, idsDigest } = await statementOf(path)
  assert.deepEqual([owed, delivered], [1, 1])
  assert.equal(idsDigest, digestOfIds(new Set(idsTaken('/deleted'))))
  assert.equal((await stranger.get(`${path}/statement?${period()}`)).status, 404)
  // Through the other door it is not there either.
  const other = await caller.get(`/api/v1/payments/subscriptions/${id}/statement?${period()}`)
  assert.equal(other.status, 404)
})
