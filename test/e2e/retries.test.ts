// Seven days of a delivery (decisions §7.5), run in seconds by PAYBELL_TIME_SCALE.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, type TestContext, test } from 'node:test'
import { limitOf } from '../support/busy-machine.ts'
import { readDeliveries, startPaybell, until, untilAllAre } from '../support/paybell.ts'
import { startReceiver } from '../support/receiver.ts'

const DAY_MS = 24 * 3_600_000

// They mostly wait: side by side they take as long as the longest.
describe('retries', { concurrency: true }, () => {
  test('an endpoint that fails for 7 days gets about 40 attempts, then the delivery is EXHAUSTED', async (t) => {
    const receiver = await startReceiver(t)
    const scale = 30_000
    const paybell = await startPaybell(t, { env: { PAYBELL_TIME_SCALE: `${scale}` } })
    receiver.answer = 500
    await paybell.caller.register(receiver.url(), 'key')
    const id = randomUUID()
    const startedAt = Date.now()
    await paybell.caller.putSample(id)
    const [delivery] = await untilAllAre(paybell.pool, ['EXHAUSTED'])
    const tookMs = Date.now() - startedAt
    assert.ok(tookMs >= (7 * DAY_MS) / scale - 5, `${tookMs}`)
    // Each attempt takes some milliseconds, which are minutes at this scale: a few fewer than 40.
    assert.ok(
      delivery && limitOf(delivery.attempts) >= 30 && delivery.attempts <= 43,
      `${delivery?.attempts}`,
    )
    assert.equal(receiver.received.length, delivery.attempts)
    assert.equal(delivery.lastStatus, 500)
    const { rows } = await paybell.pool.query<{ ms: number }>(
      `select extract(epoch from max(at) - min(at))::float8 * 1000 as ms from attempts`,
    )
    const spanMs = Number(rows[0]?.ms)
    const runMs = (7 * DAY_MS) / scale
    assert.ok(spanMs > runMs - limitOf(runMs * 0.05), `the last attempt came at the end: ${spanMs}`)
    assert.equal((await readDeliveries(paybell.pool))[0]?.nextAttemptAt, null)
  })

  test('the delays of the first attempts are 5, 10 and 20 s within 20 %', async (t) => {
    const receiver = await startReceiver(t)
    const scale = 20
    const paybell = await startPaybell(t, { env: { PAYBELL_TIME_SCALE: `${scale}` } })
    receiver.answer = 500
    await paybell.caller.register(receiver.url(), 'key')
    await paybell.caller.pay()
    await receiver.hasSeen(({ received }) => received.length === 4)
    const times = receiver.received.map(({ atMs }) => atMs)
    for (const [index, seconds] of [5, 10, 20].entries()) {
      const gapMs = Number(times[index + 1]) - Number(times[index])
      const expectedMs = (seconds * 1000) / scale
      assert.ok(
        gapMs >= expectedMs * 0.8 - 3 && gapMs < expectedMs * 1.2 + limitOf(1_500),
        `${seconds}: ${gapMs}`,
      )
    }
  })

  test('F25: Retry-After on 429 and 503 lengthens the delay to twice at most, elsewhere it is ignored', async (t) => {
    const receiver = await startReceiver(t)
    const paybell = await startPaybell(t)
    // The factor that it lengthens 5 s by, at least and at most.
    const given: [status: number, header: string, least: number, most: number][] = [
      [429, '1000000000000', 1.6, 2.4],
      [503, '7', 1.4, 1.4],
      [503, '-1', 0.8, 1.2],
      [429, 'Thu, 01 Jan 1970 00:00:00 GMT', 0.8, 1.2],
      [500, '1000000', 0.8, 1.2],
      [302, '1000000', 0.8, 1.2],
    ]
    const ids = given.map(() => randomUUID() as string)
    receiver.answer = (received, response) => {
      const [status, header] = given[ids.indexOf(JSON.parse(received.body.toString()).id)] ?? [
        500,
        '',
      ]
      response.writeHead(status, { 'retry-after': header }).end()
    }
    await paybell.caller.register(receiver.url(), 'key')
    await Promise.all(ids.map((id) => paybell.caller.putSample(id)))
    const deliveries = await until('all attempted once', async () => {
      const all = await readDeliveries(paybell.pool)
      return all.length === ids.length && all.every(({ attempts }) => attempts === 1) && all
    })
    const { rows } = await paybell.pool.query<{
      delivery_id: string
      at: Date
      duration_ms: number
    }>('select delivery_id, at, duration_ms from attempts')
    for (const { id, paymentId, nextAttemptAt } of deliveries) {
      const attempt = rows.find((row) => row.delivery_id === id) ?? assert.fail()
      const waitMs = Number(nextAttemptAt) - attempt.at.getTime() - attempt.duration_ms
      const [status, header, least, most] = given[ids.indexOf(paymentId)] ?? assert.fail()
      // The service decides a little after the answer, and its clock may move with the database's in between: by
      // nothing on an idle machine, by a quarter of a second on one that is busy.
      const leastMs = least * 5_000 - (limitOf(250) - 245)
      const mostMs = most * 5_000 + limitOf(250)
      assert.ok(waitMs >= leastMs && waitMs < mostMs, `${status} ${header}: ${waitMs}`)
    }
  })

  test('I4: no attempt starts after the 7 days, not even when the service slept through their end', async (t) => {
    const receiver = await startReceiver(t)
    const paybell = await startPaybell(t)
    receiver.answer = 500
    await paybell.caller.register(receiver.url(), 'key')
    await paybell.caller.pay()
    await until('one attempt', async () => (await readDeliveries(paybell.pool))[0]?.attempts === 1)
    await paybell.stop()
    // As if the service had been down for longer than the time that was left.
    await paybell.pool.query(`update pending_deliveries set next_attempt_at = now() - interval '1 hour',
    first_attempt_at = now() - interval '7 days 1 minute', deadline_at = now() - interval '1 minute'`)
    await startPaybell(t, { beside: paybell })
    await untilAllAre(paybell.pool, ['EXHAUSTED'])
    assert.equal(receiver.received.length, 1)
  })

  /** A payment whose first update has failed once and holds back its second; the service is stopped. */
  async function startWithHeldBack(t: TestContext, env: Record<string, string>) {
    const receiver = await startReceiver(t)
    const paybell = await startPaybell(t, { env })
    receiver.answer = 500
    await paybell.caller.register(receiver.url(), 'key')
    const id = await paybell.caller.pay({ version: undefined })
    await paybell.caller.putSample(id, { version: undefined, reference: 'later' })
    await until('one attempt', async () => (await readDeliveries(paybell.pool))[0]?.attempts === 1)
    await paybell.stop()
    receiver.answer = 200
    return { receiver, paybell }
  }

  test('an exhausted update no longer holds back the later ones', async (t) => {
    const { receiver, paybell } = await startWithHeldBack(t, {})
    await paybell.pool.query(`update pending_deliveries set next_attempt_at = now(),
    first_attempt_at = now() - interval '7 days', deadline_at = now() - interval '1 second'
    where sequence = 1`)
    await startPaybell(t, { beside: paybell })
    const deliveries = await untilAllAre(paybell.pool, ['EXHAUSTED', 'DELIVERED'])
    assert.deepEqual(
      deliveries.map(({ state }) => state),
      ['EXHAUSTED', 'DELIVERED'],
    )
    assert.deepEqual(receiver.sequences(), [2])
  })

  test('with a patience of 7d an update never gives way, however much longer a pause has made its life', async (t) => {
    const env = { PAYBELL_ORDER_PATIENCE: '7d' }
    const { receiver, paybell } = await startWithHeldBack(t, env)
    await paybell.pool.query(`update pending_deliveries set next_attempt_at = now(),
    first_attempt_at = now() - interval '8 days', first_failed_at = now() - interval '8 days',
    deadline_at = now() + interval '2 days' where sequence = 1`)
    await startPaybell(t, { beside: paybell, env })
    await untilAllAre(paybell.pool, ['DELIVERED', 'SUPERSEDED'])
    assert.deepEqual(receiver.sequences(), [1, 2])
  })
})
