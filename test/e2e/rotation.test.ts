// Changing a shared key without a gap (decisions §7.4, G4).

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { startPaybell, until } from '../support/paybell.ts'
import { type Received, startReceiver } from '../support/receiver.ts'

function hmac(key: string, { body }: Received): string {
  return createHmac('sha256', key).update(body).digest('hex')
}

function isSignedBy(key: string, { body, headers }: Received): boolean {
  try {
    const secret = `whsec_${Buffer.from(key).toString('base64')}`
    new Webhook(secret).verify(body, headers as Record<string, string>)
    return true
  } catch {
    return false
  }
}

// They mostly wait: side by side they take as long as the longest.
describe('rotation', { concurrency: true }, () => {
  test('G4: after a rotation both keys sign for 24 h, then only the new one', async (t) => {
    const receiver = await startReceiver(t)
    // 24 h are 4.3 s.
    const paybell = await startPaybell(t, { env: { PAYBELL_TIME_SCALE: '20000' } })
    const { caller } = paybell
    await caller.register(receiver.url(), 'old key')
    await caller.pay()
    await receiver.hasSeen(({ received }) => received.length === 1)
    await caller.register(receiver.url(), 'new key')
    await caller.pay()
    await receiver.hasSeen(({ received }) => received.length === 2)
    const { rows } = await paybell.pool.query('select previous_key_until as until from endpoints')
    await until('24 h are over', () => Date.now() > rows[0].until.getTime())
    // The service goes by the clock of the database, as it last read it: it may be behind for a moment.
    await until('a callback with the new key alone', async () => {
      const count = receiver.received.length
      await caller.pay()
      await receiver.hasSeen(({ received }) => received.length > count)
      return receiver.received.at(-1)?.headers['x-paybell-hmac-previous'] === undefined
    })

    const [before, during] = receiver.received as [Received, Received]
    const after = receiver.received.at(-1) as Received
    assert.equal(before.headers['x-paybell-hmac'], hmac('old key', before))
    assert.equal(before.headers['x-paybell-hmac-previous'], undefined)
    assert.ok(isSignedBy('old key', before))

    assert.equal(during.headers['x-paybell-hmac'], hmac('new key', during))
    assert.equal(during.headers['x-paybell-hmac-previous'], hmac('old key', during))
    assert.ok(isSignedBy('new key', during) && isSignedBy('old key', during))
    assert.match(String(during.headers['webhook-signature']), /^v1,\S{44} v1,\S{44}$/)

    assert.equal(after.headers['x-paybell-hmac'], hmac('new key', after))
    assert.equal(after.headers['x-paybell-hmac-previous'], undefined)
    assert.ok(isSignedBy('new key', after) && !isSignedBy('old key', after))
  })

  test('a retry is signed with the keys of its moment, not of its first attempt', async (t) => {
    const receiver = await startReceiver(t)
    const paybell = await startPaybell(t, { env: { PAYBELL_TIME_SCALE: '20' } })
    receiver.answer = 500
    await paybell.caller.register(receiver.url(), 'old key')
    await paybell.caller.pay()
    await receiver.hasSeen(({ received }) => received.length === 1)
    await paybell.caller.register(receiver.url(), 'new key')
    const seen = receiver.received.length
    receiver.answer = 200
    await receiver.hasSeen(({ received }) => received.length > seen)
    const retried = receiver.received.at(-1) ?? assert.fail()
    assert.equal(retried.headers['x-paybell-hmac'], hmac('new key', retried))
    assert.equal(retried.headers['x-paybell-hmac-previous'], hmac('old key', retried))
    assert.equal(retried.headers['webhook-id'], receiver.received[0]?.headers['webhook-id'])
    assert.deepEqual(retried.body, receiver.received[0]?.body)
  })

  test('the same key again is no rotation, and a subscription made again has the new header at once', async (t) => {
    const receiver = await startReceiver(t)
    const paybell = await startPaybell(t)
    const subscribe = (headerValue?: string) =>
      paybell.caller.subscribe({
        callbackUrl: receiver.url(),
        sharedKey: 'key',
        ...(headerValue ? { headerKey: 'X-Mine', headerValue } : {}),
      })
    const locations = new Set<string | null>()
    for (const value of ['one', 'two', undefined]) {
      const answer = await subscribe(value)
      assert.equal(answer.status, 201)
      locations.add(answer.headers.get('location'))
      const seen = receiver.received.length
      await paybell.caller.pay()
      await receiver.hasSeen(({ received }) => received.length === seen + 1)
      assert.equal(receiver.received.at(-1)?.headers['x-mine'], value)
      assert.equal(receiver.received.at(-1)?.headers['x-paybell-hmac-previous'], undefined)
    }
    assert.equal(locations.size, 1)
  })
})
