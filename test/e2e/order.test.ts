// Updates of one payment reach one endpoint in sequence (decisions §7.6, I6); different payments never
// wait for each other.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { describe, test } from 'node:test'
import { retryPolicy } from '../../server/core/delivery/backoff.ts'
import {
  type PaybellOptions,
  readDeliveries,
  startPaybell,
  untilAllAre,
} from '../support/paybell.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'

function paymentOf({ body }: Receiver['received'][number]): string {
  return JSON.parse(body.toString()).id
}

function assertNeverBackwards(receiver: Receiver): void {
  const seen = receiver.sequences(receiver.received)
  assert.deepEqual(seen, seen.toSorted(), 'the receiver never sees the payment go back')
}

/** Retries after 100, 200 and then 400 ms; an attempt has a second and a half. */
const FAST: PaybellOptions['timing'] = {
  retry: { ...retryPolicy(), baseMs: 100, capMs: 400, jitter: 0 },
  patienceMs: 300,
  attempt: { deadlineMs: 1_500, connectTimeoutMs: 1_500 },
}

// They mostly wait: side by side they take as long as the longest.
describe('order', { concurrency: true }, () => {
  test('a failing update holds back the later ones of its payment, and other payments do not wait', async (t) => {
    const receiver = await startReceiver(t)
    const paybell = await startPaybell(t, { env: { PAYBELL_TIME_SCALE: '20' } })
    const stuck = randomUUID()
    let isDown = true
    receiver.answer = (received) => (isDown && paymentOf(received) === stuck ? 500 : 200)
    await paybell.caller.register(receiver.url(), 'key')
    for (const reference of ['1', '2', '3', '4', '5']) await paybell.caller.write(stuck, reference)
    const others = Array.from({ length: 20 }, () => randomUUID())
    await Promise.all(others.map((id) => paybell.caller.write(id, '1')))
    await receiver.hasSeen(({ accepted }) => accepted.length === 20)
    await receiver.hasSeen(({ received }) => received.length >= 22)
    const ofStuck = receiver.received.filter((callback) => paymentOf(callback) === stuck)
    assert.ok(ofStuck.length >= 2)
    assert.deepEqual(new Set(receiver.sequences(ofStuck)), new Set([1]))

    isDown = false
    await receiver.hasSeen(({ accepted }) => accepted.length === 25)
    await untilAllAre(paybell.pool, ['DELIVERED'])
    const accepted = receiver.accepted.filter((callback) => paymentOf(callback) === stuck)
    assert.deepEqual(receiver.sequences(accepted), [1, 2, 3, 4, 5])
  })

  test('one update of a payment is in flight at a time', async (t) => {
    const receiver = await startReceiver(t)
    const paybell = await startPaybell(t)
    let inFlight = 0
    let inFlightMax = 0
    receiver.answer = (_received, response) => {
      inFlight++
      inFlightMax = Math.max(inFlightMax, inFlight)
      setTimeout(() => {
        inFlight--
        response.end()
      }, 20)
    }
    await paybell.caller.register(receiver.url(), 'key')
    const id = randomUUID()
    for (let n = 1; n <= 10; n++) await paybell.caller.write(id, `${n}`)
    await receiver.hasSeen(({ received }) => received.length === 10)
    await untilAllAre(paybell.pool, ['DELIVERED'])
    assert.equal(inFlightMax, 1)
    assert.deepEqual(receiver.sequences(receiver.received), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  test('after patience the next update goes ahead; accepted, it supersedes the older one, which is never sent again', async (t) => {
    const receiver = await startReceiver(t)
    // Patience of an hour at this scale: 1.8 s; the first retries come after 2.5, 5, 10 … ms.
    const paybell = await startPaybell(t, { env: { PAYBELL_TIME_SCALE: '2000' } })
    receiver.answer = ({ headers }) => (headers['x-paybell-sequence'] === '1' ? 500 : 200)
    await paybell.caller.register(receiver.url(), 'key')
    const id = randomUUID()
    const startedAt = Date.now()
    await paybell.caller.write(id, '1')
    await paybell.caller.write(id, '2')
    await receiver.hasSeen(({ accepted }) => accepted.length === 1)
    const tookMs = Date.now() - startedAt
    assert.ok(tookMs >= 1_800, `${tookMs}`)
    const deliveries = await untilAllAre(paybell.pool, ['DELIVERED', 'SUPERSEDED'])
    assert.deepEqual(
      deliveries.map(({ sequence, state }) => [sequence, state]),
      [
        [1, 'SUPERSEDED'],
        [2, 'DELIVERED'],
      ],
    )
    await paybell.caller.write(id, '3')
    await receiver.hasSeen(({ accepted }) => accepted.length === 2)
    const later = receiver.received.slice(receiver.sequences(receiver.received).indexOf(2) + 1)
    assert.deepEqual(receiver.sequences(later), [3], 'nothing old comes after something newer')
  })

  test('an endpoint that asked for the latest gets what was in flight and then the newest, and is told why', async (t) => {
    const receiver = await startReceiver(t)
    // The held attempt must not run out of time while the next updates are written, however busy the machine.
    const attempt = { deadlineMs: 15_000, connectTimeoutMs: 5_000 }
    const paybell = await startPaybell(t, { timing: { ...FAST, attempt } })
    const held: ServerResponse[] = []
    receiver.answer = ({ headers }, response) => {
      if (headers['x-paybell-sequence'] !== '1') return 500
      response.statusCode = 503
      held.push(response)
      return undefined
    }
    await paybell.caller.register(receiver.url(), 'key', { deliver: 'latest' })
    const id = randomUUID()
    await paybell.caller.write(id, '1')
    await receiver.hasSeen(() => held.length === 1)
    for (const reference of ['2', '3', '4']) await paybell.caller.write(id, reference)
    held[0]?.end()
    await receiver.hasSeen(({ received }) => received.length >= 3)
    assert.deepEqual(new Set(receiver.sequences(receiver.received)), new Set([1, 4]))
    assertNeverBackwards(receiver)

    // The newest fails, and yet what it has overtaken is over, with the reason in words.
    const states = (await readDeliveries(paybell.pool)).map(({ state }) => state)
    assert.deepEqual(states, ['SUPERSEDED', 'SUPERSEDED', 'SUPERSEDED', 'PENDING'])
    const explanationOf = async (sequence: number) => {
      const page = await (await paybell.caller.get('/v1/deliveries')).json()
      const { items } = page as { items: { id: string; sequence: number }[] }
      const one = items.find((item) => item.sequence === sequence)
      const detail = await (await paybell.caller.get(`/v1/deliveries/${one?.id}`)).json()
      return (detail as { explanation: string }).explanation
    }
    assert.match(
      await explanationOf(2),
      /^Superseded: update 4 of the same payment was sent in its place, because your endpoint gets only the latest update of a payment \(deliver: latest\)\./,
    )
    receiver.answer = 200
    await untilAllAre(paybell.pool, ['DELIVERED', 'SUPERSEDED'])
    await paybell.caller.write(id, '5')
    await receiver.hasSeen(({ accepted }) => accepted.length === 2)
    assert.deepEqual(receiver.sequences(), [4, 5])

    // Changed back, every update is sent again.
    const webhookId = await paybell.caller.webhookAt(receiver.url())
    await paybell.caller.changeWebhook(webhookId, { deliver: 'every' })
    for (const reference of ['6', '7', '8']) await paybell.caller.write(id, reference)
    await receiver.hasSeen(({ accepted }) => accepted.length === 5)
    assert.deepEqual(receiver.sequences(), [4, 5, 6, 7, 8])
  })

  test('a failed update that was overtaken by a failing one is not sent any more, and is superseded in the end', async (t) => {
    const receiver = await startReceiver(t)
    const env = { PAYBELL_TIME_SCALE: '1000', PAYBELL_ORDER_PATIENCE: '60s' }
    const paybell = await startPaybell(t, { env })
    let isDown = true
    receiver.answer = () => (isDown ? 503 : 200)
    await paybell.caller.register(receiver.url(), 'key')
    const id = randomUUID()
    for (const reference of ['1', '2', '3']) await paybell.caller.write(id, reference)
    await receiver.hasSeen(({ received }) => new Set(receiver.sequences(received)).size === 3)
    isDown = false
    const deliveries = await untilAllAre(paybell.pool, ['DELIVERED', 'SUPERSEDED'])
    const accepted = receiver.sequences()
    assertNeverBackwards(receiver)
    assert.equal(accepted.at(-1), 3)
    for (const { sequence, state } of deliveries) {
      assert.equal(state, accepted.includes(sequence) ? 'DELIVERED' : 'SUPERSEDED', `${sequence}`)
    }
  })

  for (const [how, loseAnswer] of [
    ['comes too late', (response: ServerResponse) => setTimeout(() => response.end(), 2_500)],
    ['is lost', (response: ServerResponse) => response.socket?.resetAndDestroy()],
  ] as const) {
    test(`regression: an update goes ahead, is processed, and its 200 ${how}: no older one follows it`, async (t) => {
      const receiver = await startReceiver(t)
      const paybell = await startPaybell(t, { timing: FAST })
      let isHeard = false
      receiver.answer = ({ headers }, response) => {
        if (headers['x-paybell-sequence'] === '1' && !isHeard) return 500
        if (isHeard) return 200
        loseAnswer(response)
        return undefined
      }
      await paybell.caller.register(receiver.url(), 'key')
      const id = randomUUID()
      for (const reference of ['1', '2']) await paybell.caller.write(id, reference)
      // By then the first has been due for long.
      const timesSent = (sequence: number) =>
        receiver.sequences(receiver.received).filter((other) => other === sequence).length
      await receiver.hasSeen(() => timesSent(2) >= 3)
      const [first] = await readDeliveries(paybell.pool)
      const answer = await paybell.caller.get(`/v1/deliveries/${first?.id}`)
      const { explanation } = (await answer.json()) as { explanation: string }
      assert.match(explanation, /Update 2 of the same payment has gone ahead, so this older one is/)
      isHeard = true
      const deliveries = await untilAllAre(paybell.pool, ['DELIVERED', 'SUPERSEDED'])
      assertNeverBackwards(receiver)
      assert.deepEqual(
        deliveries.map(({ sequence, state }) => [sequence, state]),
        [
          [1, 'SUPERSEDED'],
          [2, 'DELIVERED'],
        ],
      )
    })
  }

  test('patience of 0 s lets the next go at once; the failing one is superseded', async (t) => {
    const receiver = await startReceiver(t)
    const paybell = await startPaybell(t, { env: { PAYBELL_ORDER_PATIENCE: '0s' } })
    receiver.answer = ({ headers }) => (headers['x-paybell-sequence'] === '1' ? 500 : 200)
    await paybell.caller.register(receiver.url(), 'key')
    const id = randomUUID()
    await paybell.caller.write(id, '1')
    await paybell.caller.write(id, '2')
    await receiver.hasSeen(({ accepted }) => accepted.length === 1)
    await untilAllAre(paybell.pool, ['DELIVERED', 'SUPERSEDED'])
    assert.deepEqual(receiver.sequences(receiver.received), [1, 2])
  })

  test('a hundred and fifty updates owed to an endpoint that comes back arrive one by one, none twice', async (t) => {
    const receiver = await startReceiver(t)
    const paybell = await startPaybell(t, { env: { PAYBELL_TIME_SCALE: '20' } })
    let isDown = true
    receiver.answer = () => (isDown ? 500 : 200)
    await paybell.caller.register(receiver.url(), 'key')
    const id = randomUUID()
    for (let n = 1; n <= 150; n++) await paybell.caller.write(id, `${n}`)
    isDown = false
    await receiver.hasSeen(({ accepted }) => accepted.length === 150)
    await untilAllAre(paybell.pool, ['DELIVERED'])
    assert.deepEqual(
      receiver.sequences(),
      Array.from({ length: 150 }, (_, index) => index + 1),
    )
    assert.equal((await readDeliveries(paybell.pool)).length, 150)
  })
})
