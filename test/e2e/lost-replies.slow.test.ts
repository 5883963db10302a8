// The database did what it was asked, and its answer never came (F5). It must be safe to ask again.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import {
  type Paybell,
  readDeliveries,
  startPaybell,
  until,
  untilAllAre,
} from '../support/paybell.ts'
import { PLAIN } from '../support/payment-sample.ts'
import { startReceiver } from '../support/receiver.ts'

type Query = (config: string | { name?: string }, ...rest: unknown[]) => Promise<unknown>

function lost(): Error {
  return Object.assign(new Error('the answer got lost'), { code: 'ECONNRESET' })
}

/** The next statement of this name is carried out, and its answer lost. */
function loseReplyTo(paybell: Paybell, name: string): { happened(): boolean } {
  const { pool } = paybell.app.deps
  const query = pool.query.bind(pool) as Query
  let isLost = false
  Object.assign(pool, {
    async query(...args: Parameters<Query>) {
      const result = await query(...args)
      const [config] = args
      if (isLost || typeof config === 'string' || config.name !== name) return result
      isLost = true
      throw lost()
    },
  })
  return { happened: () => isLost }
}

/** The next commit of a transaction happens, and its answer is lost. */
function loseReplyToCommit(paybell: Paybell): void {
  const { pool } = paybell.app.deps
  const connect = pool.connect.bind(pool) as (...args: unknown[]) => Promise<{ query: Query }>
  let isLost = false
  Object.assign(pool, {
    async connect(...args: unknown[]) {
      // With a callback it is the pool itself that asks, for a single statement.
      if (args.length > 0) return connect(...args)
      const client = await connect()
      const query = client.query.bind(client) as Query
      client.query = async (...statement) => {
        const result = await query(...statement)
        if (isLost || statement[0] !== 'commit') return result
        isLost = true
        throw lost()
      }
      return client
    },
  })
}

async function put(paybell: Paybell, id: string, reference: string): Promise<Response> {
  return paybell.caller.putSample(id, { ...PLAIN, reference })
}

// They mostly wait: side by side they take as long as the longest.
describe('lost replies', { concurrency: true }, () => {
  test('F5: a write whose commit was not answered is a 503; the same write again is 200 without a second event', async (t) => {
    const receiver = await startReceiver(t)
    const paybell = await startPaybell(t)
    await paybell.caller.register(receiver.url(), 'key')
    const id = randomUUID()
    loseReplyToCommit(paybell)
    const first = await put(paybell, id, '1')
    assert.equal(first.status, 503)
    assert.ok(Number(first.headers.get('retry-after')) >= 1)
    const again = await put(paybell, id, '1')
    assert.equal(again.status, 200)
    assert.equal(((await again.json()) as { event: unknown }).event, null)
    // It was not handed to the engine: the engine finds it by itself.
    await receiver.hasSeen(({ received }) => received.length === 1)
    const { rows } = await paybell.pool.query('select count(*)::int as events from events')
    assert.deepEqual(rows, [{ events: 1 }])
  })

  test('F5: a failure that was recorded without an answer stays first: the next update does not pass it', async (t) => {
    const receiver = await startReceiver(t)
    const paybell = await startPaybell(t)
    await paybell.caller.register(receiver.url(), 'key')
    receiver.answer = () => (receiver.received.length === 0 ? 500 : 200)
    const record = loseReplyTo(paybell, 'record-outcomes')
    const id = randomUUID()
    await put(paybell, id, '1')
    await put(paybell, id, '2')
    await receiver.hasSeen(({ accepted }) => accepted.length === 2)
    assert.ok(record.happened())
    await untilAllAre(paybell.pool, ['DELIVERED'])
    assert.deepEqual(receiver.sequences(receiver.received), [1, 1, 2])
    const [first] = await readDeliveries(paybell.pool)
    assert.equal(first?.attempts, 2)
  })

  test('F5: a 200 that was recorded without an answer is not sent again', async (t) => {
    const receiver = await startReceiver(t)
    const paybell = await startPaybell(t)
    await paybell.caller.register(receiver.url(), 'key')
    const record = loseReplyTo(paybell, 'record-delivered')
    const id = randomUUID()
    await put(paybell, id, '1')
    await until('the answer got lost', () => record.happened())
    for (const reference of ['2', '3', '4']) await put(paybell, id, reference)
    await receiver.hasSeen(({ accepted }) => accepted.length >= 4)
    await untilAllAre(paybell.pool, ['DELIVERED'])
    assert.deepEqual(receiver.sequences(receiver.received), [1, 2, 3, 4])
  })
})
