// A paused endpoint loses nothing (decisions §5.6, F20): what it is owed waits and goes out in order when
// it is active again, and the time does not count against the 7 days.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, type TestContext, test } from 'node:test'
import { readDeliveries, startPaybell, until, untilAllAre } from '../support/paybell.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'

async function start(t: TestContext, env: Record<string, string> = {}) {
  const receiver = await startReceiver(t)
  const paybell = await startPaybell(t, { env })
  const endpointId = await paybell.caller.addWebhook(receiver.url(), 'key')
  const set = async (status: 'PAUSED' | 'ACTIVE') => {
    const answer = await paybell.caller.changeWebhook(endpointId, { status })
    assert.equal(answer.status, 200)
    assert.equal(((await answer.json()) as { status: string }).status, status)
  }
  return { receiver, paybell, set }
}

function sequencesOf(receiver: Receiver, id: string): readonly number[] {
  return receiver.sequences(
    receiver.accepted.filter(({ body }) => JSON.parse(body.toString()).id === id),
  )
}

// They mostly wait: side by side they take as long as the longest.
describe('pausing', { concurrency: true }, () => {
  test('pausing keeps what is owed and what is new; resuming sends all of it, in order, once', async (t) => {
    const { receiver, paybell, set } = await start(t, { PAYBELL_TIME_SCALE: '50' })
    const ids = Array.from({ length: 10 }, () => randomUUID())
    receiver.answer = 500
    for (const id of ids) await paybell.caller.write(id, '1')
    await receiver.hasSeen(({ received }) => received.length >= 10)
    await set('PAUSED')
    for (const id of ids) await paybell.caller.write(id, '2')
    for (const id of ids) await paybell.caller.write(id, '3')
    // Everything ends up parked: without a due time, out of memory.
    await until('all parked', async () => {
      const all = await readDeliveries(paybell.pool)
      return all.every(({ state, nextAttemptAt }) => state === 'PENDING' && nextAttemptAt === null)
    })
    const seen = receiver.received.length
    receiver.answer = 200
    await set('ACTIVE')
    await receiver.hasSeen(({ accepted }) => accepted.length === 30)
    await untilAllAre(paybell.pool, ['DELIVERED'])
    assert.equal(receiver.received.length, seen + 30)
    for (const id of ids) assert.deepEqual(sequencesOf(receiver, id), [1, 2, 3])
  })

  test('the time of a pause is added to the 7 days', async (t) => {
    const { receiver, paybell, set } = await start(t)
    receiver.answer = 500
    await paybell.caller.write()
    const [before] = await until('one attempt', async () => {
      const all = await readDeliveries(paybell.pool)
      return all[0]?.attempts === 1 && all
    })
    await set('PAUSED')
    // Three days pass.
    await paybell.pool.query(
      `update endpoints set inactive_since = inactive_since - interval '3 days'`,
    )
    await paybell.pool.query(`update pending_deliveries set
    first_attempt_at = first_attempt_at - interval '4 days',
    deadline_at = deadline_at - interval '4 days', next_attempt_at = null`)
    receiver.answer = 200
    await set('ACTIVE')
    const [delivery] = await untilAllAre(paybell.pool, ['DELIVERED'])
    const gainedMs = Number(delivery?.deadlineAt) - (Number(before?.deadlineAt) - 4 * 86_400_000)
    assert.ok(Math.abs(gainedMs - 3 * 86_400_000) < 10_000, `${gainedMs}`)
  })

  test('nothing is exhausted while its endpoint is paused, even far past its 7 days', async (t) => {
    const { receiver, paybell, set } = await start(t, { PAYBELL_TIME_SCALE: '100000' })
    receiver.answer = 500
    await paybell.caller.write()
    await receiver.hasSeen(({ received }) => received.length >= 5)
    await set('PAUSED')
    await until(
      'parked',
      async () => (await readDeliveries(paybell.pool))[0]?.nextAttemptAt === null,
    )
    const { deadlineAt } = (await readDeliveries(paybell.pool))[0] ?? assert.fail()
    await until('the 7 days are over', () => Date.now() > Number(deadlineAt) + 500)
    assert.equal((await readDeliveries(paybell.pool))[0]?.state, 'PENDING')
    receiver.answer = 200
    await set('ACTIVE')
    await untilAllAre(paybell.pool, ['DELIVERED'])
  })

  test('F20: pausing and resuming again and again under load loses nothing and keeps the order', async (t) => {
    const { receiver, paybell, set } = await start(t)
    const ids = Array.from({ length: 15 }, () => randomUUID())
    const writing = (async () => {
      for (let n = 1; n <= 12; n++) {
        await Promise.all(ids.map((id) => paybell.caller.write(id, `${n}`)))
      }
    })()
    let isWriting = true
    void writing.finally(() => {
      isWriting = false
    })
    for (let n = 0; n < 8 || isWriting; n++) {
      await set('PAUSED')
      await set('ACTIVE')
    }
    await writing
    await receiver.hasSeen(({ accepted }) => accepted.length >= 180)
    const deliveries = await untilAllAre(paybell.pool, ['DELIVERED'], 30_000)
    assert.equal(deliveries.length, 180)
    for (const id of ids) {
      assert.deepEqual(
        sequencesOf(receiver, id),
        Array.from({ length: 12 }, (_, index) => index + 1),
      )
    }
  })
})
