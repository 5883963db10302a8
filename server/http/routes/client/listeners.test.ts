// Listeners: callbacks that are fetched. Deliveries, attempts, order and retries are those of any other
// endpoint; and while no request asks for callbacks, nothing is attempted and nothing is lost.

import assert from 'node:assert/strict'
import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { Caller } from '../../../../test/support/caller.ts'
import { endsWithin } from '../../../../test/support/ends-within.ts'
import { addAccount, addClient, startPaybell, until } from '../../../../test/support/paybell.ts'
import { sampleBody } from '../../../../test/support/payment-sample.ts'
import { deleteForgottenListeners, pauseSilentListeners } from '../../../upkeep/tend-listeners.ts'

const paybell = await startPaybell({ after }, { env: { PAYBELL_TIME_SCALE: '100' } })

interface Offer {
  offerId: string
  deliveryId: string | null
  eventId: string
  attempt: number
  headers: [string, string][]
  bodyBase64: string
  timeoutMs: number
  deadlineAt: string
}

interface Listener {
  id: string
  name: string
  accountId: string
  status: string
  health?: { pending: number }
}

let names = 0

/** A new client for each test, so that no test sees another's payments. */
async function newCaller(): Promise<Caller & { accountId: string }> {
  const facts = await addClient(paybell)
  return Object.assign(new Caller(facts), { accountId: facts.accountId })
}

async function register(caller: Caller, name = `laptop-${++names}`, sharedKey = 'shared key') {
  const answer = await caller.call('POST', '/v1/listeners', { name, sharedKey })
  assert.equal(answer.status, 201, await answer.clone().text())
  return (await answer.json()) as Listener
}

async function next(caller: Caller, id: string, wait = 10): Promise<Offer | null> {
  const answer = await caller.get(`/v1/listeners/${id}/next?wait=${wait}`)
  if (answer.status === 204) return null
  assert.equal(answer.status, 200, await answer.clone().text())
  return (await answer.json()) as Offer
}

async function tell(caller: Caller, id: string, outcome: object): Promise<number> {
  const answer = await caller.call('POST', `/v1/listeners/${id}/outcomes`, outcome)
  return answer.status
}

function headersOf(offer: Offer): Record<string, string> {
  return Object.fromEntries(offer.headers.map(([name, value]) => [name.toLowerCase(), value]))
}

async function deliveryOf(caller: Caller, id: string | null) {
  const answer = await caller.get(`/v1/deliveries/${id}`)
  return (await answer.json()) as {
    state: string
    attempts: number
    endpointUrl: string
    explanation: string
    attemptLog: {
      attempt: number
      status: number | null
      error: string | null
      durationMs: number
    }[]
  }
}

test('a listener is made once for a name, and another key rotates', async () => {
  const caller = await newCaller()
  const made = await register(caller, 'anns-laptop', 'the first key')
  assert.deepEqual(made, {
    id: made.id,
    name: 'anns-laptop',
    accountId: caller.accountId,
    status: 'PAUSED',
    hmacHeaderName: 'X-Paybell-Hmac',
    algorithm: 'SHA_256',
  } as object)
  const body = { name: 'anns-laptop', sharedKey: 'the first key' }
  const again = await caller.call('POST', '/v1/listeners', body)
  assert.equal(again.status, 200)
  assert.equal(((await again.json()) as Listener).id, made.id)
  await caller.call('POST', '/v1/listeners', { ...body, sharedKey: 'the second key' })
  await caller.write()
  const offer = (await next(caller, made.id)) ?? assert.fail()
  const headers = headersOf(offer)
  const bytes = Buffer.from(offer.bodyBase64, 'base64')
  const hmac = (key: string) => createHmac('sha256', key).update(bytes).digest('hex')
  assert.equal(headers['x-paybell-hmac'], hmac('the second key'))
  assert.equal(headers['x-paybell-hmac-previous'], hmac('the first key'))
  assert.equal(await tell(caller, made.id, { offerId: offer.offerId, status: 200 }), 204)
})

test('an attempt is fetched, answered and recorded like any other', async () => {
  const caller = await newCaller()
  const { id } = await register(caller)
  const asked = next(caller, id, 20)
  const putAt = performance.now()
  const paymentId = await caller.write()
  const offer = (await asked) ?? assert.fail()
  const passedMs = performance.now() - putAt
  const headers = headersOf(offer)
  assert.equal(headers['webhook-id'], offer.eventId)
  assert.equal(headers['x-paybell-event'], 'payment.created')
  assert.equal(offer.attempt, 1)
  // What is left of 15 s; the service's clock may have been set right meanwhile.
  const leastMs = 15_000 - passedMs - 1_000
  assert.ok(offer.timeoutMs > leastMs && offer.timeoutMs <= 15_000, `${offer.timeoutMs}`)
  assert.equal(JSON.parse(Buffer.from(offer.bodyBase64, 'base64').toString()).id, paymentId)
  const exact = await caller.get(`/v1/events/${offer.eventId}`)
  assert.deepEqual(Buffer.from(await exact.arrayBuffer()).toString('base64'), offer.bodyBase64)
  const { offerId } = offer
  const refused = { offerId, status: 503, durationMs: 7, body: 'not today', retryAfter: '1' }
  assert.equal(await tell(caller, id, refused), 204)
  const second = (await next(caller, id)) ?? assert.fail()
  assert.deepEqual([second.deliveryId, second.attempt], [offer.deliveryId, 2])
  assert.equal(await tell(caller, id, { offerId: second.offerId, error: 'connect-error' }), 204)
  const third = (await next(caller, id)) ?? assert.fail()
  assert.equal(await tell(caller, id, { offerId: third.offerId, status: 200, durationMs: 3 }), 204)
  const delivery = await until('it is delivered', async () => {
    const found = await deliveryOf(caller, offer.deliveryId)
    return found.state === 'DELIVERED' && found
  })
  assert.match(delivery.endpointUrl, /^listener:laptop-\d+$/)
  assert.deepEqual(
    delivery.attemptLog.map(({ status, error }) => [status, error]),
    [
      [503, null],
      [null, 'connect-error'],
      [200, null],
    ],
  )
  assert.equal(delivery.attemptLog[0]?.durationMs, 7)
  const { rows } = await paybell.pool.query('select excerpt from attempts where status = 503')
  assert.equal(rows[0].excerpt.toString(), 'not today')
})

test('an outcome counts once, in time, for its own listener', async () => {
  const caller = await newCaller()
  const { id } = await register(caller)
  const other = await register(caller)
  await caller.write()
  const offer = (await next(caller, id)) ?? assert.fail()
  const { offerId } = offer
  assert.equal(await tell(caller, id, { offerId: randomUUID(), status: 200 }), 410)
  assert.equal(await tell(caller, other.id, { offerId, status: 200 }), 410)
  assert.equal(await tell(caller, id, { offerId }), 400)
  assert.equal(await tell(caller, id, { offerId, status: 200, error: 'timeout' }), 400)
  assert.equal(await tell(caller, id, { offerId, error: 'no-such-error' }), 400)
  assert.equal(await tell(caller, id, { offerId: 'x', status: 200 }), 400)
  assert.equal(await tell(caller, id, { offerId, status: 200 }), 204)
  assert.equal(await tell(caller, id, { offerId, status: 200 }), 410)
})

test('a caller that hangs up takes no callback', async () => {
  const caller = await newCaller()
  const { id } = await register(caller)
  const hangUp = new AbortController()
  const gone = fetch(`${paybell.baseUrl}/v1/listeners/${id}/next`, {
    headers: await caller.headers(),
    signal: hangUp.signal,
  })
  await until('it listens', async () => (await view(caller, id)).status === 'ACTIVE')
  hangUp.abort()
  await assert.rejects(gone)
  await caller.write()
  const offer = (await next(caller, id)) ?? assert.fail()
  assert.equal(offer.attempt, 1)
  assert.equal(await tell(caller, id, { offerId: offer.offerId, status: 200 }), 204)
})

test('a callback whose body is gone is given back, so that no attempt waits for its answer', async () => {
  const caller = await newCaller()
  const { id } = await register(caller)
  assert.equal(await next(caller, id, 0), null)
  const paymentId = await caller.write()
  const offered = async () => {
    const { rows } = await paybell.pool.query<{ taken_at: Date | null }>(
      'select taken_at from listener_offers where listener_id = $1',
      [id],
    )
    return rows[0]
  }
  await until('it is offered', offered)
  await paybell.pool.query('delete from events where payment_id = $1', [paymentId])
  assert.equal(await next(caller, id, 0), null)
  assert.deepEqual(await offered(), { taken_at: null })
  // Else the attempt would wait for an answer until its deadline, and a stop with it.
  await paybell.pool.query(
    `update listener_offers set taken_at = offered_at, outcome = 'answered', status = 200,
       duration_ms = 1 where listener_id = $1`,
    [id],
  )
  await until('the answer is collected', async () => (await offered()) === undefined)
})

test('updates of one payment are offered in sequence, others side by side', async () => {
  const caller = await newCaller()
  const { id } = await register(caller)
  assert.equal(await next(caller, id, 0), null)
  const [a, b] = [await caller.write(), await caller.write()]
  await caller.write(a, '2')
  const offers = [await next(caller, id), await next(caller, id)].map((one) => one ?? assert.fail())
  const paymentOf = (offer: Offer) =>
    JSON.parse(Buffer.from(offer.bodyBase64, 'base64').toString()).id
  assert.deepEqual(offers.map(paymentOf).sort(), [a, b].sort())
  assert.equal(await next(caller, id, 0), null, 'the second update of a waits')
  for (const { offerId } of offers)
    assert.equal(await tell(caller, id, { offerId, status: 200 }), 204)
  const second = (await next(caller, id)) ?? assert.fail()
  assert.deepEqual([paymentOf(second), headersOf(second)['x-paybell-sequence']], [a, '2'])
  await tell(caller, id, { offerId: second.offerId, status: 200 })
})

async function view(caller: Caller, id: string): Promise<Listener> {
  return (await (await caller.get(`/v1/listeners/${id}`)).json()) as Listener
}

test('while no request listens everything waits, without an attempt, and then it comes in order', async () => {
  const caller = await newCaller()
  const { id } = await register(caller)
  const payment = await caller.write()
  for (const reference of ['2', '3']) await caller.write(payment, reference)
  const waiting = await view(caller, id)
  assert.deepEqual([waiting.status, waiting.health?.pending], ['PAUSED', 3])
  const { items } = (await (await caller.get(`/v1/deliveries?endpointId=${id}`)).json()) as {
    items: { id: string; attempts: number }[]
  }
  assert.deepEqual(
    items.map(({ attempts }) => attempts),
    [0, 0, 0],
  )
  const { explanation } = await deliveryOf(caller, items.at(-1)?.id ?? null)
  assert.match(explanation, /^No listener has been connected since .*Nothing is lost/)
  for (const sequence of ['1', '2', '3']) {
    const offer = (await next(caller, id)) ?? assert.fail()
    assert.deepEqual([headersOf(offer)['x-paybell-sequence'], offer.attempt], [sequence, 1])
    await tell(caller, id, { offerId: offer.offerId, status: 200 })
  }
  assert.equal((await view(caller, id)).status, 'ACTIVE')
})

test('a listener without a request for half a minute is paused, and the next request resumes it', async () => {
  const caller = await newCaller()
  const { id } = await register(caller)
  await next(caller, id, 0)
  const { deps } = paybell.app
  assert.equal(await pauseSilentListeners(deps), 0)
  const age = (span: string) =>
    paybell.pool.query(
      'update listeners set last_polled_at = now() - $2::interval where endpoint_id = $1',
      [id, span],
    )
  await age('31 seconds')
  // The service's own upkeep may have been quicker.
  await pauseSilentListeners(deps)
  assert.equal((await view(caller, id)).status, 'PAUSED')
  await caller.write()
  const offer = (await next(caller, id)) ?? assert.fail()
  assert.equal((await view(caller, id)).status, 'ACTIVE')
  await tell(caller, id, { offerId: offer.offerId, status: 200 })
  await age('8 days')
  assert.deepEqual(await deleteForgottenListeners(deps), { deleted: 1, failed: [] })
  assert.equal((await caller.get(`/v1/listeners/${id}`)).status, 404)
  assert.equal((await caller.get(`/v1/listeners/${id}/next?wait=0`)).status, 404)
})

test('tests and replays reach a listener, and are marked', async () => {
  const caller = await newCaller()
  const { id } = await register(caller)
  const test = caller.call('POST', `/v1/listeners/${id}/test`)
  const specimen = (await next(caller, id)) ?? assert.fail()
  assert.deepEqual([specimen.deliveryId, headersOf(specimen)['x-paybell-test']], [null, 'true'])
  const bytes = Buffer.from(specimen.bodyBase64, 'base64')
  assert.equal(
    headersOf(specimen)['x-paybell-hmac'],
    createHmac('sha256', 'shared key').update(bytes).digest('hex'),
  )
  await tell(caller, id, { offerId: specimen.offerId, status: 204, durationMs: 1 })
  const result = (await (await test).json()) as { delivered: boolean; status: number }
  assert.deepEqual([result.delivered, result.status], [false, 204])
  await caller.write()
  const first = (await next(caller, id)) ?? assert.fail()
  await tell(caller, id, { offerId: first.offerId, status: 200 })
  await until(
    'it is delivered',
    async () => (await deliveryOf(caller, first.deliveryId)).state === 'DELIVERED',
  )
  const replay = await caller.call('POST', `/v1/deliveries/${first.deliveryId}/replay`)
  assert.equal(replay.status, 202)
  const again = (await next(caller, id)) ?? assert.fail()
  assert.deepEqual(
    [again.deliveryId, again.attempt, headersOf(again)['x-paybell-replay'], again.bodyBase64],
    [first.deliveryId, 2, 'true', first.bodyBase64],
  )
  await tell(caller, id, { offerId: again.offerId, status: 200 })
  const since = new Date(Date.now() - 60_000).toISOString()
  const recover = await caller.call('POST', `/v1/listeners/${id}/recover?dryRun=true`, {
    since,
    states: ['DELIVERED'],
  })
  assert.equal(recover.status, 200)
})

test('a client cannot reach another’s listener, and a webhook is none', async () => {
  const caller = await newCaller()
  const facts = await addClient(paybell)
  const stranger = new Caller(facts)
  const elsewhere = new Caller(await addAccount(paybell, facts))
  const mine = await register(stranger)
  const { id } = await register(caller)
  const offerId = randomUUID()
  const calls: [string, string, object?][] = [
    ['GET', `/v1/listeners/${id}`],
    ['GET', `/v1/listeners/${id}/next?wait=0`],
    ['POST', `/v1/listeners/${id}/outcomes`, { offerId, status: 200 }],
    ['PATCH', `/v1/listeners/${id}`, { status: 'PAUSED' }],
    ['POST', `/v1/listeners/${id}/test`],
    ['DELETE', `/v1/listeners/${id}`],
    ['GET', `/v1/webhooks/${mine.id}`],
    ['GET', `/v1/listeners/nothing/next`],
  ]
  for (const [method, path, body] of calls) {
    assert.equal((await stranger.call(method, path, body)).status, 404, `${method} ${path}`)
  }
  // The same client, with another of its accounts.
  assert.equal((await elsewhere.get(`/v1/listeners/${mine.id}/next?wait=0`)).status, 404)
  const list = async (path: string) =>
    ((await (await stranger.get(path)).json()) as { content: { id: string }[] }).content
  assert.deepEqual(
    (await list('/v1/listeners')).map((item) => item.id),
    [mine.id],
  )
  assert.deepEqual(await list('/v1/webhooks/list'), [])
  assert.equal((await stranger.call('DELETE', `/v1/listeners/${mine.id}`)).status, 204)
  assert.deepEqual(await list('/v1/listeners'), [])
})

test('wrong fields and queries are reported', async () => {
  const caller = await newCaller()
  const { id } = await register(caller)
  for (const name of ['', '-x', 'a b', 'x'.repeat(64), 'a/b']) {
    const answer = await caller.call('POST', '/v1/listeners', { name, sharedKey: 'k' })
    assert.equal(answer.status, 400, name)
  }
  for (const wait of ['-1', '31', '1.5', 'long']) {
    assert.equal((await caller.get(`/v1/listeners/${id}/next?wait=${wait}`)).status, 400, wait)
  }
  const head = await caller.call('HEAD', `/v1/listeners/${id}/next`)
  assert.equal(head.status, 405)
})

test('a process that stops ends waiting requests at once', async (t) => {
  const other = await startPaybell(t, { beside: paybell })
  const caller = await newCaller()
  const { id } = await register(caller)
  const headers = await caller.headers()
  const asked = fetch(`${other.baseUrl}/v1/listeners/${id}/next?wait=30`, { headers })
  await until('it listens', async () => (await view(caller, id)).status === 'ACTIVE')
  // Left alone it would wait for 30 s.
  await endsWithin(20_000, async () => {
    const stopped = other.stop()
    assert.equal((await asked).status, 204)
    await stopped
  })
})

test('a callback with a document comes whole, byte for byte', async () => {
  const caller = await newCaller()
  const { id } = await register(caller)
  const file = randomBytes(3_000_000).toString('base64')
  const document = { mediaType: 'application/pdf', name: 'receipt.pdf', base64EncodedFile: file }
  const paymentId = randomUUID()
  const body = sampleBody({ id: paymentId, version: undefined, document })
  assert.equal((await caller.putPayment(paymentId, body)).status, 201)
  const offer = (await next(caller, id)) ?? assert.fail()
  const bytes = Buffer.from(offer.bodyBase64, 'base64')
  assert.equal(JSON.parse(bytes.toString()).document.base64EncodedFile, file)
  assert.equal(
    headersOf(offer)['x-paybell-hmac'],
    createHmac('sha256', 'shared key').update(bytes).digest('hex'),
  )
  assert.equal(await tell(caller, id, { offerId: offer.offerId, status: 200 }), 204)
})

test('an offer that was not taken was no attempt, and the next process offers it as the first', async (t) => {
  const first = await startPaybell(t)
  const { id } = await register(first.caller)
  await next(first.caller, id, 0)
  const payment = await first.caller.write()
  await first.caller.write(payment, '2')
  await until('it is offered', async () => {
    return ((await first.pool.query('select from listener_offers')).rowCount ?? 0) > 0
  })
  // An attempt would end after 15 s.
  await endsWithin(12_000, () => first.stop())
  assert.equal((await first.pool.query('select from attempts')).rowCount, 0)
  const { caller } = await startPaybell(t, { beside: first })
  for (const sequence of ['1', '2']) {
    const offer = (await next(caller, id)) ?? assert.fail()
    assert.deepEqual([offer.attempt, headersOf(offer)['x-paybell-sequence']], [1, sequence])
    await tell(caller, id, { offerId: offer.offerId, status: 200 })
  }
})

test('regression: a listener has no settings, at either door, and the 400 names those that were given', async () => {
  const caller = await newCaller()
  const given = { events: ['payment.paid'], deliver: 'latest' }
  const made = await caller.call('POST', '/v1/listeners', {
    name: 'set',
    sharedKey: 'a key',
    ...given,
  })
  const { id } = await register(caller)
  const changed = await caller.operate('PATCH', `/endpoints/${id}`, given)
  for (const answer of [made, changed]) {
    assert.equal(answer.status, 400)
    const { code, detail, errors } = (await answer.json()) as {
      code: string
      detail: string
      errors: { pointer: string; code: string }[]
    }
    assert.equal(code, 'invalid-fields')
    assert.match(detail, /no settings/)
    assert.deepEqual(
      errors.map((error) => [error.pointer, error.code]),
      [
        ['/events', 'not-taken'],
        ['/deliver', 'not-taken'],
      ],
    )
  }
})
