// Without faults there are no duplicates (I5): as many requests as recorded attempts, one 200 for each
// delivery, whatever the engine reads again in between. At full size, thousands of them.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { type Paybell, startPaybell, untilAllAre } from '../support/paybell.ts'
import { sampleBody } from '../support/payment-sample.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { sized } from '../support/size.ts'

const PAYMENTS = sized(80, 250)
const BURST = sized(200, 1_000)

/** `count` payments with `updates` updates each, as lines, in rounds. */
async function writeRounds(paybell: Paybell, count: number, updates: number): Promise<void> {
  const ids = Array.from({ length: count }, () => randomUUID())
  for (let n = 1; n <= updates; n++) {
    const lines = ids.map((id) =>
      JSON.stringify({
        accountId: paybell.accountId,
        ...JSON.parse(
          String(sampleBody({ id, version: n, document: undefined, reference: `${n}` })),
        ),
      }),
    )
    const answer = await paybell.caller.putPayments(lines)
    assert.equal(answer.status, 200)
    assert.doesNotMatch(await answer.text(), /"problem"/)
  }
}

function assertOnceInOrder(receiver: Receiver, count: number): void {
  const seen = new Map<string, number[]>()
  for (const { body, headers } of receiver.received) {
    const { id } = JSON.parse(body.toString()) as { id: string }
    const sequences = seen.get(id) ?? []
    sequences.push(Number(headers['x-paybell-sequence']))
    seen.set(id, sequences)
  }
  for (const sequences of seen.values()) {
    assert.deepEqual(
      sequences,
      sequences.map((_, index) => index + 1),
      'each once, in sequence',
    )
  }
  assert.equal(receiver.received.length, count)
}

test('I5: each delivery is requested once while its endpoint is registered again and again', async (t) => {
  const receiver = await startReceiver(t)
  const paybell = await startPaybell(t)
  receiver.answer = (_received, response) => {
    setTimeout(() => response.end(), Math.random() * 8)
  }
  await paybell.caller.register(receiver.url(), 'key')
  let isWriting = true
  const writing = writeRounds(paybell, PAYMENTS, 6).finally(() => {
    isWriting = false
  })
  // The same key again changes nothing, but makes the engine read everything of the endpoint again.
  while (isWriting) await paybell.caller.register(receiver.url(), 'key')
  await writing
  for (let n = 0; n < 30; n++) await paybell.caller.register(receiver.url(), 'key')
  const deliveries = await untilAllAre(paybell.pool, ['DELIVERED'])
  assert.equal(deliveries.length, PAYMENTS * 6)
  for (const { attempts } of deliveries) assert.equal(attempts, 1)
  assertOnceInOrder(receiver, PAYMENTS * 6)
})

test('I5: a burst of payments to three endpoints arrives once each, and is recorded so', async (t) => {
  const receiver = await startReceiver(t)
  const paybell = await startPaybell(t)
  for (const path of ['/a', '/b', '/c']) await paybell.caller.register(receiver.url(path), 'key')
  await writeRounds(paybell, BURST, 1)
  await untilAllAre(paybell.pool, ['DELIVERED'])
  assert.equal(receiver.received.length, BURST * 3)
  const { rows } = await paybell.pool.query(
    'select count(*)::int as attempts, count(distinct delivery_id)::int as deliveries from attempts',
  )
  assert.deepEqual(rows, [{ attempts: BURST * 3, deliveries: BURST * 3 }])
})
