// Two ends of an attempt at a listener, in one process and in two that share a database.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { cloneDatabase, openPool } from '../../../test/support/database.ts'
import { until } from '../../../test/support/paybell.ts'
import type { CallbackRequest } from '../../core/delivery/callback-request.ts'
import { ListenerRelay } from './listener-relay.ts'

const database = await cloneDatabase()
const pool = database.pool
const clock = { nowMs: Date.now, monotonicMs: () => performance.now() }
const errors: unknown[] = []
const LISTENER = { clientKey: 7, listenerId: randomUUID() }
const TIMEOUT = { kind: 'unreachable', reason: 'timeout' }
const NEVER = new AbortController().signal

/** Longer than any machine takes, where the deadline is not what a test is about. */
const PATIENT_MS = 90_000

function newRelay(deadlineMs = PATIENT_MS, on = pool): ListenerRelay {
  const relay = new ListenerRelay(
    { pool: on, clock, newId: randomUUID },
    { deadlineMs, cautiousMs: () => clock.monotonicMs(), onError: (error) => errors.push(error) },
  )
  after(() => relay.stop())
  return relay
}

function post(deliveryId: string | null = null): CallbackRequest {
  return {
    url: 'listener:x',
    clientKey: 7,
    eventId: randomUUID(),
    kind: 'payment.created',
    attempt: 3,
    headers: ['webhook-id', 'never parsed back'],
    body: [Buffer.from('{"a":'), Buffer.from('1}')],
    tls: null,
    oauth2: null,
    endpointId: LISTENER.listenerId,
    deliveryId,
    beginByMs: null,
  }
}

function take(relay: ListenerRelay, waitMs: number, signal = NEVER) {
  return relay.take(LISTENER, waitMs, { signal, onWait: async () => {}, everyMs: 1_000 })
}

async function countOffers(): Promise<number> {
  return (await pool.query('select from listener_offers')).rowCount ?? 0
}

test('an offer is taken once, answered, and gone', async () => {
  const relay = newRelay()
  const request = post()
  const sent = relay.send(request)
  const enough = new AbortController()
  const patient = take(relay, PATIENT_MS, enough.signal)
  const other = await take(relay, 300)
  if (other !== null) enough.abort()
  const one = await patient
  const offer = one ?? other ?? assert.fail()
  assert.ok(one === null || other === null)
  assert.deepEqual(
    [offer.clientKey, offer.eventId, offer.attempt, offer.deliveryId],
    [7, request.eventId, 3, null],
  )
  assert.equal(Buffer.from(offer.body ?? []).toString(), '{"a":1}')
  const outcome = { kind: 'answered', status: 418, excerpt: Buffer.from('tea') } as const
  assert.equal(await relay.answer(offer, { outcome, durationMs: 1 }), true)
  assert.equal(await relay.answer(offer, { outcome, durationMs: 1 }), false)
  assert.deepEqual(await sent, { outcome, durationMs: 1 })
  assert.equal(await countOffers(), 0)
})

test('offered in one process, taken and answered in another', async () => {
  const [owner, asked] = [newRelay(), newRelay()]
  const startedAtMs = clock.monotonicMs()
  const waiting = take(asked, PATIENT_MS)
  const sent = owner.send(post(randomUUID()))
  const offer = (await waiting) ?? assert.fail()
  const outcome = { kind: 'unreachable', reason: 'tls-error' } as const
  assert.equal(await asked.answer(offer, { outcome, durationMs: 9_999_999 }), true)
  const result = await sent
  assert.deepEqual(result.outcome, outcome)
  const tookMs = clock.monotonicMs() - startedAtMs
  assert.ok(result.durationMs <= tookMs + 1, 'nobody took longer than it took us')
  assert.equal(await countOffers(), 0)
})

test('an offer taken and not answered is a timeout; one that is not taken was no attempt', async () => {
  const relay = newRelay(300)
  await assert.rejects(relay.send(post(randomUUID())), /no listener has taken it/)
  // Where the machine is too busy to take it in time, with a longer one.
  for (let deadlineMs = 300; ; deadlineMs *= 2) {
    const longer = newRelay(deadlineMs)
    const sent = longer.send(post(randomUUID()))
    sent.catch(() => {})
    const offer = await take(longer, deadlineMs)
    if (offer === null) continue
    assert.deepEqual((await sent).outcome, TIMEOUT)
    const outcome = { kind: 'answered', status: 200 } as const
    assert.equal(await longer.answer(offer, { outcome, durationMs: 1 }), false)
    break
  }
  assert.deepEqual((await relay.send(post())).outcome, TIMEOUT, 'of a test')
  assert.equal(await take(relay, 0), null)
  assert.equal(await countOffers(), 0)
})

test('regression: F3, what a frozen process would offer under a lease that may end is not offered', async () => {
  const relay = newRelay(300)
  const late = { ...post(randomUUID()), beginByMs: clock.monotonicMs() }
  await assert.rejects(relay.send(late), /the lease may end/)
  assert.equal(await countOffers(), 0)
})

test('a delivery that is offered again voids what a dead owner had offered', async () => {
  const deliveryId = randomUUID()
  const [dead, owner] = [newRelay(1_000), newRelay()]
  const lost = dead.send(post(deliveryId))
  await until('it is offered', async () => (await countOffers()) === 1)
  const sent = owner.send(post(deliveryId))
  await until('the new one is there alone', async () => {
    const { rows } = await pool.query(
      "select deadline_at > now() + interval '2 s' as is_new from listener_offers",
    )
    return rows.length === 1 && rows[0].is_new
  })
  const offer = (await take(owner, PATIENT_MS)) ?? assert.fail()
  const outcome = { kind: 'answered', status: 200 } as const
  await owner.answer(offer, { outcome, durationMs: 1 })
  assert.deepEqual((await sent).outcome, outcome)
  assert.deepEqual((await lost).outcome, TIMEOUT)
})

test('a caller that hangs up gives its offer back', async () => {
  const relay = newRelay()
  const hangUp = new AbortController()
  const gone = take(relay, 10_000, hangUp.signal)
  hangUp.abort()
  assert.equal(await gone, null)
  const sent = relay.send(post())
  const offer = (await take(relay, PATIENT_MS)) ?? assert.fail()
  await relay.giveBack(offer)
  const again = (await take(relay, PATIENT_MS)) ?? assert.fail()
  assert.equal(again.id, offer.id)
  const outcome = { kind: 'answered', status: 200 } as const
  await relay.answer(again, { outcome, durationMs: 1 })
  await sent
})

test('a stop waits a little for answers, and then ends all waiting requests', async () => {
  const relay = newRelay()
  const sent = relay.send(post())
  const offer = (await take(relay, PATIENT_MS)) ?? assert.fail()
  const waiting = take(relay, PATIENT_MS)
  const settled = relay.settle(PATIENT_MS)
  const outcome = { kind: 'answered', status: 200 } as const
  await relay.answer(offer, { outcome, durationMs: 1 })
  await settled
  assert.deepEqual((await sent).outcome, outcome)
  assert.equal(await waiting, null)
})

test('a database that is away is no attempt; a test gets an outcome', async () => {
  const away = openPool({ after }, 'postgres://127.0.0.1:1/nowhere')
  const before = errors.length
  const relay = newRelay(1_000, away)
  await assert.rejects(relay.send(post(randomUUID())))
  const result = await relay.send(post())
  assert.deepEqual(result.outcome, { kind: 'unreachable', reason: 'connect-error' })
  assert.equal(errors.length, before + 1)
})

test('regression: requests of one client leave room for those of others', async () => {
  const relay = newRelay()
  const ended = new AbortController()
  const wait = (clientKey: number, listenerId: string) =>
    relay.take({ clientKey, listenerId }, 60_000, {
      signal: ended.signal,
      onWait: async () => {},
      everyMs: 60_000,
    })
  const own = Array.from({ length: 256 }, () => wait(7, randomUUID()))
  await assert.rejects(wait(7, randomUUID()), { code: 'too-many-requests' })
  const others = wait(8, randomUUID())
  ended.abort()
  assert.deepEqual(new Set(await Promise.all([...own, others])), new Set([null]))
  assert.equal(await take(relay, 0), null)
})
