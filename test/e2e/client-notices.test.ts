// Notices to a client about its own endpoints, with time running 100,000 times faster: failing, about to be disabled,
// disabled, recovered, exhausted; signed and retried like any callback, seen by that client alone.

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { callCommand } from '../support/called-command.ts'
import { Caller } from '../support/caller.ts'
import { addClient, type Paybell, startPaybell } from '../support/paybell.ts'
import { type Received, type Receiver, startReceiver } from '../support/receiver.ts'

const KEY = 'the key of notices'
// An hour is 144 ms, the 7 days are 24 s, and the day before an endpoint is disabled is longer than a busy machine stands still.
const SCALE = '25000'

interface Notice {
  type: string
  endpoint: { id: string; status: string; lastError: string | null; exhaustedTotal: number }
  exhausted?: number
  reasons: string | null
}

function bodyOf({ body }: Received): Notice {
  return JSON.parse(body.toString())
}

function typesAt(receiver: Receiver): string[] {
  return receiver.accepted.map((received) => bodyOf(received).type)
}

function putNotices(caller: Caller, callbackUrl: string, sharedKey = KEY): Promise<Response> {
  return caller.call('PUT', '/v1/notices', { callbackUrl, sharedKey })
}

async function webhookOf({ caller }: Paybell): Promise<string> {
  return (await caller.webhooks())[0]?.id ?? assert.fail()
}

// They mostly wait: side by side they take as long as the longest.
describe('notices to clients', { concurrency: true }, () => {
  test('a client learns of its own endpoints, once of each change, with the reasons in words', async (t) => {
    const [notices, strangers, receiver] = [
      await startReceiver(t),
      await startReceiver(t),
      await startReceiver(t),
    ]
    receiver.answer = 500
    const env = { PAYBELL_TIME_SCALE: SCALE }
    const paybell = await startPaybell(t, { env })
    const beside = await startPaybell(t, { env, beside: paybell })
    const { caller } = paybell
    const other = new Caller(await addClient(paybell))
    assert.equal((await putNotices(caller, notices.url('/notices'))).status, 200)
    assert.equal((await putNotices(other, strangers.url())).status, 200)
    await caller.register(receiver.url('/hook?token=secret'), 'a key')
    await caller.write()
    await beside.caller.write()
    await notices.hasSeen((seen) => typesAt(seen).includes('endpoint.disabled'))
    const id = await webhookOf(paybell)
    receiver.answer = 200
    await caller.changeWebhook(id, { status: 'ACTIVE' })
    await caller.write()
    await notices.hasSeen((seen) => typesAt(seen).includes('endpoint.recovered'))

    const types = typesAt(notices)
    for (const type of ['endpoint.will_be_disabled', 'endpoint.disabled', 'endpoint.recovered']) {
      assert.equal(types.filter((each) => each === type).length, 1, `${type} in ${types}`)
    }
    assert.ok(types.filter((each) => each === 'endpoint.failing').length <= 1, `${types}`)
    assert.deepEqual(
      notices.sequences(),
      types.map((_, index) => index + 1),
      'in order, each once',
    )
    const exhausted = notices.accepted.map(bodyOf).filter((notice) => notice.exhausted)
    assert.equal(
      exhausted.reduce((sum, notice) => sum + (notice.exhausted ?? 0), 0),
      2,
    )
    for (const received of notices.received) {
      const hmac = createHmac('sha256', KEY).update(received.body).digest('hex')
      assert.equal(received.headers['x-paybell-hmac'], hmac)
      const notice = bodyOf(received)
      assert.equal(received.headers['x-paybell-event'], notice.type)
      assert.equal(notice.endpoint.id, id)
      assert.ok(!received.body.includes('secret'), 'without the query of the address')
    }
    const warned = notices.accepted
      .map(bodyOf)
      .find(({ type }) => type === 'endpoint.will_be_disabled')
    assert.equal(warned?.endpoint.lastError, 'answered 500')
    assert.equal(warned?.endpoint.status, 'ACTIVE')
    assert.match(
      warned?.reasons ?? 'nothing',
      /^Attempts in the last hour: \d+ answered 500\.$|^nothing$/,
    )
    assert.equal(strangers.received.length, 0, 'another client learns nothing')

    // Shown where the address is, and in no list, feed or count.
    const shown = (await (await caller.get('/v1/notices')).json()) as {
      callbackUrl: string
      recent: { notice: Notice; state: string }[]
    }
    assert.equal(shown.callbackUrl, notices.url('/notices'))
    assert.deepEqual(shown.recent.map(({ notice }) => notice.type).toReversed(), types)
    const inTerminal = await callCommand(['notices', 'list'], {
      env: {
        PAYBELL_URL: paybell.baseUrl,
        PAYBELL_CLIENT_ID: paybell.clientId,
        PAYBELL_CLIENT_SECRET: paybell.clientSecret,
      },
    })
    assert.equal(inTerminal.code, 0, inTerminal.stderr)
    const lines = inTerminal.stdout.trimEnd().split('\n')
    assert.match(lines[0] ?? '', /^AT +NOTICE +SENT +ENDPOINT +REASONS$/)
    assert.match(lines[1] ?? '', new RegExp(` endpoint\\.recovered +DELIVERED +${id} `))
    assert.equal(lines.length, 1 + types.length)
    const feed = (await (await caller.get('/v1/events?limit=200')).json()) as { items: unknown[] }
    const list = (await (await caller.get('/v1/deliveries?limit=200')).json()) as {
      items: { endpointId: string }[]
    }
    assert.equal(feed.items.length, 3)
    assert.ok(list.items.every(({ endpointId }) => endpointId === id))
  })

  test('an address for notices that fails makes no notices about itself, and can be given again', async (t) => {
    const [notices, receiver] = [await startReceiver(t), await startReceiver(t)]
    notices.answer = 503
    receiver.answer = 'reset'
    const paybell = await startPaybell(t, { env: { PAYBELL_TIME_SCALE: SCALE } })
    const { caller } = paybell
    await putNotices(caller, notices.url())
    await caller.register(receiver.url(), 'a key')
    await caller.write()
    await notices.hasSeen(({ received }) => received.length >= 5)
    const id = await webhookOf(paybell)
    for (const received of notices.received) assert.equal(bodyOf(received).endpoint.id, id)
    const moved = await startReceiver(t)
    const answer = await putNotices(caller, moved.url('/moved'), 'another key of notices')
    assert.equal(
      ((await answer.json()) as { callbackUrl: string }).callbackUrl,
      moved.url('/moved'),
    )
    await moved.hasSeen(({ accepted }) => accepted.length > 0)
    const [first] = moved.received as [Received]
    const hmac = createHmac('sha256', 'another key of notices').update(first.body).digest('hex')
    assert.equal(first.headers['x-paybell-hmac'], hmac)
  })

  test('the address is one for each client: put, seen, deleted; bad ones are refused', async (t) => {
    const receiver = await startReceiver(t)
    const paybell = await startPaybell(t)
    const { caller } = paybell
    const other = new Caller(await addClient(paybell))
    assert.equal((await caller.get('/v1/notices')).status, 404)
    assert.equal((await caller.call('DELETE', '/v1/notices')).status, 404)
    for (const [body, pointer] of [
      [{ sharedKey: KEY }, '/callbackUrl'],
      [{ callbackUrl: receiver.url(), sharedKey: '' }, '/sharedKey'],
      [{ callbackUrl: 'http://example.com/', sharedKey: KEY }, '/callbackUrl'],
      [{ callbackUrl: 'https://10.0.0.1/', sharedKey: KEY }, '/callbackUrl'],
    ] as const) {
      const refused = await caller.call('PUT', '/v1/notices', body)
      assert.equal(refused.status, 400)
      const { errors } = (await refused.json()) as { errors: { pointer: string }[] }
      assert.equal(errors[0]?.pointer, pointer)
    }
    for (const path of ['/one', '/two']) {
      const answer = await putNotices(caller, receiver.url(path))
      assert.deepEqual(await answer.json(), {
        callbackUrl: receiver.url(path),
        status: 'ACTIVE',
        recent: [],
      })
    }
    assert.equal((await other.get('/v1/notices')).status, 404, 'another client has its own')
    assert.equal((await caller.call('DELETE', '/v1/notices')).status, 204)
    assert.equal((await caller.get('/v1/notices')).status, 404)
    const content = await caller.webhooks()
    assert.equal(content.length, 0)
  })
})
