// Only HTTP 200 is success (decisions §7.3): whatever else happens, the delivery is tried again.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { limitOf } from '../support/busy-machine.ts'
import { type Paybell, startPaybell, until, untilAllAre } from '../support/paybell.ts'
import { Receiver, startReceiver } from '../support/receiver.ts'

const FAST = { PAYBELL_TIME_SCALE: '100' }

async function put(paybell: Paybell, id: string): Promise<void> {
  assert.equal((await paybell.caller.putSample(id)).status, 201)
}

async function firstAttempts(paybell: Paybell): Promise<Map<string, string>> {
  const { rows } = await paybell.pool.query<{ payment_id: string; outcome: string }>(`
    select d.payment_id, concat_ws(' ', a.outcome, a.status) as outcome
    from attempts a join final_deliveries d on d.id = a.delivery_id where a.attempt = 1`)
  return new Map(rows.map((row) => [row.payment_id, row.outcome]))
}

// They mostly wait: side by side they take as long as the longest.
describe('only 200 is success', { concurrency: true }, () => {
  test('201, 204, every redirect, 4xx, 410 and 5xx are retried, and no redirect is followed', async (t) => {
    const receiver = await startReceiver(t)
    const paybell = await startPaybell(t, { env: FAST })
    const statuses = [201, 202, 204, 206, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 410]
    statuses.push(418, 429, 500, 502, 503, 504)
    const ids = new Map(statuses.map((status) => [randomUUID() as string, status]))
    receiver.answer = ({ body, headers }, response) => {
      if (headers['x-paybell-attempt'] !== '1') return 200
      const status = ids.get(JSON.parse(body.toString()).id) ?? 599
      response.writeHead(status, { location: receiver.url('/target') }).end()
    }
    await paybell.caller.register(receiver.url(), 'key')
    await Promise.all([...ids.keys()].map((id) => put(paybell, id)))
    const deliveries = await until('all delivered at the second attempt', async () => {
      const all = await untilAllAre(paybell.pool, ['DELIVERED'])
      return all.length === statuses.length && all
    })
    for (const { attempts, paymentId } of deliveries)
      assert.equal(attempts, 2, `${ids.get(paymentId)}`)
    const first = await firstAttempts(paybell)
    for (const [id, status] of ids) assert.equal(first.get(id), `answered ${status}`)
    assert.equal(receiver.received.filter(({ path }) => path === '/target').length, 0)
    assert.equal(receiver.received.length, 2 * statuses.length)
  })

  test('a reset and a refused connection are retried', async (t) => {
    const receiver = await startReceiver(t)
    const away = new Receiver()
    await away.listen()
    const { port } = away
    const url = away.url()
    await away.close()
    const paybell = await startPaybell(t, { env: FAST })
    receiver.answer = ({ headers }) => (headers['x-paybell-attempt'] === '1' ? 'reset' : 200)
    await paybell.caller.register(receiver.url(), 'key')
    await paybell.caller.register(url, 'key')
    const id = randomUUID()
    await put(paybell, id)
    await receiver.hasSeen(({ accepted }) => accepted.length === 1)
    await until('a refused attempt', async () => {
      const { rows } = await paybell.pool.query(
        `select 1 from attempts where outcome = 'connect-error'`,
      )
      return rows.length > 0
    })
    const back = new Receiver()
    t.after(() => back.close())
    await back.listen(port)
    await back.hasSeen(({ accepted }) => accepted.length === 1)
    await untilAllAre(paybell.pool, ['DELIVERED'])
    const { rows } = await paybell.pool.query(
      'select distinct outcome from attempts where attempt = 1 order by outcome',
    )
    assert.deepEqual(
      rows.map(({ outcome }) => outcome),
      ['connect-error', 'connection-reset'],
    )
  })

  test('F12: a receiver that never answers is a timeout after 15 s, and is tried again', async (t) => {
    const receiver = await startReceiver(t)
    const paybell = await startPaybell(t, { env: FAST })
    receiver.answer = ({ headers }) => (headers['x-paybell-attempt'] === '1' ? 'hang' : 200)
    await paybell.caller.register(receiver.url(), 'key')
    await put(paybell, randomUUID())
    await receiver.hasSeen(({ accepted }) => accepted.length === 1)
    await untilAllAre(paybell.pool, ['DELIVERED'])
    const { rows } = await paybell.pool.query(
      'select outcome, duration_ms from attempts where attempt = 1',
    )
    assert.equal(rows[0]?.outcome, 'timeout')
    const { duration_ms: tookMs } = rows[0]
    assert.ok(tookMs >= 15_000 && tookMs < limitOf(20_000), `${tookMs}`)
  })
})
