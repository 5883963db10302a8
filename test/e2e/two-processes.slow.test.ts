// Many processes on one database (decisions §11.2, I12, F16, F18): each delivery is sent by one of them,
// and when one ends the others take over its shards.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { describe, test } from 'node:test'
import { makeSocketPair, useSocket } from '../../cli/service/processes/sibling-sockets.ts'
import { LEASE_POLICY, type LeasePolicy } from '../../server/core/delivery/lease.ts'
import { limitOf } from '../support/busy-machine.ts'
import {
  type Paybell,
  readDeliveries,
  SHORT_LEASES,
  startPaybell,
  until,
  untilAllAre,
} from '../support/paybell.ts'
import { PLAIN } from '../support/payment-sample.ts'
import { type Received, type Receiver, startReceiver } from '../support/receiver.ts'

/** So rare that within a test only a wake-up makes a process look. */
const RARE_RENEWALS: LeasePolicy = {
  ...LEASE_POLICY,
  leaseMs: 3_600_000,
  renewEveryMs: 1_200_000,
  processGoneAfterMs: 3_600_000,
}

/** On a busy machine a renewal comes late: a lease that runs out in between would be another test. */
function shortLeases(): LeasePolicy {
  const { leaseMs, processGoneAfterMs } = SHORT_LEASES
  return {
    ...SHORT_LEASES,
    leaseMs: limitOf(leaseMs),
    processGoneAfterMs: limitOf(processGoneAfterMs),
  }
}

interface EngineFacts {
  shards: readonly number[]
  inFlight: number
}

function engineOf(paybell: Paybell): EngineFacts {
  return paybell.app.deps.engine as unknown as EngineFacts
}

async function untilShared(...processes: readonly Paybell[]): Promise<void> {
  const share = 64 / processes.length
  await until('the shards are shared out', () =>
    processes.every((paybell) => engineOf(paybell).shards.length === share),
  )
}

async function put(paybell: Paybell, id: string = randomUUID(), reference = '1'): Promise<void> {
  // A busy machine may answer 503: the same again is the same change.
  await until('the payment is accepted', async () => {
    const answer = await paybell.caller.putSample(id, { ...PLAIN, reference })
    const text = await answer.text()
    assert.ok(answer.ok || answer.status === 503, text)
    return answer.ok
  })
}

/** Endpoints enough for every process to own some. */
async function register(paybell: Paybell, receiver: Receiver, count: number): Promise<void> {
  for (let n = 0; n < count; n++) await paybell.caller.register(receiver.url(`/${n}`), 'key')
}

async function ownersOfShards(paybell: Paybell): Promise<ReadonlyMap<number, string>> {
  const { rows } = await paybell.pool.query(
    'select shard, owner from leases where owner is not null',
  )
  return new Map(rows.map((row) => [row.shard, row.owner]))
}

function webhookIdAt({ path, headers }: Received): string {
  return `${path} ${headers['webhook-id']}`
}

// They mostly wait, so some of them run side by side. All at once are a dozen services in one process, and on a busy
// machine each then waits for a connection for longer than it may.
describe('two processes', { concurrency: 3 }, () => {
  test('F16: two processes share the shards, and each delivery is sent once, whichever accepted it', async (t) => {
    const receiver = await startReceiver(t)
    // Leases of the usual length: a short one that a busy machine renews too late is rightly taken over.
    const first = await startPaybell(t)
    const second = await startPaybell(t, { beside: first })
    await untilShared(first, second)
    await register(first, receiver, 12)
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => put(index % 2 === 0 ? first : second)),
    )
    const deliveries = await untilAllAre(first.pool, ['DELIVERED'])
    assert.equal(deliveries.length, 240)
    for (const { attempts } of deliveries) assert.equal(attempts, 1)
    assert.equal(receiver.received.length, 240)
    const owners = await ownersOfShards(first)
    assert.equal(owners.size, 64)
    assert.equal(new Set(owners.values()).size, 2)
  })

  test('processes of one machine hand over what the other owns, and each update is sent once and in order', async (t) => {
    const receiver = await startReceiver(t)
    const first = await startPaybell(t)
    const second = await startPaybell(t, { beside: first })
    let handedOver = 0
    const sockets = await makeSocketPair()
    for (const [index, { app }] of [first, second].entries()) {
      useSocket(sockets[index] as Socket, (channel) =>
        app.joinSibling({
          ...channel,
          send: (text) => {
            const isSent = channel.send(text)
            if (isSent && text.includes('"deliveries"')) handedOver++
            return isSent
          },
        }),
      )
    }
    await untilShared(first, second)
    await register(first, receiver, 12)
    const writes = Array.from({ length: 20 }, async (_, index) => {
      const id = randomUUID()
      for (const reference of ['1', '2', '3']) await put(index % 2 ? first : second, id, reference)
    })
    await Promise.all(writes)
    // An invitation may have lapsed on a busy machine; then the next ones come.
    await until('something is handed over', async () => {
      await put(first)
      return handedOver > 0
    })
    const deliveries = await untilAllAre(first.pool, ['DELIVERED'])
    assert.equal(receiver.received.length, deliveries.length)
    assert.equal(new Set(receiver.accepted.map(webhookIdAt)).size, deliveries.length)
    const newest = new Map<string, number>()
    for (const { path, headers, body } of receiver.accepted) {
      const strand = `${path} ${JSON.parse(body.toString()).id}`
      const sequence = Number(headers['x-paybell-sequence'])
      assert.equal(sequence, (newest.get(strand) ?? 0) + 1)
      newest.set(strand, sequence)
    }
  })

  test('what one process accepts for an endpoint of the other arrives without waiting for a sweep', async (t) => {
    const receiver = await startReceiver(t)
    const leasePolicy = shortLeases()
    const first = await startPaybell(t, { leasePolicy })
    const second = await startPaybell(t, { leasePolicy, beside: first })
    await untilShared(first, second)
    await register(first, receiver, 12)
    // Both have looked for due work, and found none: from now on they only look forward.
    const registeredAt = Date.now()
    await until('both have polled', () => Date.now() > registeredAt + 2_500)
    const startedAt = Date.now()
    await put(first)
    await put(second)
    await receiver.hasSeen(({ received }) => received.length === 24)
    const tookMs = Date.now() - startedAt
    // What nobody is told of is found by the sweep, once a minute.
    assert.ok(tookMs < limitOf(20_000), `the last callback came after ${tookMs} ms`)
  })

  test('I13: a deletion and a new key served by one process hold in the other within 2 s', async (t) => {
    const receiver = await startReceiver(t)
    const leasePolicy = shortLeases()
    const first = await startPaybell(t, { leasePolicy })
    const second = await startPaybell(t, { leasePolicy, beside: first })
    await untilShared(first, second)
    await register(first, receiver, 8)
    await put(first)
    await receiver.hasSeen(({ received }) => received.length === 8)
    // Whichever process sends, one of these was not served by it.
    for (const [index, paybell] of [first, second].entries()) {
      for (let n = 0; n < 8; n++) {
        await paybell.caller.register(receiver.url(`/${n}`), `new key ${index}`)
      }
      const changedAt = Date.now()
      await until('the others had time to notice', () => Date.now() > changedAt + 2_000)
      const seen = receiver.received.length
      await put(paybell)
      await receiver.hasSeen(({ received }) => received.length === seen + 8)
      for (const { headers } of receiver.received.slice(seen)) {
        assert.ok(
          headers['x-paybell-hmac-previous'],
          'signed with the new key, the old one beside it',
        )
      }
    }
  })

  test('regression: who comes gets its share and who stops hands over, without waiting for a renewal', async (t) => {
    const first = await startPaybell(t, { leasePolicy: RARE_RENEWALS })
    const second = await startPaybell(t, { leasePolicy: RARE_RENEWALS, beside: first })
    await untilShared(first, second)
    const third = await startPaybell(t, { leasePolicy: RARE_RENEWALS, beside: first })
    await until('the third has its share', () => engineOf(third).shards.length >= 20)
    await second.stop()
    await until('the others have all shards', () => {
      const counts = [first, third].map((paybell) => engineOf(paybell).shards.length)
      return counts.every((count) => count === 32)
    })
    assert.equal((await ownersOfShards(first)).size, 64)
  })

  test('F19: a process that stops hands its shards over at once, and nothing is lost or sent twice', async (t) => {
    const receiver = await startReceiver(t)
    const first = await startPaybell(t)
    const second = await startPaybell(t, { beside: first })
    await untilShared(first, second)
    await register(first, receiver, 6)
    const ids = Array.from({ length: 20 }, () => randomUUID())
    for (const id of ids) await put(first, id)
    await first.stop()
    const stoppedAt = Date.now()
    await until('the other has all shards', () => engineOf(second).shards.length === 64)
    t.diagnostic(`handed over ${Date.now() - stoppedAt} ms after the stop`)
    assert.ok(Date.now() - stoppedAt < limitOf(20_000), 'before a lease of 25 s runs out')
    for (const id of ids) await put(second, id, '2')
    const deliveries = await untilAllAre(first.pool, ['DELIVERED'])
    assert.equal(deliveries.length, 240)
    assert.equal(receiver.received.length, 240)
  })

  test('F1: when a process falls silent, the other takes over when its leases have run out', async (t) => {
    const receiver = await startReceiver(t)
    const leasePolicy = shortLeases()
    const first = await startPaybell(t, { leasePolicy })
    const second = await startPaybell(t, { leasePolicy, beside: first })
    await untilShared(first, second)
    await register(second, receiver, 12)
    // Its connections fail from now on, and it cannot say goodbye: as good as dead, or cut off.
    const { pool } = first.app.deps
    const dead = () => Promise.reject(Object.assign(new Error('cut off'), { code: 'ECONNRESET' }))
    Object.assign(pool, { query: dead, connect: dead })
    for (let n = 0; n < 10; n++) await put(second)
    await untilAllAre(second.pool, ['DELIVERED'])
    await until('its own clock tells it to fall silent', () => engineOf(first).shards.length === 0)
    assert.equal(engineOf(second).shards.length, 64)
    assert.equal((await readDeliveries(second.pool)).length, 120)
    assert.equal(receiver.received.length, 120)
  })

  test('I2: shards whose take-over was committed but never answered are served all the same', async (t) => {
    const receiver = await startReceiver(t)
    const paybell = await startPaybell(t, { leasePolicy: shortLeases() })
    await register(paybell, receiver, 4)
    const { pool } = paybell.app.deps
    const query = pool.query.bind(pool) as (config: { name?: string }) => Promise<unknown>
    let isLost = false
    Object.assign(pool, {
      async query(config: { name?: string }) {
        const result = await query(config)
        if (config.name !== 'take-leases' || isLost) return result
        isLost = true
        throw Object.assign(new Error('the answer got lost'), { code: 'ECONNRESET' })
      },
    })
    await paybell.pool.query(`update leases set owner = null, expires_at = '-infinity'`)
    await until('the answer got lost', () => isLost)
    await put(paybell)
    await receiver.hasSeen(({ received }) => received.length === 4)
    assert.equal(engineOf(paybell).shards.length, 64)
  })
})
