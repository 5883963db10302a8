// The request of the last attempt as it is shown, against what the receiver got.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { Caller } from '../../../../test/support/caller.ts'
import { addClient, startPaybell, until } from '../../../../test/support/paybell.ts'
import { type Received, startReceiver } from '../../../../test/support/receiver.ts'

const paybell = await startPaybell({ after })
const receiver = await startReceiver({ after })
const { caller } = paybell

interface Sent {
  state: string
  attempts: number
  request: {
    attempt: number
    headers: { name: string; value: string }[]
    bodyUrl: string
    bodyBytes: number
  }
}

interface Door {
  path: string
  endpointId: string
}

async function register(settings: object = {}): Promise<Door> {
  const path = `/${randomUUID()}`
  return { path, endpointId: await caller.addWebhook(receiver.url(path), 'shared key', settings) }
}

/** A payment with a file; returns its delivery at the endpoint. */
async function put({ endpointId }: Door): Promise<string> {
  const id = await caller.pay({ version: undefined })
  const answer = await caller.get(`/v1/deliveries?paymentId=${id}&endpointId=${endpointId}`)
  const { items } = (await answer.json()) as { items: { id: string }[] }
  return items[0]?.id ?? assert.fail()
}

async function view(id: string): Promise<Sent> {
  return (await (await caller.get(`/v1/deliveries/${id}`)).json()) as Sent
}

async function untilAttempted(id: string, state: string, attempts: number): Promise<Sent> {
  return until(`attempt ${attempts} is recorded`, async () => {
    const seen = await view(id)
    return seen.state === state && seen.attempts >= attempts && seen
  })
}

/** What the receiver got with the attempt that is shown. */
function receivedWith({ path }: Door, { request: { attempt } }: Sent): Received {
  const found = receiver.received.findLast(
    (one) => one.path === path && one.headers['x-paybell-attempt'] === String(attempt),
  )
  return found ?? assert.fail(`attempt ${attempt} did not arrive`)
}

/** Those that the connection adds. */
const NOT_OURS = ['host', 'connection', 'content-length']

/** Every header is shown as it was sent, and no other. */
function assertShown(door: Door, sent: Sent): void {
  const { headers } = receivedWith(door, sent)
  const shown = sent.request.headers.map(({ name, value }) => [name.toLowerCase(), value])
  const ours = Object.entries(headers).filter(([name]) => !NOT_OURS.includes(name))
  assert.deepEqual(Object.fromEntries(shown), Object.fromEntries(ours))
}

test('regression: a replay is marked in what is shown exactly where it was marked in what was sent', async () => {
  const door = await register()
  const id = await put(door)
  assertShown(door, await untilAttempted(id, 'DELIVERED', 1))

  // While the endpoint is paused, the last attempt is the one before the replay.
  const url = `/v1/webhooks/${door.endpointId}`
  assert.equal((await caller.call('PATCH', url, { status: 'PAUSED' })).status, 200)
  assert.equal((await caller.call('POST', `/v1/deliveries/${id}/replay`)).status, 202)
  assertShown(door, await view(id))

  receiver.answer = 500
  assert.equal((await caller.call('PATCH', url, { status: 'ACTIVE' })).status, 200)
  const failed = await untilAttempted(id, 'PENDING', 2)
  assertShown(door, failed)
  assert.equal(receivedWith(door, failed).headers['x-paybell-replay'], 'true')

  receiver.answer = 200
  await caller.call('POST', `/v1/deliveries/${id}/retry`)
  const delivered = await untilAttempted(id, 'DELIVERED', 3)
  assertShown(door, delivered)
  assert.ok(delivered.request.headers.some(({ name }) => name === 'X-Paybell-Replay'))
})

for (const document of ['inline', 'link', 'none']) {
  test(`regression: bodyUrl leads to the bytes that were sent, with documents ${document}`, async () => {
    const door = await register({ document })
    const id = await put(door)
    const sent = await untilAttempted(id, 'DELIVERED', 1)
    const { body } = receivedWith(door, sent)
    const answer = await caller.get(sent.request.bodyUrl)
    assert.equal(answer.headers.get('content-type'), 'application/json')
    assert.deepEqual(Buffer.from(await answer.arrayBuffer()), body)
    assert.equal(sent.request.bodyBytes, body.length)

    const headers = { authorization: `Bearer ${paybell.operatorKey}` }
    const shown = await fetch(`${paybell.baseUrl}/operator/v1/deliveries/${id}`, { headers })
    const { request } = (await shown.json()) as Sent
    const bytes = await fetch(paybell.baseUrl + request.bodyUrl, { headers })
    assert.deepEqual(Buffer.from(await bytes.arrayBuffer()), body)
    const stranger = new Caller(await addClient(paybell, 'Stranger'))
    assert.equal((await stranger.get(sent.request.bodyUrl)).status, 404)
  })
}
