// One delivery sent again (decisions §8): the same bytes and webhook-id, a new run, attempts that count on,
// exactly once for each 202, whichever process owns the shard.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, type TestContext, test } from 'node:test'
import { limitOf } from '../support/busy-machine.ts'
import { Caller, type JsonAnswer, toAnswer } from '../support/caller.ts'
import {
  addAccount,
  addClient,
  type Paybell,
  readDeliveries,
  type StoredDelivery,
  startPaybell,
  until,
} from '../support/paybell.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'

const paybell = await startPaybell({ after })

async function replay(caller: Caller, id: string): Promise<JsonAnswer> {
  return toAnswer(await caller.call('POST', `/v1/deliveries/${id}/replay`))
}

async function operate(of: Paybell, path: string): Promise<JsonAnswer> {
  return toAnswer(await of.caller.operate('POST', path))
}

async function deliveryOf(of: Paybell, paymentId: string): Promise<StoredDelivery> {
  const found = (await readDeliveries(of.pool)).filter((one) => one.paymentId === paymentId)
  assert.equal(found.length, 1, 'in exactly one table')
  return found[0] as StoredDelivery
}

function untilState(of: Paybell, paymentId: string, state: string): Promise<StoredDelivery> {
  return until(`${paymentId} is ${state}`, async () => {
    const delivery = await deliveryOf(of, paymentId)
    return delivery.state === state && delivery
  })
}

function requestsOf(receiver: Receiver, paymentId: string) {
  return receiver.received.filter(({ body }) => JSON.parse(body.toString()).id === paymentId)
}

/** An account of its own with one webhook, so that the tests of this file do not hear each other. */
async function openDoor(t: TestContext) {
  const facts = await addAccount(paybell, paybell)
  const receiver = await startReceiver(t)
  const caller = new Caller(facts)
  const endpointId = await caller.addWebhook(receiver.url(), 'key')
  const of: Paybell = { ...paybell, ...facts, caller }
  const set = async (status: 'PAUSED' | 'ACTIVE') => {
    const answer = await caller.changeWebhook(endpointId, { status })
    assert.equal(answer.status, 200)
  }
  return { receiver, of, caller, endpointId, set }
}

describe('replaying one delivery', { concurrency: true }, () => {
  test('same bytes, same webhook-id, marked as a replay, attempts count on', async (t) => {
    const { receiver, of, caller } = await openDoor(t)
    const document = { mediaType: 'text/plain', name: 'a.txt', base64EncodedFile: 'aGVsbG8=' }
    const paymentId = await of.caller.pay({ version: undefined, document })
    const { id } = await untilState(of, paymentId, 'DELIVERED')
    for (const round of [2, 3]) {
      const answer = await replay(caller, id)
      assert.equal(answer.status, 202)
      assert.deepEqual([answer.body.id, answer.body.state], [id, 'PENDING'])
      assert.equal(answer.body.attempts, round - 1)
      await receiver.hasSeen(() => requestsOf(receiver, paymentId).length === round)
      await untilState(of, paymentId, 'DELIVERED')
    }
    const [first, ...replays] = requestsOf(receiver, paymentId)
    assert.equal(first?.headers['x-paybell-replay'], undefined)
    for (const [index, request] of replays.entries()) {
      assert.ok(first?.body.equals(request.body))
      assert.equal(request.headers['x-paybell-replay'], 'true')
      for (const name of ['webhook-id', 'x-paybell-hmac', 'x-paybell-sequence']) {
        assert.equal(request.headers[name], first?.headers[name], name)
      }
      assert.equal(request.headers['x-paybell-attempt'], String(index + 2))
    }
    assert.equal((await deliveryOf(of, paymentId)).attempts, 3)
    const { rows } = await of.pool.query('select attempt from attempts where delivery_id = $1', [
      id,
    ])
    assert.deepEqual(rows.map(({ attempt }) => attempt).toSorted(), [1, 2, 3])
  })

  for (const state of ['EXHAUSTED', 'SUPERSEDED', 'CANCELLED']) {
    test(`what ended as ${state} begins a new run of 7 days`, async (t) => {
      const { receiver, of } = await openDoor(t)
      const paymentId = await of.caller.write()
      const { id } = await untilState(of, paymentId, 'DELIVERED')
      await of.pool.query(
        `update final_deliveries set state = $2, attempted_at = null, duration_ms = null where id = $1`,
        [id, state],
      )
      receiver.answer = 500
      const startedAt = Date.now()
      assert.equal((await operate(of, `/deliveries/${id}/replay`)).status, 202)
      const again = await until('the first attempt of the new run', async () => {
        const found = await deliveryOf(of, paymentId)
        return found.attempts === 2 && found
      })
      assert.equal(again.state, 'PENDING')
      const runMs = Number(again.deadlineAt) - startedAt
      assert.ok(Math.abs(runMs - 7 * 86_400_000) < 10_000, `${runMs}`)
      // A failed replay is retried like any other delivery.
      const waitMs = Number(again.nextAttemptAt) - Date.now()
      assert.ok(waitMs > 1_000 && waitMs < 7_000, `${waitMs}`)
      assert.equal((await operate(of, `/deliveries/${id}/replay`)).body.code, 'delivery-not-final')
    })
  }

  test('of many who ask at once exactly one gets 202, and one callback goes out', async (t) => {
    const { receiver, of, caller } = await openDoor(t)
    const paymentId = await of.caller.write()
    const { id } = await untilState(of, paymentId, 'DELIVERED')
    // The first one's callback is answered when all have asked: until then the delivery is not final.
    const open = Promise.withResolvers<void>()
    receiver.answer = (_received, response) => void open.promise.then(() => response.end())
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        index % 2 === 0 ? replay(caller, id) : operate(of, `/deliveries/${id}/replay`),
      ),
    )
    open.resolve()
    const codes = answers.map(({ status, body }) => (status === 202 ? 202 : body.code)).sort()
    assert.deepEqual(codes, [202, ...Array.from({ length: 11 }, () => 'delivery-not-final')])
    await untilState(of, paymentId, 'DELIVERED')
    assert.equal(requestsOf(receiver, paymentId).length, 2)
  })

  test('a paused endpoint gets it when it is resumed', async (t) => {
    const { receiver, of, caller, set } = await openDoor(t)
    const paymentId = await of.caller.write()
    const { id } = await untilState(of, paymentId, 'DELIVERED')
    await set('PAUSED')
    const answer = await replay(caller, id)
    assert.deepEqual([answer.status, answer.body.nextAttemptAt], [202, null])
    const waiting = await deliveryOf(of, paymentId)
    assert.deepEqual([waiting.state, waiting.nextAttemptAt], ['PENDING', null])
    await set('ACTIVE')
    await receiver.hasSeen(() => requestsOf(receiver, paymentId).length === 2)
    await untilState(of, paymentId, 'DELIVERED')
  })

  test('pausing, resuming and replaying at the same time loses no replay', async (t) => {
    const { receiver, of, caller, set } = await openDoor(t)
    const paymentIds = await Promise.all(Array.from({ length: 20 }, () => of.caller.write()))
    const ids = await Promise.all(
      paymentIds.map(async (paymentId) => (await untilState(of, paymentId, 'DELIVERED')).id),
    )
    let isReplaying = true
    const replaying = Promise.all(ids.map((id) => replay(caller, id))).finally(() => {
      isReplaying = false
    })
    do {
      await set('PAUSED')
      await set('ACTIVE')
    } while (isReplaying)
    for (const { status } of await replaying) assert.equal(status, 202)
    await receiver.hasSeen(({ accepted }) => accepted.length >= 40)
    for (const paymentId of paymentIds) await untilState(of, paymentId, 'DELIVERED')
    assert.equal(receiver.accepted.length, 40)
  })

  test('not final, expired, without an endpoint, another client’s, unknown', async (t) => {
    const { receiver, of, caller, endpointId } = await openDoor(t)
    const [delivered, expired] = [await of.caller.write(), await of.caller.write()]
    const { id } = await untilState(of, delivered, 'DELIVERED')
    const { id: expiredId, eventId } = await untilState(of, expired, 'DELIVERED')
    receiver.answer = 500
    const pending = await of.caller.write()
    const { id: pendingId } = await until('one attempt', async () => {
      const found = await deliveryOf(of, pending)
      return found.attempts > 0 && found
    })
    const refused = await replay(caller, pendingId)
    assert.deepEqual([refused.status, refused.body.code], [409, 'delivery-not-final'])

    await of.pool.query('delete from events where id = $1', [eventId])
    const gone = await replay(caller, expiredId)
    assert.deepEqual([gone.status, gone.body.code], [410, 'payload-expired'])
    assert.equal((await deliveryOf(of, expired)).state, 'DELIVERED')

    const stranger = new Caller(await addClient(paybell, 'Stranger'))
    const neighbour = new Caller(await addAccount(paybell, paybell))
    for (const other of [stranger, neighbour]) {
      assert.equal((await replay(other, id)).status, 404)
    }
    for (const unknown of [randomUUID(), 'nonsense']) {
      assert.equal((await replay(caller, unknown)).status, 404)
      assert.equal((await operate(of, `/deliveries/${unknown}/replay`)).status, 404)
      assert.equal((await operate(of, `/deliveries/${unknown}/cancel`)).status, 404)
    }

    assert.equal((await caller.deleteWebhook(endpointId)).status, 204)
    const homeless = await replay(caller, id)
    assert.deepEqual([homeless.status, homeless.body.code], [409, 'endpoint-deleted'])
    assert.equal((await deliveryOf(of, delivered)).state, 'DELIVERED')
  })

  test('an operator’s call leaves one audit row, a refused one none', async (t) => {
    const { of } = await openDoor(t)
    const { id } = await untilState(of, await of.caller.write(), 'DELIVERED')
    await operate(of, `/deliveries/${id}/replay`)
    await operate(of, `/deliveries/${randomUUID()}/replay`)
    const { rows } = await of.pool.query(`select action from audit where object = $1`, [
      `delivery:${id}`,
    ])
    assert.deepEqual(rows, [{ action: 'delivery.replay' }])
  })
})

test('whichever process owns the shard sends at once what the other one was asked to replay', async (t) => {
  const receiver = await startReceiver(t)
  const first = await startPaybell(t)
  const second = await startPaybell(t, { beside: first })
  const shardsOf = (one: Paybell) =>
    (one.app.deps.engine as unknown as { shards: readonly number[] }).shards.length
  await until('shared out', () => shardsOf(first) === 32 && shardsOf(second) === 32)
  for (let n = 0; n < 8; n++) await first.caller.register(receiver.url(`/${n}`), 'key')
  const paymentId = await first.caller.write()
  const delivered = await until('delivered', async () => {
    const all = (await readDeliveries(first.pool)).filter((one) => one.paymentId === paymentId)
    return all.length === 8 && all.every(({ state }) => state === 'DELIVERED') && all
  })
  // Of eight endpoints, some belong to either process; whichever is asked, half are the other's.
  const startedAt = Date.now()
  for (const [index, { id }] of delivered.entries()) {
    assert.equal((await replay((index % 2 === 0 ? first : second).caller, id)).status, 202)
  }
  await receiver.hasSeen(({ received }) => received.length === 16)
  // What nobody is told of is found by the sweep, once a minute.
  assert.ok(Date.now() - startedAt < limitOf(20_000), `${Date.now() - startedAt} ms`)
})
