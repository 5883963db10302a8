// What an endpoint gets, and how (decisions §13), at a real receiver: kinds of event, files by link or not at all, and
// the header of the HMAC.

import assert from 'node:assert/strict'
import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { Caller } from '../support/caller.ts'
import { addClient, startPaybell, until, untilAllAre } from '../support/paybell.ts'
import { sampleBody } from '../support/payment-sample.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'

const KEY = 'a-shared-key-of-some-length'
const paybell = await startPaybell({ after })
const operator = { authorization: `Bearer ${paybell.operatorKey}` }

/** A client of its own, so that one test's endpoints get nothing of another's. */
async function newCaller(): Promise<Caller> {
  return new Caller(await addClient(paybell, 'Of a test'))
}

function register(caller: Caller, receiver: Receiver, settings: object, path = '/hook') {
  return caller.addWebhook(receiver.url(path), KEY, settings)
}

const withFile = (file: Buffer, more: object = {}) => ({
  document: {
    mediaType: 'application/pdf',
    name: 'Beleg "ü" 1.pdf',
    base64EncodedFile: file.toString('base64'),
  },
  ...more,
})

test('an endpoint gets the kinds that it chose, in order, with numbers that skip', async (t) => {
  const receiver = await startReceiver(t)
  const caller = await newCaller()
  const id = await register(caller, receiver, { events: ['payment.created', 'payment.paid'] })
  const payment = randomUUID()
  for (const state of ['DRAFT', 'PENDING_APPROVAL', 'DUE', 'PAID']) {
    await caller.update(payment, { status: { state } })
  }
  await receiver.hasSeen(({ accepted }) => accepted.length === 2)
  assert.deepEqual(receiver.sequences(), [1, 4])
  const { rows } = await paybell.pool.query(
    'select count(*)::int as rows from final_deliveries where payment_id = $1',
    [payment],
  )
  await until('both have ended', async () => {
    const found = await paybell.pool.query('select from final_deliveries where endpoint_id = $1', [
      id,
    ])
    return found.rowCount === 2
  })
  assert.ok(rows[0].rows <= 2)

  // Changed: from now on another kind.
  await caller.changeWebhook(id, { events: ['payment.updated'] })
  await caller.update(payment, { status: { state: 'PAID' }, reference: 'another' })
  await receiver.hasSeen(({ accepted }) => accepted.length === 3)
  assert.deepEqual(receiver.sequences(), [1, 4, 5])
})

test('a payment says for each endpoint why it gets the newest update, or why not', async (t) => {
  const receiver = await startReceiver(t)
  const caller = await newCaller()
  const payment = randomUUID()
  await register(caller, receiver, {}, '/all')
  await register(caller, receiver, { events: ['payment.paid'] }, '/paid')
  await caller.update(payment, { status: { state: 'DUE' } })
  await register(caller, receiver, {}, '/late')
  await receiver.hasSeen(({ accepted }) => accepted.length === 1)
  const seen = await until('it is delivered', async () => {
    const { endpoints } = (await (await caller.get(`/v1/payments/${payment}`)).json()) as {
      endpoints: { endpointUrl: string; state: string; code: string; explanation: string }[]
    }
    return endpoints[0]?.state === 'DELIVERED' && endpoints
  })
  assert.deepEqual(
    seen.map(({ endpointUrl, code }) => [new URL(endpointUrl).pathname, code]),
    [
      ['/all', 'owed'],
      ['/paid', 'not-heard'],
      ['/late', 'registered-later'],
    ],
  )
  assert.match(seen[1]?.explanation ?? '', /gets only payment\.paid\.$/)
})

test('by link: the body has a url in place of the file, the same on every attempt', async (t) => {
  const receiver = await startReceiver(t)
  const caller = await newCaller()
  const endpointId = await register(caller, receiver, { document: 'link' })
  const file = randomBytes(3_001)
  let attempts = 0
  receiver.answer = () => (++attempts === 1 ? 500 : 200)
  const payment = randomUUID()
  const eventId = await caller.update(payment, withFile(file))
  await receiver.hasSeen(({ received }) => received.length === 1)
  // A setting that is changed in between does not change what is sent again.
  await caller.changeWebhook(endpointId, { document: 'inline' })
  await caller.postToWebhook(endpointId, 'retry')
  await receiver.hasSeen(({ accepted }) => accepted.length === 1)
  const [first, second] = receiver.received
  assert.ok(first && second)
  assert.deepEqual(first.body, second.body)
  const mac = createHmac('sha256', KEY).update(second.body).digest('hex')
  assert.equal(second.headers['x-paybell-hmac'], mac)
  const { document } = JSON.parse(second.body.toString()) as {
    document: { url: string; name: string }
  }
  assert.deepEqual(Object.keys(document), ['mediaType', 'name', 'url'])

  const fetched = await fetch(document.url)
  assert.equal(fetched.status, 200)
  assert.equal(fetched.headers.get('content-type'), 'application/pdf')
  assert.equal(fetched.headers.get('x-content-type-options'), 'nosniff')
  assert.equal(fetched.headers.get('cache-control'), 'no-store')
  assert.equal(
    fetched.headers.get('content-disposition'),
    `attachment; filename="Beleg ___ 1.pdf"; filename*=UTF-8''Beleg%20_%C3%BC_%201.pdf`,
  )
  assert.deepEqual(Buffer.from(await fetched.arrayBuffer()), file)
  const { mock } = t.mock.method(paybell.app.deps.pool, 'query')
  const head = await fetch(document.url, { method: 'HEAD' })
  assert.deepEqual([head.status, head.headers.get('content-length')], [200, '3001'])
  const asked = mock.calls.map(({ arguments: [query] }) => (query as { name?: string }).name)
  assert.ok(asked.includes('read-document-size') && !asked.includes('read-document-part'))
  mock.restore()

  // The delivery shows what was sent, and the doctor finds nothing wrong with it.
  const deliveries = await untilAllAre(paybell.pool, ['DELIVERED', 'PENDING'])
  const delivery = deliveries.find((one) => one.eventId === eventId)
  const detail = (await (await caller.get(`/v1/deliveries/${delivery?.id}`)).json()) as {
    request: { body: string; headers: { name: string; value: string }[] }
  }
  assert.equal(detail.request.body, second.body.toString())
  assert.ok(
    detail.request.headers.some(({ name, value }) => name === 'X-Paybell-Hmac' && value === mac),
  )
  const diagnosis = await caller.postToWebhook(endpointId, 'verify', {
    headers: Object.fromEntries(
      ['x-paybell-hmac', 'webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [
        name,
        String(second.headers[name]),
      ]),
    ),
    body: second.body.toString(),
  })
  assert.deepEqual(await diagnosis.json(), { valid: true, findings: [] })

  // A replay carries the same bytes as well.
  assert.equal((await caller.call('POST', `/v1/deliveries/${delivery?.id}/replay`)).status, 202)
  await receiver.hasSeen(({ accepted }) => accepted.length === 2)
  assert.deepEqual(receiver.accepted[1]?.body, second.body)
})

test('regression: a link that is altered or respelt by any character is 404; of a deleted endpoint, or too old, 410', async (t) => {
  const receiver = await startReceiver(t)
  const caller = await newCaller()
  const endpointId = await register(caller, receiver, { document: 'link' })
  const eventId = await caller.update(randomUUID(), withFile(randomBytes(10)))
  await receiver.hasSeen(({ accepted }) => accepted.length === 1)
  const { document } = JSON.parse(receiver.accepted[0]?.body.toString() ?? '')
  const url = document.url as string
  const link = url.slice(url.lastIndexOf('/') + 1)
  const base = url.slice(0, -link.length)
  const statusOf = async (text: string) => (await fetch(base + text)).status
  assert.equal(await statusOf(link), 200)
  const alphabet = 'aA0_-.'
  for (let at = 0; at < link.length; at++) {
    const other = [...alphabet].find((letter) => letter !== link[at])
    const altered = link.slice(0, at) + other + link.slice(at + 1)
    assert.equal(await statusOf(altered), 404, altered)
  }
  // The last character of base64 has bits that count for nothing.
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const last = letters.indexOf(link.at(-1) as string)
  assert.equal(await statusOf(link.slice(0, -1) + letters[last ^ 1]), 404)
  for (const altered of [`${link}x`, `${link}.`, link.slice(1), link.toUpperCase(), '', 'x']) {
    assert.equal(await statusOf(altered), 404, altered)
  }

  for (const respelt of [
    link.replace('.', '%2E'),
    link.replace('0', '%30'),
    `${link}?`,
    `${link}?x=1`,
    `${link};x`,
    `${link}/`,
  ]) {
    assert.equal(await statusOf(respelt), 404, respelt)
  }

  // Another tenant's event under the endpoint of this one needs a MAC that only Paybell can make.
  const { sealer } = paybell.app.deps
  const stranger = await newCaller()
  await register(stranger, receiver, { document: 'link' }, '/stranger')
  const foreign = await stranger.update(randomUUID(), withFile(randomBytes(11)))
  const forged = `${foreign}.${endpointId}`
  assert.equal(await statusOf(`${forged}.${link.split('.')[2]}`), 404)
  // Even with one it leads nowhere: the event is looked for among those of the endpoint's client.
  assert.equal(await statusOf(`${forged}.${sealer.signLink(forged)}`), 410)

  const old = `01900000-0000-7000-8000-000000000001.${endpointId}`
  const ended = await fetch(`${base}${old}.${sealer.signLink(old)}`)
  assert.equal(ended.status, 410)
  assert.equal(((await ended.json()) as { code: string }).code, 'link-ended')

  assert.equal((await caller.deleteWebhook(endpointId)).status, 204)
  assert.equal(await statusOf(link), 410)
  assert.equal((await caller.get(`/v1/events/${eventId}`)).status, 200)
})

test('regression: links of a client that is not active are 410 until it is active again', async (t) => {
  const receiver = await startReceiver(t)
  const caller = await newCaller()
  const endpointId = await register(caller, receiver, { document: 'link' })
  await caller.update(randomUUID(), withFile(randomBytes(10)))
  await receiver.hasSeen(({ accepted }) => accepted.length === 1)
  const { url } = JSON.parse(receiver.accepted[0]?.body.toString() ?? '').document
  const { rows } = await paybell.pool.query(
    'select c.id from clients c join endpoints e using (client_key) where e.id = $1',
    [endpointId],
  )
  const become = async (status: string) => {
    const changed = await paybell.caller.operate('PATCH', `/clients/${rows[0].id}`, { status })
    assert.equal(changed.status, 200)
  }
  assert.equal((await fetch(url)).status, 200)
  await become('DISABLED')
  const ended = await fetch(url)
  assert.deepEqual(
    [ended.status, ((await ended.json()) as { code: string }).code],
    [410, 'link-ended'],
  )
  await become('ACTIVE')
  assert.equal((await fetch(url)).status, 200)
})

test('without documents the body is the payment with the file left out', async (t) => {
  const receiver = await startReceiver(t)
  const caller = await newCaller()
  await register(caller, receiver, { document: 'none' }, '/none')
  await register(caller, receiver, { document: 'inline' }, '/inline')
  const file = randomBytes(100)
  await caller.update(randomUUID(), withFile(file))
  await receiver.hasSeen(({ accepted }) => accepted.length === 2)
  const bodyAt = (path: string) =>
    JSON.parse(receiver.accepted.find((one) => one.path === path)?.body.toString() ?? '')
  const [none, inline] = [bodyAt('/none'), bodyAt('/inline')]
  assert.deepEqual(Object.keys(none.document), ['mediaType', 'name'])
  assert.equal(inline.document.base64EncodedFile, file.toString('base64'))
  delete inline.document.base64EncodedFile
  assert.deepEqual(none, inline)
})

test('a change made in SQL follows the settings too', async (t) => {
  const receiver = await startReceiver(t)
  const caller = await newCaller()
  await register(caller, receiver, { document: 'link', events: ['payment.due'] })
  const file = randomBytes(50)
  const [due, draft] = [randomUUID(), randomUUID()]
  const { accountid: accountId } = await caller.headers()
  // The first write of a payment is payment.created, whatever its state.
  const writes = [
    [draft, 'DRAFT'],
    [due, 'DUE'],
    [due, 'PAID'],
    [draft, 'DUE'],
  ] as const
  for (const [id, state] of writes) {
    const body = sampleBody({ id, version: undefined, status: { state }, ...withFile(file) })
    await paybell.pool.query('select paybell.record_payment($1, $2)', [accountId, String(body)])
  }
  await receiver.hasSeen(({ accepted }) => accepted.length === 1)
  const { id, document } = JSON.parse(receiver.accepted[0]?.body.toString() ?? '')
  assert.equal(id, draft)
  assert.deepEqual(Buffer.from(await (await fetch(document.url)).arrayBuffer()), file)
})

test('the HMAC comes under the name that the endpoint chose, for callbacks, tests and checks', async (t) => {
  const receiver = await startReceiver(t)
  const caller = await newCaller()
  const id = await register(caller, receiver, { hmacHeaderName: 'X-Acme-Signature' })
  await caller.update(randomUUID())
  assert.equal((await caller.postToWebhook(id, 'test')).status, 200)
  await receiver.hasSeen(({ accepted }) => accepted.length === 2)
  for (const { headers, body } of receiver.accepted) {
    assert.equal(headers['x-paybell-hmac'], undefined)
    const mac = createHmac('sha256', KEY).update(body).digest('hex')
    assert.equal(headers['x-acme-signature'], mac)
  }
  const { headers, body } = receiver.accepted[0] ?? assert.fail()
  const verify = async (given: Record<string, string>) => {
    const asked = { headers: given, body: body.toString() }
    const answer = await caller.postToWebhook(id, 'verify', asked)
    return (await answer.json()) as { valid: boolean; findings: { detail: string }[] }
  }
  const mac = String(headers['x-acme-signature'])
  assert.equal((await verify({ 'X-Acme-Signature': mac })).valid, true)
  const wrong = await verify({ 'X-Paybell-Hmac': mac, 'X-Paybell-Attempt': '1' })
  assert.equal(wrong.valid, false)
  assert.match(wrong.findings[0]?.detail ?? '', /is in X-Paybell-Hmac .* X-Acme-Signature/)
  const before = receiver.received.length
  const check = await caller.postToWebhook(id, 'check')
  const { steps } = (await check.json()) as { steps: { code: string; result: string }[] }
  assert.equal(steps.find(({ code }) => code === 'valid-signature')?.result, 'pass')
  const checked = receiver.received.slice(before)
  assert.ok(checked.every((each) => each.headers['x-paybell-hmac'] === undefined))
  const unsigned = checked.filter((each) => each.headers['x-acme-signature'] === undefined)
  assert.equal(unsigned.length, 1, 'the one that has no signature at all')
})

test('the operator changes settings, and a viewer may not', async (t) => {
  const receiver = await startReceiver(t)
  const caller = await newCaller()
  const id = await register(caller, receiver, {})
  const url = `${paybell.baseUrl}/operator/v1/endpoints/${id}`
  const send = (headers: object) =>
    fetch(url, {
      method: 'PATCH',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ description: 'Ledger', events: ['payment.paid'] }),
    })
  const made = await fetch(`${paybell.baseUrl}/operator/v1/keys`, {
    method: 'POST',
    headers: { ...operator, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Viewer', role: 'viewer' }),
  })
  const { key } = (await made.json()) as { key: string }
  assert.equal((await send({ authorization: `Bearer ${key}` })).status, 403)
  assert.equal((await send({})).status, 401)
  const changed = await send(operator)
  assert.equal(changed.status, 200)
  const { description, events } = (await changed.json()) as Record<string, unknown>
  assert.deepEqual([description, events], ['Ledger', ['payment.paid']])
})

test('a file of 10 MiB is streamed: twenty at once need a fraction of their size', async (t) => {
  const receiver = await startReceiver(t)
  const caller = await newCaller()
  await register(caller, receiver, { document: 'link' })
  const file = Buffer.alloc(10 * 1024 * 1024, 'paybell')
  await caller.update(randomUUID(), withFile(file))
  await receiver.hasSeen(({ accepted }) => accepted.length === 1)
  // Neither the callback nor its attempts carry the file.
  assert.ok((receiver.accepted[0]?.body.length ?? 0) < 2_000)
  const { document } = JSON.parse(receiver.accepted[0]?.body.toString() ?? '')
  const heldBytes = () => process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed
  const beforeBytes = heldBytes()
  // Twenty that begin and read nothing: what is sent waits for those who read it.
  const begun = await Promise.all(Array.from({ length: 20 }, () => fetch(document.url)))
  for (const answer of begun) {
    assert.equal(answer.headers.get('content-length'), String(file.length))
  }
  const [whole, ...others] = begun
  const read = Buffer.from((await whole?.arrayBuffer()) ?? assert.fail())
  assert.ok(read.equals(file))
  // Held at once, as text and decoded, they would be 480 MB. A piece is 0.75 MiB.
  const moreBytes = heldBytes() - beforeBytes
  assert.ok(moreBytes < 150e6, `${moreBytes} bytes`)
  for (const answer of others) await answer.body?.cancel()
})
