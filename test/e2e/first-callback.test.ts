// The walk of the README, over real sockets: token, registration, payment, signed callback.

import assert from 'node:assert/strict'
import { createHmac, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { sampleBody } from '../support/payment-sample.ts'
import { startReceiver } from '../support/receiver.ts'
import { Caller, makeDataDir, startSandbox } from '../support/sandbox.ts'

const KEY = 'a key with spaces, "quotes" and é'

test('from an empty folder to a signed callback, in both dialects', async (t) => {
  const sandbox = await startSandbox(t, { dataDir: await makeDataDir(t) })
  const receiver = await startReceiver(t)
  const caller = new Caller(sandbox)

  const registered = await caller.register(receiver.url(), KEY)
  assert.equal(registered.status, 200)
  assert.equal(await registered.text(), '')

  const id = randomUUID()
  const put = await caller.putPayment(id, sampleBody({ id }))
  assert.equal(put.status, 201)
  const { event } = (await put.json()) as { event: { id: string; type: string; sequence: number } }
  assert.equal(event.type, 'payment.created')
  assert.equal(event.sequence, 1)

  await receiver.hasSeen(({ received }) => received.length === 1)
  const [callback] = receiver.received
  assert.ok(callback)
  assert.equal(callback.headers['content-type'], 'application/json')
  assert.equal(callback.headers['webhook-id'], event.id)
  assert.equal(callback.headers['x-paybell-event'], 'payment.created')
  assert.equal(callback.headers['x-paybell-sequence'], '1')
  assert.equal(callback.headers['x-paybell-attempt'], '1')
  const hmac = createHmac('sha256', Buffer.from(KEY, 'utf8')).update(callback.body).digest('hex')
  assert.equal(callback.headers['x-paybell-hmac'], hmac)
  const secret = `whsec_${Buffer.from(KEY, 'utf8').toString('base64')}`
  new Webhook(secret).verify(callback.body, callback.headers as Record<string, string>)

  assert.equal(await sandbox.kill('SIGINT'), 0)
})
