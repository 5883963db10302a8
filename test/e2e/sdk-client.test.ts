// The SDK against the real service, both ways: every call of its client, and its receiver at the other
// end of the callbacks.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { toNodeHandler } from '../../sdk/src/adapters.ts'
import { type Client, createClient } from '../../sdk/src/calling/client.ts'
import { PaybellError } from '../../sdk/src/plain/errors.ts'
import { createReceiver } from '../../sdk/src/receiving/receiver.ts'
import { signForTest } from '../../sdk/src/receiving/sign-for-test.ts'
import type { Callback } from '../../sdk/src/receiving/verify.ts'
import { type Paybell, startPaybell, until } from '../support/paybell.ts'
import { SAMPLE } from '../support/payment-sample.ts'

const KEY = 'a key with spaces, "quotes" and é'

let paybell: Paybell
let client: Client
let fails = false
const handled: Callback[] = []
const tests: Callback[] = []
const receiver = createReceiver({
  // The new one of the rotation below is known beforehand, as a careful integrator would have it.
  sharedKey: ['the next key', KEY],
  onPayment: (_payment, callback) => {
    if (fails) throw new Error('not today')
    handled.push(callback)
  },
  onTest: (callback) => tests.push(callback),
  onError: () => {},
})
const server = createServer(toNodeHandler(receiver))
let callbackUrl: string

const leftovers: (() => unknown)[] = []
after(async () => {
  server.closeAllConnections()
  server.close()
  for (const clean of leftovers.reverse()) await clean()
})

before(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  callbackUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  paybell = await startPaybell(
    { after: (clean) => void leftovers.push(clean) },
    { env: { PAYBELL_TIME_SCALE: '1000' } },
  )
  client = createClient(paybell)
})

async function put(id: string, changes: object, amount = '12345.67'): Promise<void> {
  const { amount: _, version: __, ...rest } = SAMPLE
  const text = JSON.stringify({ ...rest, id, ...changes })
  const body = `${text.slice(0, -1)},"amount":{"amount":${amount},"currency":"EUR"}}`
  const response = await paybell.caller.putPayment(id, body)
  assert.ok(response.ok, await response.text())
}

test('a listener: its callbacks are fetched, answered, and signed like any other', async () => {
  const listener = await client.listeners.register({ name: 'sdk', sharedKey: KEY })
  assert.deepEqual([listener.name, listener.status], ['sdk', 'PAUSED'])
  assert.deepEqual((await client.listeners.list()).content, [listener])
  assert.equal(await client.listeners.next(listener.id, { wait: 0 }), undefined)
  const test = client.listeners.test(listener.id)
  const offer = (await client.listeners.next(listener.id)) ?? assert.fail('no offer')
  const body = Buffer.from(offer.bodyBase64, 'base64')
  const headers = Object.fromEntries(offer.headers)
  assert.equal((await client.listeners.verify(listener.id, { headers, body })).valid, true)
  await client.listeners.answer(listener.id, { offerId: offer.offerId, status: 200 })
  assert.equal((await test).delivered, true)
  const late = client.listeners.answer(listener.id, { offerId: offer.offerId, status: 200 })
  await assert.rejects(late, { code: 'offer-gone', status: 410 })
  assert.equal((await client.listeners.get(listener.id)).health.pending, 0)
  await client.listeners.delete(listener.id)
})

test('register, receive, look, replay, rotate, recover, check, delete', async () => {
  const webhook = await client.webhooks.register({ callbackUrl, sharedKey: KEY })
  assert.equal(webhook.endpointUrl, callbackUrl)
  assert.equal(webhook.status, 'ACTIVE')
  assert.deepEqual((await client.webhooks.list({ size: 5 })).content, [webhook])
  for await (const each of client.webhooks.all({}, { accountId: null })) {
    assert.equal(each.accountId, paybell.accountId)
  }

  const id = randomUUID()
  await put(id, {}, '9007199254740993.10')
  await until('the first callback', () => handled.length === 1)
  assert.equal(handled[0]?.event, 'payment.created')
  assert.equal(handled[0]?.payment.amount.amount, '9007199254740993.10')
  assert.equal(handled[0]?.payment.document?.base64EncodedFile, 'JVBERi0=')
  assert.equal((await client.payments.get(id)).amount.amount, '9007199254740993.10')

  const delivery = await until('the delivery', async () => {
    const { items } = await client.deliveries.list({ paymentId: id, state: ['DELIVERED'] })
    return items[0]
  })
  assert.equal(delivery.eventId, handled[0]?.id)
  assert.equal(delivery.amount?.amount, '9007199254740993.10')
  const { externalId } = delivery
  assert.ok(externalId)
  const { items } = await client.payments.list({ externalId, state: 'DUE' })
  assert.deepEqual(
    items.map((payment) => [payment.id, payment.amount.amount, payment.deliveryState]),
    [[id, '9007199254740993.10', 'DELIVERED']],
  )
  const [hit] = await client.search(externalId)
  assert.deepEqual([hit?.kind, hit?.id], ['payment', id])
  const series = await client.webhooks.series(webhook.id)
  assert.equal(series.points.length, 24)
  const detail = await client.deliveries.get(delivery.id)
  assert.equal(detail.request.url, callbackUrl)
  assert.equal(detail.attemptLog[0]?.status, 200)
  assert.match(detail.explanation, /200|deliver/i)

  // The receiver knows this event: it answers 200 and does nothing.
  assert.equal((await client.deliveries.replay(delivery.id)).state, 'PENDING')
  await until('the replay', async () => {
    const { state, attempts } = await client.deliveries.get(delivery.id)
    return state === 'DELIVERED' && attempts === 2
  })
  assert.equal(handled.length, 1)

  const rotated = await client.webhooks.register({ callbackUrl, sharedKey: 'the next key' })
  assert.equal(rotated.id, webhook.id)
  await put(id, { status: { state: 'PAID' } }, '9007199254740993.10')
  await until('the callback under the next key', () => handled.length === 2)
  assert.equal(handled[1]?.sequence, 2)

  const result = await client.webhooks.test(webhook.id)
  assert.deepEqual([result.delivered, result.status], [true, 200])
  assert.equal(tests.length, 1)

  const since = new Date(Date.now() - 60_000)
  assert.deepEqual(await client.webhooks.countRecoverable(webhook.id, { since }), {
    wouldReplay: 0,
  })
  assert.deepEqual(await client.webhooks.recover(webhook.id, { since }), { replayed: 0 })

  const { headers, body } = await signForTest({ sharedKey: 'the next key' })
  assert.equal((await client.webhooks.verify(webhook.id, { headers, body })).valid, true)
  const spoilt = JSON.stringify(JSON.parse(new TextDecoder().decode(body)), null, 2)
  const { valid, findings } = await client.webhooks.verify(webhook.id, { headers, body: spoilt })
  assert.equal(valid, false)
  assert.ok(findings.length > 0)

  assert.equal((await client.webhooks.setStatus(webhook.id, 'PAUSED')).status, 'PAUSED')
  assert.equal((await client.webhooks.get(webhook.id)).health.pending, 0)
  await client.webhooks.delete(webhook.id)
  const error = await client.webhooks.get(webhook.id).catch((reason) => reason)
  assert.ok(error instanceof PaybellError)
  assert.deepEqual([error.code, error.status], ['not-found', 404])
  assert.ok(error.requestId)
})

test('what a webhook gets is changed, what it missed is counted and sent; notices have an address', async () => {
  const webhook = await client.webhooks.register({
    callbackUrl,
    sharedKey: KEY,
    events: ['payment.paid'],
    description: 'Ledger',
  })
  assert.deepEqual([webhook.events, webhook.description], [['payment.paid'], 'Ledger'])
  const id = randomUUID()
  const since = new Date(Date.now() - 60_000)
  await put(id, {}, '9007199254740993.10')
  const changed = await client.webhooks.change(webhook.id, { events: null, deliver: 'latest' })
  assert.deepEqual(
    [changed.events, changed.deliver, changed.description],
    [null, 'latest', 'Ledger'],
  )
  const { items } = await client.deliveries.list({ paymentId: id })
  assert.deepEqual(items, [], 'it did not hear of it')
  const missing = { since, events: ['payment.created'] } as const
  const { wouldQueue } = await client.webhooks.countMissing(webhook.id, missing)
  assert.ok(wouldQueue >= 1)
  const isHandled = () => handled.some(({ payment }) => payment.id === id)
  assert.ok(!isHandled())
  assert.deepEqual(await client.webhooks.replayMissing(webhook.id, missing), { queued: wouldQueue })
  await until('it has come', isHandled)
  assert.deepEqual(await client.webhooks.countMissing(webhook.id, missing), { wouldQueue: 0 })
  const unknown = client.webhooks.change(webhook.id, { events: ['payment.gone' as 'payment.*'] })
  await assert.rejects(unknown, { code: 'invalid-fields', status: 400 })

  const callback = { callbackUrl: `${callbackUrl}/notices`, sharedKey: KEY }
  const set = await client.notices.set(callback)
  assert.deepEqual(set, { callbackUrl: callback.callbackUrl, status: 'ACTIVE', recent: [] })
  assert.deepEqual(await client.notices.get(), set)
  const { content } = await client.certificates({ size: 5 })
  assert.deepEqual(content, [], 'the service has none to show')
  await client.notices.delete()
  await assert.rejects(client.notices.get(), { code: 'not-found', status: 404 })
  await client.webhooks.delete(webhook.id)
})

test('a subscription; a handler that fails is asked again', async () => {
  const { id, payment } = await client.subscribe({ callbackUrl, sharedKey: KEY })
  assert.equal(payment.amount.amount, '9007199254740993.10')
  fails = true
  const before = handled.length
  const paymentId = randomUUID()
  await put(paymentId, {})
  await until('a failed attempt', async () => {
    const { items } = await client.deliveries.list({ paymentId })
    return items[0]?.lastOutcome === 'answered 500'
  })
  fails = false
  await until('the retry', () => handled.length > before)
  assert.ok((handled.at(-1)?.attempt ?? 0) >= 2)
  assert.equal((await client.subscriptions.get(id)).status, 'ACTIVE')
  assert.equal((await client.subscriptions.list()).totalElements, 1)
  await client.subscriptions.delete(id)
})

test('the feed holds every event once, with exact amounts, and the bytes of the callbacks', async () => {
  const handledIds = new Set(handled.map(({ id }) => id))
  // The feed stays behind the oldest open transaction of the server, and other tests have theirs on this one.
  await until('the last event in the feed', async () => {
    const { items } = await client.events.list({ limit: 200 })
    return items.length >= handledIds.size
  })
  const seen: string[] = []
  for await (const { id, payment } of client.events.all({ limit: 2 })) {
    seen.push(id)
    assert.match(payment.amount.amount, /^(9007199254740993\.10|12345\.67)$/)
  }
  assert.equal(new Set(seen).size, seen.length)
  assert.deepEqual(new Set(seen), handledIds)
  const bytes = await client.events.getBody(seen[0] as string)
  assert.match(new TextDecoder().decode(bytes), /"amount":9007199254740993\.10/)
})

test('the check of receivers finds no fault in this one', async () => {
  const { id } = await client.webhooks.register({ callbackUrl, sharedKey: KEY })
  const report = await client.webhooks.check(id)
  assert.deepEqual(
    report.steps.filter(({ result }) => result !== 'pass'),
    [],
  )
})
