// Erasing a payment, on the whole service: afterwards no table holds anything personal of it, the record of
// what was sent when is still there, and its sequence goes on if it is ever written again.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { callCommand } from '../support/called-command.ts'
import { Caller } from '../support/caller.ts'
import { addClient, startPaybell, until } from '../support/paybell.ts'
import { sampleBody } from '../support/payment-sample.ts'
import { startReceiver } from '../support/receiver.ts'

const receiver = await startReceiver({ after })
const paybell = await startPaybell({ after })
await paybell.caller.register(receiver.url(), 'key')

const MARK = 'Jane-Doe-4711'
const toBase64 = (text: string) => Buffer.from(text).toString('base64')

/** Every field that can hold personal data has the mark. */
function bodyOf(id: string, changes: Record<string, unknown> = {}) {
  return sampleBody({
    id,
    version: undefined,
    externalId: `${MARK}-external`,
    reference: `${MARK}-reference`,
    documentReference: `${MARK}-document`,
    status: { state: 'DUE', reason: `${MARK}-reason` },
    document: {
      mediaType: 'text/plain',
      name: `${MARK}.txt`,
      base64EncodedFile: toBase64(`file of ${id}`),
    },
    ...changes,
  })
}

async function operator(method: string, path: string, body?: object) {
  const response = await paybell.caller.operate(method, path, body)
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
  return { status: response.status, body: (await response.json()) as any }
}

async function client(path: string) {
  const response = await paybell.caller.get(path)
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
  return { status: response.status, body: (await response.json()) as any }
}

/** Tables in which a text occurs, in any row and column. */
async function tablesWith(text: string): Promise<string[]> {
  const { rows } = await paybell.pool.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c
     where c.relnamespace = 'paybell'::regnamespace and c.relkind = 'r'`,
  )
  const found: string[] = []
  for (const { name } of rows) {
    const { rowCount } = await paybell.pool.query(
      `select from ${name} t where position($1 in t::text) > 0
         or position(encode($1::bytea, 'hex') in t::text) > 0`,
      [text],
    )
    if (rowCount) found.push(name)
  }
  return found
}

async function put(id: string, body: Uint8Array<ArrayBuffer>, status: number) {
  const response = await paybell.caller.putPayment(id, body)
  assert.equal(response.status, status)
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
  return (await response.json()) as any
}

const deliveriesOf = async (id: string) =>
  (await operator('GET', `/deliveries?paymentId=${id}`)).body.items as {
    id: string
    eventId: string
    sequence: number
    state: string
  }[]

const untilDelivered = (id: string, count: number) =>
  until(`${count} deliveries`, async () => {
    const deliveries = await deliveriesOf(id)
    const done = deliveries.filter(({ state }) => state === 'DELIVERED')
    return done.length === count && deliveries
  })

test('regression: an erased payment leaves no trace of people in any table, and its log stays', async () => {
  const [id, other] = [randomUUID(), randomUUID()]
  const people = { quoteId: randomUUID(), beneficiaryId: randomUUID() }
  // The receiver repeats what it got in answers that are kept in part: a refusal, then a 200.
  let refusals = 1
  receiver.answer = ({ body }, response) => {
    response.writeHead(refusals-- > 0 ? 500 : 200).end(body)
    return undefined
  }
  await put(id, bodyOf(id, people), 201)
  await untilDelivered(id, 1)
  const shared = toBase64(`file of ${other}`)
  const sharing = { mediaType: 'text/plain', name: 'shared', base64EncodedFile: shared }
  await put(id, bodyOf(id, { document: sharing }), 200)
  await put(other, sampleBody({ id: other, version: undefined, document: sharing }), 201)
  await untilDelivered(id, 2)
  await untilDelivered(other, 1)
  receiver.answer = 500
  await put(id, bodyOf(id, { reference: `${MARK}-third` }), 200)
  await until('an attempt of the third', async () => {
    const [third] = await deliveriesOf(id)
    return third?.sequence === 3 && third
  })
  const before = await deliveriesOf(id)
  assert.ok((await tablesWith(MARK)).some((name) => name.startsWith('earlier_attempts')))

  const { status, body } = await operator('POST', `/payments/${id}/erase`)
  assert.equal(status, 200, JSON.stringify(body))
  assert.deepEqual([body.id, body.events, body.documents, body.cancelled], [id, 3, 1, 1])
  receiver.answer = 200

  // What was under way may note its answer: erased again, that goes, too.
  await until('nothing is left', async () => {
    assert.equal((await operator('POST', `/payments/${id}/erase`)).status, 200)
    return (await tablesWith(MARK)).length === 0
  })
  for (const text of [toBase64(`file of ${id}`), ...Object.values(people)]) {
    assert.deepEqual(await tablesWith(text), [])
  }
  assert.deepEqual(await tablesWith(shared), ['documents'], 'the other payment still names it')

  const deliveries = await deliveriesOf(id)
  assert.deepEqual(
    deliveries.map((delivery) => [delivery.id, delivery.sequence, delivery.state]),
    before.map((delivery) => [
      delivery.id,
      delivery.sequence,
      delivery.sequence === 3 ? 'CANCELLED' : 'DELIVERED',
    ]),
  )
  const events = await operator('GET', `/payments/${id}/events`)
  assert.deepEqual(
    events.body.items.map(
      (event: { sequence: number; payment: { id: string; status: object; erasedAt: string } }) => [
        event.sequence,
        event.payment.id,
        event.payment.status,
        typeof event.payment.erasedAt,
      ],
    ),
    [3, 2, 1].map((sequence) => [sequence, id, { state: 'DUE' }, 'string']),
  )
})

test('what was erased is a 410, is left out of lists and of the feed, and is not sent again', async () => {
  receiver.answer = 200
  const [id, next] = [randomUUID(), randomUUID()]
  await put(id, bodyOf(id), 201)
  const [delivery] = await untilDelivered(id, 1)
  await put(next, sampleBody({ id: next, version: undefined }), 201)
  await untilDelivered(next, 1)
  assert.equal((await operator('POST', `/payments/${id}/erase`)).status, 200)

  const gone = [
    await operator('GET', `/payments/${id}`),
    await client(`/v1/payments/${id}`),
    await client(`/v1/events/${delivery?.eventId}`),
    await operator('GET', `/events/${delivery?.eventId}/body`),
    await operator('POST', `/deliveries/${delivery?.id}/replay`),
  ]
  for (const { status, body } of gone) {
    assert.deepEqual([status, body.code], [410, 'payload-expired'], JSON.stringify(body))
  }
  const filter = { paymentId: id, state: 'DELIVERED' }
  const bulk = await operator('POST', '/deliveries/replay', { filter, dryRun: true })
  assert.deepEqual(bulk.body, { wouldReplay: 0 })
  const listed = await operator('GET', '/payments?limit=200')
  const ids = listed.body.items.map((payment: { id: string }) => payment.id)
  assert.deepEqual([ids.includes(id), ids.includes(next)], [false, true])
  const feed = await until('the feed shows the next one', async () => {
    const { body } = await client('/v1/events?limit=200')
    const payments = body.items.map((event: { paymentId: string }) => event.paymentId)
    return payments.includes(next) && payments
  })
  assert.ok(!feed.includes(id))
  assert.equal((await operator('GET', `/deliveries/${delivery?.id}`)).body.state, 'DELIVERED')
})

test('a later write goes on with the next sequence; an old version is still stale', async () => {
  const id = randomUUID()
  await put(id, bodyOf(id, { version: 5 }), 201)
  await put(id, bodyOf(id, { version: 6, status: { state: 'PAID' } }), 200)
  assert.equal((await operator('POST', `/payments/${id}/erase`)).status, 200)
  const late = await put(id, bodyOf(id, { version: 6, status: { state: 'PAID' } }), 200)
  assert.equal(late.stale, true)
  const back = await paybell.caller.putPayment(id, bodyOf(id, { version: 7 }))
  assert.equal(back.status, 409, 'a final state is still final')
  const again = await put(id, bodyOf(id, { version: 8, status: { state: 'PAID' } }), 200)
  assert.deepEqual([again.event.sequence, again.event.type], [3, 'payment.updated'])
  assert.equal((await operator('GET', `/payments/${id}`)).body.reference, `${MARK}-reference`)
})

test('payments that come from SQL are erased, and go on, in the same way', async () => {
  const id = randomUUID()
  const record = async (reference: string) => {
    const { rows } = await paybell.pool.query('select paybell.record_payment($1, $2) as it', [
      paybell.accountId,
      bodyOf(id, { reference }).toString(),
    ])
    return rows[0].it as { outcome: string; event: { sequence: number } }
  }
  await record(`${MARK}-by-sql`)
  await untilDelivered(id, 1)
  assert.equal((await operator('POST', `/payments/${id}/erase`)).body.events, 1)
  assert.deepEqual(await tablesWith(`${MARK}-by-sql`), [])
  const { outcome, event } = await record('harmless')
  assert.deepEqual([outcome, event.sequence], ['changed', 2])
})

test('unknown and other people’s payments: 404 for the operator, nothing for clients', async () => {
  assert.equal((await operator('POST', `/payments/${randomUUID()}/erase`)).status, 404)
  const id = randomUUID()
  await put(id, sampleBody({ id, version: undefined }), 201)
  const stranger = new Caller(await addClient(paybell, 'Stranger'))
  const refused = await stranger.call('POST', `/operator/v1/payments/${id}/erase`)
  assert.equal(refused.status, 401)
})

test('a replay that races with the erasure sends nothing of it afterwards', async () => {
  receiver.answer = 200
  const payments = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const id = randomUUID()
      await put(id, bodyOf(id), 201)
      const [delivery] = await untilDelivered(id, 1)
      return { id, deliveryId: delivery?.id }
    }),
  )
  await Promise.all(
    payments.flatMap(({ id, deliveryId }) => [
      operator('POST', `/deliveries/${deliveryId}/replay`),
      operator('POST', `/payments/${id}/erase`),
    ]),
  )
  for (const { id } of payments) {
    const [delivery] = await until('it is final', async () => {
      const deliveries = await deliveriesOf(id)
      return deliveries.every(({ state }) => state !== 'PENDING') && deliveries
    })
    assert.ok(delivery?.state === 'DELIVERED' || delivery?.state === 'CANCELLED')
    assert.equal((await operator('GET', `/payments/${id}`)).status, 410)
  }
})

test('paybell payments erase', async () => {
  const id = randomUUID()
  await put(id, bodyOf(id), 201)
  const env = { PAYBELL_URL: paybell.baseUrl, PAYBELL_OPERATOR_KEY: paybell.operatorKey }
  const erase = (...args: string[]) => callCommand(['payments', 'erase', ...args], { env })
  const unasked = await erase(id)
  assert.equal(unasked.code, 2)
  assert.match(unasked.stderr, /cannot be undone.*add --yes/)
  assert.equal((await erase(id, '--json')).code, 2)
  const first = await erase(id, '--yes', '--json')
  assert.equal(first.code, 0, first.stderr)
  const { erasedAt, ...counts } = JSON.parse(first.stdout)
  assert.deepEqual(counts, { id, events: 1, documents: 1, cancelled: counts.cancelled })
  const again = await erase(id, '--yes', '--json')
  assert.deepEqual(JSON.parse(again.stdout), {
    id,
    erasedAt,
    events: 1,
    documents: 0,
    cancelled: 0,
  })
  const told = await erase(id, '--yes')
  assert.match(told.stdout, new RegExp(`^${id} is erased since .*\n1 event, 0 files, `))
  assert.equal((await erase(randomUUID(), '--yes')).code, 1)
  assert.equal((await erase('nonsense', '--yes')).code, 2)
})

test('regression: of an erasure and a recorder that wait for each other, the erasure goes again', async () => {
  const id = randomUUID()
  receiver.answer = 500
  await put(id, bodyOf(id), 201)
  await until('an attempt', async () => (await deliveriesOf(id))[0])
  const { rows } = await paybell.pool.query<{ id: string }>(
    'select id from pending_deliveries where payment_id = $1',
    [id],
  )
  const other = await paybell.pool.connect()
  try {
    // Holds what the erasure comes to wait for, and then waits for what the erasure holds.
    await other.query(`begin; set local deadlock_timeout = '20s'`)
    await other.query('select from pending_deliveries where id = $1 for update', [rows[0]?.id])
    const erased = operator('POST', `/payments/${id}/erase`)
    await until('the erasure to wait', async () => {
      const waiting = await paybell.pool.query(
        `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      )
      return waiting.rows.length > 0
    })
    const blocked = other.query(
      `select from endpoints e join pending_deliveries p on p.endpoint_id = e.id
       where p.payment_id = $1 for update of e`,
      [id],
    )
    await blocked
    await other.query('commit')
    assert.equal((await erased).status, 200)
  } finally {
    other.release()
  }
})
