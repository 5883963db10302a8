// Test sends (decisions §8): a signed specimen at once, through the guarded sender, and nothing stored.

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, test } from 'node:test'
import { Caller } from '../../../../test/support/caller.ts'
import { addAccount, addClient, startPaybell, until } from '../../../../test/support/paybell.ts'
import { startReceiver } from '../../../../test/support/receiver.ts'
import { readPending, storePending } from '../../../../test/support/stored-deliveries.ts'

const paybell = await startPaybell({ after })
const receiver = await startReceiver({ after })

interface Result {
  delivered: boolean
  status: number | null
  durationMs: number
  error: string | null
}

function register(caller: Caller, url: string): Promise<string> {
  return caller.addWebhook(url, 'shared key')
}

async function send(path: string, caller = paybell.caller): Promise<Result> {
  const answer = await caller.call('POST', `${path}/test`)
  assert.equal(answer.status, 200)
  return (await answer.json()) as Result
}

test('a webhook gets a signed specimen that says what it is', async () => {
  const id = await register(paybell.caller, receiver.url('/hook'))
  const result = await send(`/v1/webhooks/${id}`)
  assert.deepEqual(
    { ...result, durationMs: 0 },
    { delivered: true, status: 200, durationMs: 0, error: null },
  )
  assert.ok(Number.isInteger(result.durationMs))
  const [request] = receiver.received.filter(({ path }) => path === '/hook')
  const { headers, body } = request ?? assert.fail()
  assert.equal(headers['x-paybell-test'], 'true')
  assert.equal(headers['x-paybell-replay'], undefined)
  assert.equal(
    headers['x-paybell-hmac'],
    createHmac('sha256', 'shared key').update(body).digest('hex'),
  )
  assert.match(String(headers['webhook-id']), /^[0-9a-f-]{36}$/)
  assert.match(String(headers['webhook-signature']), /^v1,/)
  assert.deepEqual([headers['x-paybell-sequence'], headers['x-paybell-attempt']], ['1', '1'])
  const payment = JSON.parse(body.toString())
  assert.deepEqual([payment.externalId, payment.status.state], ['SPECIMEN', 'DRAFT'])
  for (const table of ['pending_deliveries', 'final_deliveries', 'attempts', 'events']) {
    assert.equal((await paybell.pool.query(`select from ${table}`)).rowCount, 0, table)
  }
})

test('a subscription’s own header comes along', async () => {
  const answer = await paybell.caller.subscribe({
    callbackUrl: receiver.url('/all'),
    sharedKey: 'shared key',
    headerKey: 'Authorization',
    headerValue: 'Basic x',
  })
  const result = await send(answer.headers.get('location') ?? '')
  assert.equal(result.delivered, true)
  const [request] = receiver.received.filter(({ path }) => path === '/all')
  assert.equal(request?.headers.authorization, 'Basic x')
})

test('only 200 is success; an unreachable endpoint is reported as such; nothing is tried again', async () => {
  const id = await register(paybell.caller, receiver.url('/wrong'))
  receiver.answer = 204
  const other = await send(`/v1/webhooks/${id}`)
  assert.deepEqual([other.delivered, other.status, other.error], [false, 204, null])
  receiver.answer = 'reset'
  const reset = await send(`/v1/webhooks/${id}`)
  assert.deepEqual([reset.delivered, reset.status, reset.error], [false, null, 'connection-reset'])
  receiver.answer = 200
  const unreachable = await register(paybell.caller, 'http://127.0.0.1:1/')
  const refused = await send(`/v1/webhooks/${unreachable}`)
  assert.deepEqual(
    [refused.delivered, refused.status, refused.error],
    [false, null, 'connect-error'],
  )
  assert.equal(receiver.received.filter(({ path }) => path === '/wrong').length, 2)
})

test('a paused endpoint can be tried out', async () => {
  const id = await register(paybell.caller, receiver.url('/paused'))
  await paybell.caller.changeWebhook(id, { status: 'PAUSED' })
  assert.equal((await send(`/v1/webhooks/${id}`)).delivered, true)
})

test('a test of an endpoint that does not fail hurries nothing that it is owed', async () => {
  const id = await register(paybell.caller, receiver.url('/healthy'))
  const { rows } = await paybell.pool.query<{ client_key: number; shard: number }>(
    'select client_key, shard from endpoints where id = $1',
    [id],
  )
  const { client_key: clientKey, shard } = rows[0] ?? assert.fail()
  const later = new Date(Date.now() + 3_600_000)
  const endpoint = { clientKey, endpointId: id, shard }
  await storePending(paybell.pool, endpoint, { next_attempt_at: later, attempts: 1 })
  assert.equal((await send(`/v1/webhooks/${id}`)).delivered, true)
  const [owed] = await readPending(paybell.pool)
  assert.deepEqual(owed?.next_attempt_at, later)
})

test('an endpoint is tried twenty times in a row, then once a second; another one is not held up', async () => {
  const id = await register(paybell.caller, receiver.url('/often'))
  const free = await register(paybell.caller, receiver.url('/seldom'))
  const startedAt = performance.now()
  const refused = await until('refused', async () => {
    const answer = await paybell.caller.postToWebhook(id, 'test')
    return answer.status === 429 && answer
  })
  assert.equal(refused.headers.get('retry-after'), '1')
  const sent = receiver.received.filter(({ path }) => path === '/often').length
  const seconds = Math.ceil((performance.now() - startedAt) / 1_000)
  assert.ok(sent >= 20 && sent <= 20 + seconds, `${sent} in ${seconds} s`)
  assert.equal((await send(`/v1/webhooks/${free}`)).delivered, true)
})

test('another client’s endpoint, and a deleted one, cannot be tested', async () => {
  const id = await register(paybell.caller, receiver.url('/mine'))
  const stranger = new Caller(await addClient(paybell, 'Stranger'))
  const neighbour = new Caller(await addAccount(paybell, paybell))
  for (const caller of [stranger, neighbour]) {
    assert.equal((await caller.postToWebhook(id, 'test')).status, 404)
  }
  await paybell.caller.deleteWebhook(id)
  assert.equal((await paybell.caller.postToWebhook(id, 'test')).status, 404)
  assert.equal(receiver.received.filter(({ path }) => path === '/mine').length, 0)
})
