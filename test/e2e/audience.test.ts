// Which endpoint gets which payments (decisions §1, §4, §5.4): a subscription those of every account of
// its client, a webhook those of its own account, and none those of another client.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Caller } from '../support/caller.ts'
import { addAccount, addClient, readDeliveries, startPaybell, until } from '../support/paybell.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'

function idsAt(receiver: Receiver, path: string): string[] {
  return receiver.received
    .filter((callback) => callback.path === path)
    .map(({ body }) => JSON.parse(body.toString()).id)
    .sort()
}

test('a subscription hears of all accounts of its client, a webhook of its own, and no client of another', async (t) => {
  const receiver = await startReceiver(t)
  const paybell = await startPaybell(t)
  const { caller } = paybell
  const second = new Caller(await addAccount(paybell, paybell))
  const stranger = new Caller(await addClient(paybell, 'Stranger'))
  await caller.register(receiver.url('/webhook-1'), 'key')
  await second.register(receiver.url('/webhook-2'), 'key')
  await caller.subscribe({ callbackUrl: receiver.url('/subscription'), sharedKey: 'key' })
  await stranger.register(receiver.url('/stranger-webhook'), 'key')
  await stranger.subscribe({
    callbackUrl: receiver.url('/stranger-subscription'),
    sharedKey: 'key',
  })

  const one = await caller.pay()
  const two = await second.pay()
  const three = await stranger.pay()
  await receiver.hasSeen(({ received }) => received.length === 6)
  assert.deepEqual(idsAt(receiver, '/webhook-1'), [one])
  assert.deepEqual(idsAt(receiver, '/webhook-2'), [two])
  assert.deepEqual(idsAt(receiver, '/subscription'), [one, two].sort())
  assert.deepEqual(idsAt(receiver, '/stranger-webhook'), [three])
  assert.deepEqual(idsAt(receiver, '/stranger-subscription'), [three])
  assert.equal((await readDeliveries(paybell.pool)).length, 6)
})

test('two clients with one callback address hear each of their own payments only, under their own key', async (t) => {
  const receiver = await startReceiver(t)
  const paybell = await startPaybell(t)
  const other = new Caller(await addClient(paybell, 'Other'))
  await paybell.caller.register(receiver.url(), 'first key')
  await other.register(receiver.url(), 'second key')
  await paybell.caller.pay()
  await other.pay()
  await receiver.hasSeen(({ received }) => received.length === 2)
  assert.equal((await readDeliveries(paybell.pool)).length, 2)
  assert.equal(new Set(receiver.received.map(({ headers }) => headers['x-paybell-hmac'])).size, 2)
})

test('an endpoint that is registered later gets later events only', async (t) => {
  const receiver = await startReceiver(t)
  const paybell = await startPaybell(t)
  await paybell.caller.register(receiver.url('/early'), 'key')
  const before = await paybell.caller.pay()
  await receiver.hasSeen(({ received }) => received.length === 1)
  await paybell.caller.register(receiver.url('/late'), 'key')
  const after = await paybell.caller.pay()
  await paybell.caller.putSample(before, { version: 18, reference: 'new' })
  await receiver.hasSeen(({ received }) => received.length === 5)
  assert.deepEqual(idsAt(receiver, '/late'), [before, after].sort())
  const late = receiver.received.filter(({ path }) => path === '/late')
  assert.deepEqual([...receiver.sequences(late)].sort(), [1, 2])
})

test('the same address registered again is one endpoint: one callback for one event', async (t) => {
  const receiver = await startReceiver(t)
  const paybell = await startPaybell(t)
  for (let n = 0; n < 3; n++) await paybell.caller.register(receiver.url(), 'key')
  await paybell.caller.pay()
  await receiver.hasSeen(({ received }) => received.length === 1)
  assert.equal((await readDeliveries(paybell.pool)).length, 1)
})

test('deleting a webhook cancels what it is owed at once, in flight or waiting, and keeps the history', async (t) => {
  const receiver = await startReceiver(t)
  const paybell = await startPaybell(t, { env: { PAYBELL_TIME_SCALE: '50' } })
  receiver.answer = 500
  await paybell.caller.register(receiver.url(), 'key')
  const id = await paybell.caller.pay({ version: undefined })
  await paybell.caller.putSample(id, { version: undefined, reference: 'second' })
  await paybell.caller.pay()
  await receiver.hasSeen(({ received }) => received.length >= 4)
  const webhookId = await paybell.caller.webhookAt(receiver.url())
  const answer = await paybell.caller.deleteWebhook(webhookId)
  assert.equal(answer.status, 204)
  const deliveries = await readDeliveries(paybell.pool)
  assert.deepEqual(
    deliveries.map(({ state }) => state),
    ['CANCELLED', 'CANCELLED', 'CANCELLED'],
  )
  // Those in flight at the time of the answer may still be under way; none starts afterwards.
  await until('nothing in flight', () => engineOf(paybell).inFlight === 0)
  const seen = receiver.received.length
  receiver.answer = 200
  const later = await paybell.caller.pay()
  await paybell.caller.register(receiver.url('/new'), 'key')
  await paybell.caller.putSample(later, { version: 18, reference: 'x' })
  await receiver.hasSeen(({ received }) => received.some(({ path }) => path === '/new'))
  assert.equal(receiver.received.length, seen + 1)
  const { rows } = await paybell.pool.query('select count(*)::int as count from attempts')
  assert.ok(rows[0].count >= 4, 'attempts stay readable')
})

function engineOf(paybell: { app: { deps: { engine: unknown } } }): { inFlight: number } {
  return paybell.app.deps.engine as { inFlight: number }
}
