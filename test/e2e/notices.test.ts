// Notices to the operator, with two processes on one database and time running 100,000 times faster:
// each change of an endpoint makes one notice, in order, signed and retried like any callback.

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { type Paybell, readDeliveries, startPaybell, until } from '../support/paybell.ts'
import { type Received, startReceiver } from '../support/receiver.ts'

const KEY = 'the key of notices'
const SCALE = '100000' // An hour is 36 ms, and the 7 days are 6 s.

interface Notice {
  type: string
  endpoint: Record<string, unknown>
  exhausted?: number
  at: string
}

// They mostly wait: side by side they take as long as the longest.
describe('notices', { concurrency: true }, () => {
  test('failing, exhausted, disabled and recovered make one notice each, with two processes', async (t) => {
    const operator = await startReceiver(t)
    const receiver = await startReceiver(t)
    receiver.answer = 500
    let refusals = 2
    operator.answer = () => (refusals-- > 0 ? 503 : 200)
    const env = {
      PAYBELL_TIME_SCALE: SCALE,
      // The usual hour is 36 ms here: a refused notice would give way to the next one on a busy machine.
      PAYBELL_ORDER_PATIENCE: '7d',
      PAYBELL_NOTICE_URL: operator.url('/notices?token=of-the-operator'),
      PAYBELL_NOTICE_KEY: KEY,
    }
    const first = await startPaybell(t, { env })
    const second = await startPaybell(t, { env, beside: first })
    await first.caller.register(receiver.url('/hook?token=secret'), 'a key')
    await Promise.all([first, second, first].map((paybell) => paybell.caller.pay()))

    await operator.hasSeen(
      () => noticesOf(operator.accepted, 'notice.endpoint_disabled').length > 0,
    )
    const { id } = await onlyWebhook(first)
    receiver.answer = 200
    await second.caller.changeWebhook(id, { status: 'ACTIVE' })
    await second.caller.pay()
    await operator.hasSeen(
      () => noticesOf(operator.accepted, 'notice.endpoint_recovered').length > 0,
    )
    // Some rounds more, of both: no notice is repeated.
    const count = ofEndpoints(operator.received).length
    await pollsPass(first)
    assert.equal(ofEndpoints(operator.received).length, count)

    const notices = ofEndpoints(operator.accepted)
    assert.deepEqual(
      operator.sequences(notices),
      notices.map((_, index) => index + 1),
      'in order, each once',
    )
    for (const received of operator.received) assertSigned(received)
    const ids = new Set(notices.map(({ headers }) => headers['webhook-id']))
    assert.equal(ids.size, notices.length)
    assert.equal(
      operator.received[0]?.headers['webhook-id'],
      notices[0]?.headers['webhook-id'],
      'a refused notice is retried with the same id',
    )

    const failing = noticesOf(notices, 'notice.endpoint_failing')
    assert.ok(failing.length >= 2 && failing.length <= 4, `${failing.length} times failing`)
    assert.equal(failing[0]?.endpoint.status, 'ACTIVE')
    assert.equal(failing[0]?.endpoint.lastError, 'answered 500')
    assert.equal(failing[0]?.endpoint.clientId, first.clientId)
    assert.equal(failing[0]?.endpoint.accountId, first.accountId)
    assert.equal(failing[0]?.endpoint.id, id)
    assert.equal(failing[0]?.endpoint.endpointUrl, receiver.url('/hook'), 'without its query')
    assert.equal(noticesOf(notices, 'notice.endpoint_disabled').length, 1)
    assert.equal(noticesOf(notices, 'notice.endpoint_disabled')[0]?.endpoint.status, 'DISABLED')
    const [recovered, ...others] = noticesOf(notices, 'notice.endpoint_recovered')
    assert.equal(others.length, 0)
    assert.equal(recovered?.endpoint.failingSince, null)
    const exhausted = noticesOf(notices, 'notice.deliveries_exhausted')
    // On a busy machine the last of the three may begin late: the endpoint is then disabled before its 7 days are over.
    const stored = await readDeliveries(first.pool)
    const ended = stored.filter(({ state }) => state === 'EXHAUSTED').length
    assert.ok(ended >= 1 && ended <= 3, `${ended} exhausted`)
    assert.equal(
      exhausted.reduce((sum, notice) => sum + (notice.exhausted ?? 0), 0),
      ended,
    )
    assert.equal(recovered?.endpoint.exhaustedTotal, ended)
  })

  test('the client they belong to is in no list, and its deliveries are recorded', async (t) => {
    const operator = await startReceiver(t)
    const receiver = await startReceiver(t)
    receiver.answer = 'reset'
    const env = {
      PAYBELL_TIME_SCALE: SCALE,
      PAYBELL_NOTICE_URL: operator.url(),
      PAYBELL_NOTICE_KEY: KEY,
    }
    const paybell = await startPaybell(t, { env })
    await paybell.caller.register(receiver.url(), 'a key')
    await paybell.caller.pay()
    await operator.hasSeen(({ accepted }) => accepted.length > 0)

    const clients = await asOperator(paybell, '/clients')
    assert.deepEqual(
      clients.content.map((client) => client.clientId),
      [paybell.clientId],
    )
    assert.equal(clients.totalElements, 1)
    const { rows } = await paybell.pool.query<{ id: string }>(
      'select id from clients where is_internal',
    )
    const hidden = await paybell.caller.operate('GET', `/clients/${rows[0]?.id}`)
    assert.equal(hidden.status, 404)
    await onlyWebhook(paybell)
    await until('the notice is recorded as delivered', async () => {
      const found = await paybell.pool.query<{ count: number }>(
        `select count(*) as count from final_deliveries
         where state = 'DELIVERED' and kind = 'notice.endpoint_failing'`,
      )
      return (found.rows[0]?.count ?? 0) > 0
    })
  })

  test('another address takes effect at restart; without one, nothing is left to send', async (t) => {
    const before = await startReceiver(t)
    const after = await startReceiver(t)
    const receiver = await startReceiver(t)
    receiver.answer = 500
    before.answer = 500
    const notices = { PAYBELL_TIME_SCALE: SCALE, PAYBELL_NOTICE_KEY: KEY }
    const first = await startPaybell(t, {
      env: { ...notices, PAYBELL_NOTICE_URL: before.url('/old') },
    })
    await first.caller.register(receiver.url(), 'a key')
    await first.caller.pay()
    await before.hasSeen(({ received }) => received.length > 0)
    await first.stop()
    const second = await startPaybell(t, {
      env: { ...notices, PAYBELL_NOTICE_URL: after.url('/new'), PAYBELL_NOTICE_KEY: 'another key' },
      beside: first,
    })
    await after.hasSeen(({ accepted }) => accepted.length > 0)
    const moved = after.received[0] as Received
    assert.equal(moved.headers['webhook-id'], before.received[0]?.headers['webhook-id'])
    assertSigned(moved, 'another key')
    await second.stop()
    await startPaybell(t, { env: { PAYBELL_TIME_SCALE: SCALE }, beside: first })
    const { rows } = await first.pool.query<{ live: number; pending: number }>(
      `select (select count(*)::int from endpoints where kind = 'notice' and deleted_at is null) as live,
         (select count(*)::int from pending_deliveries where kind like 'notice.%') as pending`,
    )
    assert.deepEqual(rows, [{ live: 0, pending: 0 }])
  })
})

/** The audit's head comes once a day, whenever that is. */
function ofEndpoints(received: readonly Received[]): readonly Received[] {
  return received.filter(({ headers }) => headers['x-paybell-event'] !== 'audit.head')
}

function noticesOf(of: readonly Received[], type: string): readonly Notice[] {
  return of
    .map(({ body }) => JSON.parse(body.toString()) as Notice)
    .filter((notice) => notice.type === type)
}

function assertSigned({ headers, body }: Received, key = KEY): void {
  const hmac = createHmac('sha256', key).update(body).digest('hex')
  assert.equal(headers['x-paybell-hmac'], hmac)
  assert.equal(headers['x-paybell-event'], (JSON.parse(body.toString()) as Notice).type)
}

async function onlyWebhook(paybell: Paybell): Promise<{ id: string; status: string }> {
  const [only, ...others] = await paybell.caller.webhooks()
  assert.equal(others.length, 0)
  return only ?? assert.fail()
}

async function asOperator(
  paybell: Paybell,
  path: string,
): Promise<{ content: { clientId: string }[]; totalElements: number }> {
  const response = await paybell.caller.operate('GET', path)
  return (await response.json()) as { content: { clientId: string }[]; totalElements: number }
}

/** Two rounds of both processes, by what they count themselves. */
async function pollsPass(paybell: Paybell): Promise<void> {
  const read = async () => {
    const { rows } = await paybell.pool.query<{ until: Date }>(
      'select exhausted_until as until from notice_progress',
    )
    return rows[0]?.until.getTime() ?? 0
  }
  for (let round = 0; round < 3; round++) {
    const before = await read()
    await until('a round of notices', async () => (await read()) > before)
  }
}
