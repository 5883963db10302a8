// What one callback looks like on the wire (decisions §7.1, §7.2), checked with code that shares nothing
// with the server: Node's own HMAC and the Standard Webhooks library.

import assert from 'node:assert/strict'
import { createHash, createHmac, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { readDeliveries, startPaybell, untilAllAre } from '../support/paybell.ts'
import { type Received, startReceiver } from '../support/receiver.ts'

const KEY = ' spaces at the ends, "quotes", 100 % and é '
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** The names as sent, in order, without what HTTP itself needs. */
function names({ rawHeaders }: Received): string[] {
  return rawHeaders
    .filter((_, index) => index % 2 === 0)
    .filter((name) => !/^(host|connection|content-length)$/i.test(name))
}

function hmac(body: Buffer, key = KEY): string {
  return createHmac('sha256', Buffer.from(key, 'utf8')).update(body).digest('hex')
}

function verifyStandard({ body, headers }: Received, key = KEY): void {
  const webhook = new Webhook(`whsec_${Buffer.from(key, 'utf8').toString('base64')}`)
  webhook.verify(body, headers as Record<string, string>)
}

test('a callback is a POST of the payment with its file inside, and carries exactly the decided headers', async (t) => {
  const receiver = await startReceiver(t)
  const paybell = await startPaybell(t)
  await paybell.caller.register(receiver.url('/a/path?with=query'), KEY)
  const id = randomUUID()
  const put = await paybell.caller.putSample(id)
  const { event } = (await put.json()) as { event: { id: string } }
  await receiver.hasSeen(({ received }) => received.length === 1)
  const callback = receiver.received[0] ?? assert.fail()

  assert.equal(callback.path, '/a/path?with=query')
  assert.deepEqual(names(callback), [
    'content-type',
    'user-agent',
    'X-Paybell-Hmac',
    'webhook-id',
    'webhook-timestamp',
    'webhook-signature',
    'X-Paybell-Event',
    'X-Paybell-Sequence',
    'X-Paybell-Attempt',
    'traceparent',
  ])
  const { headers } = callback
  assert.equal(headers['content-type'], 'application/json')
  assert.match(String(headers['user-agent']), /^Paybell/)
  assert.match(event.id, UUID)
  assert.equal(headers['webhook-id'], event.id)
  assert.match(String(headers['webhook-timestamp']), /^\d{10}$/)
  assert.ok(Math.abs(Number(headers['webhook-timestamp']) - callback.atMs / 1000) < 5)
  assert.match(String(headers['webhook-signature']), /^v1,[A-Za-z0-9+/]{43}=$/)
  assert.equal(headers['x-paybell-event'], 'payment.created')
  assert.equal(headers['x-paybell-sequence'], '1')
  assert.equal(headers['x-paybell-attempt'], '1')
  assert.match(String(headers.traceparent), /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
  assert.equal(headers['content-length'], String(callback.body.length))
  assert.equal(headers['x-paybell-hmac'], hmac(callback.body))
  verifyStandard(callback)

  const sent = JSON.parse(callback.body.toString())
  assert.equal(sent.id, id)
  assert.deepEqual(sent.document, {
    mediaType: 'application/pdf',
    name: 'receipt.pdf',
    base64EncodedFile: 'JVBERi0=',
  })
  assert.equal(sent.version, undefined, 'the version of the source is no field of a payment')
})

test('G5: five attempts have one webhook-id, one body, five numbers and a signature each that holds', async (t) => {
  const receiver = await startReceiver(t)
  const paybell = await startPaybell(t, { env: { PAYBELL_TIME_SCALE: '100' } })
  receiver.answer = () => (receiver.received.length < 4 ? 500 : 200)
  await paybell.caller.register(receiver.url(), KEY)
  await paybell.caller.pay()
  await receiver.hasSeen(({ received }) => received.length === 5)
  await untilAllAre(paybell.pool, ['DELIVERED'])

  const { received } = receiver
  assert.equal(received.length, 5)
  assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, 1)
  assert.equal(new Set(received.map(({ headers }) => headers.traceparent)).size, 1)
  const hashes = received.map(({ body }) => createHash('sha256').update(body).digest('hex'))
  assert.equal(new Set(hashes).size, 1)
  const numbers = received.map(({ headers }) => headers['x-paybell-attempt'])
  assert.deepEqual(numbers, ['1', '2', '3', '4', '5'])
  for (const callback of received) {
    assert.equal(callback.headers['x-paybell-hmac'], hmac(callback.body))
    verifyStandard(callback)
  }
  const [delivery] = await readDeliveries(paybell.pool)
  assert.equal(delivery?.attempts, 5)
  const { rows } = await paybell.pool.query('select attempt, status from attempts order by attempt')
  assert.deepEqual(
    rows.map(({ attempt, status }) => [attempt, status]),
    [
      [1, 500],
      [2, 500],
      [3, 500],
      [4, 500],
      [5, 200],
    ],
  )
})

test('H6: the extra header of a subscription arrives exactly once, and no answer shows it', async (t) => {
  const receiver = await startReceiver(t)
  const paybell = await startPaybell(t)
  const subscribed = await paybell.caller.subscribe({
    callbackUrl: receiver.url(),
    sharedKey: KEY,
    headerKey: 'Authorization',
    headerValue: 'Basic Y2FuYXJ5',
  })
  assert.equal(subscribed.status, 201)
  const location = subscribed.headers.get('location') ?? assert.fail()
  await paybell.caller.pay()
  await receiver.hasSeen(({ received }) => received.length === 1)
  const callback = receiver.received[0] ?? assert.fail()
  const given = callback.rawHeaders.filter((_, index, all) => {
    return index % 2 === 1 && all[index - 1]?.toLowerCase() === 'authorization'
  })
  assert.deepEqual(given, ['Basic Y2FuYXJ5'])
  verifyStandard(callback)
  for (const path of [location, '/api/v1/payments/subscriptions', '/v1/webhooks']) {
    const shown = await (await paybell.caller.get(path)).text()
    assert.doesNotMatch(shown, /Y2FuYXJ5/, path)
  }
})

test('a payment without a document is sent as its text alone, and the file is stored once for many events', async (t) => {
  const receiver = await startReceiver(t)
  const paybell = await startPaybell(t)
  await paybell.caller.register(receiver.url(), KEY)
  const id = await paybell.caller.write()
  await receiver.hasSeen(({ accepted }) => accepted.length === 1)
  assert.equal(JSON.parse(String(receiver.received[0]?.body)).document, undefined)
  for (const reference of ['one', 'two', 'three']) {
    await paybell.caller.putSample(id, { version: undefined, reference })
  }
  await receiver.hasSeen(({ accepted }) => accepted.length === 4)
  for (const { body } of receiver.received.slice(1)) {
    assert.equal(JSON.parse(body.toString()).document.base64EncodedFile, 'JVBERi0=')
  }
  const { rows } = await paybell.pool.query('select content from documents')
  assert.deepEqual(rows, [{ content: 'JVBERi0=' }])
})
