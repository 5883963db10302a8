// Retry now (decisions §12): what is owed is tried at once, in the same run and in order, whichever process owns the
// shard, and an endpoint that was down is probed at once. In these tests a delay of hours stands between an attempt
// and the next one: what arrives was hurried.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { after, describe, type TestContext, test } from 'node:test'
import { Caller } from '../support/caller.ts'
import {
  addAccount,
  addClient,
  type Paybell,
  readDeliveries,
  type StoredDelivery,
  startPaybell,
  until,
} from '../support/paybell.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'

const paybell = await startPaybell({ after })

interface Answer {
  status: number
  body: Record<string, unknown>
  location: string | null
}

async function toAnswer(response: Response): Promise<Answer> {
  const { status, headers } = response
  const body = (await response.json()) as Record<string, unknown>
  return { status, body, location: headers.get('location') }
}

async function post(caller: Caller, path: string): Promise<Answer> {
  return toAnswer(await caller.call('POST', path))
}

async function operate(path: string, body?: object, method = 'POST'): Promise<Answer> {
  return toAnswer(await paybell.caller.operate(method, path, body))
}

async function owedTo(of: Paybell, endpointId: string): Promise<readonly StoredDelivery[]> {
  return (await readDeliveries(of.pool)).filter((one) => one.endpointId === endpointId)
}

/** An account of its own with one webhook, whose receiver refuses everything. */
async function openDoor(t: TestContext, of: Paybell = paybell) {
  const facts = await addAccount(of, of)
  const receiver = await startReceiver(t)
  receiver.answer = 500
  const caller = new Caller(facts)
  const endpointId = await caller.addWebhook(receiver.url(), 'key')
  const all = () => owedTo(of, endpointId)
  return { receiver, caller, endpointId, all }
}

/** So many attempts have been made, and as after twenty the next one is hours away: in the table, and in memory. */
async function isHoursAway(of: Paybell, endpointId: string, attempts = 1): Promise<void> {
  await until(`${attempts} attempts`, async () => {
    const all = await owedTo(of, endpointId)
    return all.reduce((sum, one) => sum + one.attempts, 0) >= attempts
  })
  const { rows } = await of.pool.query<{ client_key: number; shard: number }>(
    `update pending_deliveries set next_attempt_at = now() + interval '6 hours',
       attempts = case when attempts > 0 then 20 else 0 end,
       run_attempts = case when attempts > 0 then 20 else 0 end
     where endpoint_id = $1 returning client_key, shard`,
    [endpointId],
  )
  const [row] = rows
  if (row) of.app.deps.engine.endpointChanged(row.client_key, endpointId, row.shard)
}

describe('retrying', { concurrency: true }, () => {
  test('the next attempt of a delivery is made at once, in the same run', async (t) => {
    const { receiver, caller, endpointId, all } = await openDoor(t)
    await caller.write()
    await isHoursAway(paybell, endpointId)
    const [before = assert.fail()] = await all()
    receiver.answer = 200
    const answer = await post(caller, `/v1/deliveries/${before.id}/retry`)
    assert.equal(answer.status, 202)
    assert.deepEqual(
      [answer.body.id, answer.body.state, answer.body.attempts],
      [before.id, 'PENDING', 20],
    )
    assert.ok(Date.parse(answer.body.nextAttemptAt as string) <= Date.now() + 1_000)
    await receiver.hasSeen(({ accepted }) => accepted.length === 1)
    const [request] = receiver.accepted
    assert.equal(request?.headers['x-paybell-attempt'], '21')
    assert.equal(request?.headers['x-paybell-replay'], undefined)
    const ended = await until('it has ended', async () => {
      const [now] = await all()
      return now?.state === 'DELIVERED' && now
    })
    assert.deepEqual(ended.deadlineAt, before.deadlineAt)
  })

  test('an older update of the payment goes first, and newer ones follow, in order', async (t) => {
    const { receiver, caller, endpointId, all } = await openDoor(t)
    const id = await caller.write()
    await until('the first has failed', async () => (await all())[0]?.attempts === 1)
    for (const reference of ['2', '3']) await caller.write(id, reference)
    await isHoursAway(paybell, endpointId)
    receiver.answer = 200
    const [, second = assert.fail()] = await all()
    assert.equal((await post(caller, `/v1/deliveries/${second.id}/retry`)).status, 202)
    await receiver.hasSeen(({ accepted }) => accepted.length === 3)
    assert.deepEqual(receiver.sequences(), [1, 2, 3])
  })

  test('everything that a webhook is owed goes out, updates that wait for older ones included', async (t) => {
    const { receiver, caller, endpointId } = await openDoor(t)
    const ids = await Promise.all([1, 2, 3].map(() => caller.write()))
    for (const id of ids) await caller.write(id, '2')
    await isHoursAway(paybell, endpointId, 3)
    receiver.answer = 200
    const answer = await toAnswer(await caller.postToWebhook(endpointId, 'retry'))
    assert.deepEqual([answer.status, answer.body], [202, { retried: 6 }])
    await receiver.hasSeen(({ accepted }) => accepted.length === 6)
    for (const id of ids) {
      const own = receiver.accepted.filter(({ body }) => JSON.parse(body.toString()).id === id)
      assert.deepEqual(receiver.sequences(own), [1, 2])
    }
  })

  test('of a subscription an account narrows what is retried', async (t) => {
    const facts = await addClient(paybell)
    const [one, other] = [new Caller(facts), new Caller(await addAccount(paybell, facts))]
    const receiver = await startReceiver(t)
    receiver.answer = 500
    const endpointId = await one.addSubscription(receiver.url(), 'key')
    const [, theirs] = [await one.write(), await other.write()]
    await isHoursAway(paybell, endpointId, 2)
    receiver.answer = 200
    const answer = await toAnswer(await other.postToSubscription(endpointId, 'retry'))
    assert.deepEqual([answer.status, answer.body], [202, { retried: 1 }])
    await receiver.hasSeen(({ accepted }) => accepted.length === 1)
    assert.equal(JSON.parse(String(receiver.accepted[0]?.body)).id, theirs)
  })

  test('one that is asked for during an attempt is not lost with its failure', async (t) => {
    const { receiver, caller, endpointId, all } = await openDoor(t)
    await caller.write()
    await isHoursAway(paybell, endpointId)
    const held: ServerResponse[] = []
    receiver.answer = (_, response) => {
      held.push(response)
      return undefined
    }
    const [{ id } = assert.fail()] = await all()
    await post(caller, `/v1/deliveries/${id}/retry`)
    await until('an attempt is under way', () => held.length === 1)
    assert.equal((await post(caller, `/v1/deliveries/${id}/retry`)).status, 202)
    receiver.answer = 200
    held[0]?.writeHead(500).end()
    await receiver.hasSeen(({ received }) => received.length === 3)
    await until('delivered', async () => (await all())[0]?.state === 'DELIVERED')
  })

  test('two at once make one attempt', async (t) => {
    const { receiver, caller, endpointId, all } = await openDoor(t)
    await caller.write()
    await isHoursAway(paybell, endpointId)
    receiver.answer = 200
    const [{ id } = assert.fail()] = await all()
    const path = `/v1/deliveries/${id}/retry`
    const answers = await Promise.all([
      post(caller, path),
      toAnswer(await caller.postToWebhook(endpointId, 'retry')),
    ])
    for (const { status } of answers) assert.ok(status === 202 || status === 409, String(status))
    await until('delivered', async () => (await all())[0]?.state === 'DELIVERED')
    assert.equal(receiver.accepted.length, 1)
    const again = await post(caller, path)
    assert.deepEqual([again.status, again.body.code], [409, 'delivery-final'])
  })

  test('what waits for a paused endpoint cannot be retried; its resumption makes all of it due', async (t) => {
    const { receiver, caller, endpointId, all } = await openDoor(t)
    await caller.write()
    await isHoursAway(paybell, endpointId)
    const set = (status: string) => caller.changeWebhook(endpointId, { status })
    await set('PAUSED')
    const [{ id } = assert.fail()] = await all()
    for (const path of [`/v1/deliveries/${id}/retry`, `/v1/webhooks/${endpointId}/retry`]) {
      const { status, body } = await post(caller, path)
      assert.deepEqual([status, body.code], [409, 'endpoint-not-active'])
      assert.match(body.detail as string, /PATCH.*"status": "ACTIVE"/)
    }
    const shown = await toAnswer(await caller.get(`/v1/deliveries/${id}`))
    assert.equal(shown.body.nextAttemptAt, null)
    receiver.answer = 200
    await set('ACTIVE')
    await receiver.hasSeen(({ accepted }) => accepted.length === 1)
  })

  test('a test that is answered 200 makes due what a failing endpoint is owed', async (t) => {
    const { receiver, caller, endpointId } = await openDoor(t)
    await caller.write()
    await isHoursAway(paybell, endpointId)
    await until('health tells of the failure', async () => {
      const { body } = await toAnswer(await caller.getWebhook(endpointId))
      return (body.health as { failingSince: string | null }).failingSince !== null
    })
    receiver.answer = 200
    const { body } = await toAnswer(await caller.postToWebhook(endpointId, 'test'))
    assert.equal(body.delivered, true)
    await receiver.hasSeen(({ accepted }) => accepted.length === 2)
  })

  test('what is unknown, no uuid, or another client’s is a 404, and another account’s too', async (t) => {
    const { caller, endpointId, all } = await openDoor(t)
    await caller.write()
    await isHoursAway(paybell, endpointId)
    const [{ id } = assert.fail()] = await all()
    const stranger = new Caller(await addClient(paybell))
    const sibling = new Caller(await addAccount(paybell, paybell))
    for (const path of [`/v1/deliveries/${id}/retry`, `/v1/webhooks/${endpointId}/retry`]) {
      assert.equal((await post(stranger, path)).status, 404)
      assert.equal((await post(sibling, path)).status, 404)
      assert.equal((await post(caller, path.replace(/[0-9a-f-]{36}/, randomUUID()))).status, 404)
      assert.equal((await post(caller, path.replace(/[0-9a-f-]{36}/, 'x'))).status, 404)
      assert.equal((await post(caller, `${path}?dryRun=true`)).status, 400)
    }
    const wrongDoor = await toAnswer(await caller.postToSubscription(endpointId, 'retry'))
    assert.equal(wrongDoor.status, 404)
    assert.equal((await all())[0]?.attempts, 20)
  })

  test('the operator retries one, an endpoint, and all that match a filter; each is audited', async (t) => {
    const { receiver, caller, endpointId, all } = await openDoor(t)
    for (const _ of [1, 2, 3]) await caller.write()
    await isHoursAway(paybell, endpointId, 3)
    const [{ id } = assert.fail()] = await all()
    receiver.answer = 200
    const one = await operate(`/deliveries/${id}/retry`)
    assert.deepEqual([one.status, one.body.id], [202, id])
    const isDelivered = async () => (await all()).find((of) => of.id === id)?.state === 'DELIVERED'
    await until('its outcome is on disk', isDelivered)
    const filter = { endpointId }
    const dry = await operate('/deliveries/retry', { filter, dryRun: true })
    assert.deepEqual([dry.status, dry.body], [200, { wouldRetry: 2 }])
    const bulk = await operate('/deliveries/retry', { filter })
    assert.deepEqual([bulk.status, bulk.body], [202, { retried: 2 }])
    await receiver.hasSeen(({ accepted }) => accepted.length === 3)
    const job = await operate((bulk.location ?? '').replace('/operator/v1', ''), undefined, 'GET')
    assert.deepEqual([job.body.kind, job.body.state, job.body.done], ['retry', 'DONE', 2])
    receiver.answer = 500
    await caller.write()
    await isHoursAway(paybell, endpointId)
    const lane = await operate(`/endpoints/${endpointId}/retry`)
    assert.deepEqual([lane.status, lane.body], [202, { retried: 1 }])
    assert.equal((await operate(`/endpoints/${randomUUID()}/retry`)).status, 404)
    await operate(`/endpoints/${endpointId}`, { status: 'PAUSED' }, 'PATCH')
    const none = await operate('/deliveries/retry', { filter, dryRun: true })
    assert.deepEqual(none.body, { wouldRetry: 0 })
    assert.equal((await operate(`/endpoints/${endpointId}/retry`)).status, 409)
    const { rows } = await paybell.pool.query(
      `select action from audit where object in ($1, $2, $3) and action like '%retry' order by id`,
      [`delivery:${id}`, `endpoint:${endpointId}`, `job:${job.body.id}`],
    )
    const actions = rows.map((row: { action: string }) => row.action)
    assert.deepEqual(actions, ['delivery.retry', 'deliveries.retry', 'endpoint.retry'])
  })
})

/** Delays and circuits twenty times as fast. */
const FAST = { env: { PAYBELL_TIME_SCALE: '20' } }

async function healthOf(caller: Caller, endpointId: string) {
  const { body } = await toAnswer(await caller.getWebhook(endpointId))
  return body.health as { circuit: string; nextProbeAt: string | null; pending: number }
}

/** The receiver is down until the next probe is a while away. */
async function isDown(caller: Caller, endpointId: string): Promise<number> {
  for (let payment = 0; payment < 20; payment++) await caller.write()
  const probeAt = await until('the next probe is seconds away', async () => {
    const { nextProbeAt } = await healthOf(caller, endpointId)
    return nextProbeAt !== null && Date.parse(nextProbeAt) > Date.now() + 5_000 && nextProbeAt
  })
  return Date.parse(probeAt)
}

function areAllDelivered(receiver: Receiver, probeAtMs: number): Promise<void> {
  return receiver.hasSeen(({ accepted }) => {
    const [first] = accepted
    assert.ok(!first || first.atMs < probeAtMs, 'before the circuit would have let it pass')
    return accepted.length >= 20
  })
}

test('an endpoint that is down is probed at once, and then gets all, after a retry, a resumption, or a test', async (t) => {
  const fast = await startPaybell(t, FAST)
  const acts: Record<string, (caller: Caller, endpointId: string) => Promise<unknown>> = {
    retry: async (caller, endpointId) => {
      assert.equal((await toAnswer(await caller.postToWebhook(endpointId, 'retry'))).status, 202)
      const { circuit, nextProbeAt } = await healthOf(caller, endpointId)
      if (circuit === 'HALF_OPEN') assert.ok(Date.parse(nextProbeAt ?? '') <= Date.now() + 1_000)
      else assert.equal(circuit, 'CLOSED')
    },
    resume: async (caller, endpointId) => {
      for (const status of ['PAUSED', 'ACTIVE']) {
        await caller.changeWebhook(endpointId, { status })
      }
    },
    test: (caller, endpointId) => caller.postToWebhook(endpointId, 'test'),
  }
  await Promise.all(
    Object.entries(acts).map(async ([name, act]) => {
      const { receiver, caller, endpointId } = await openDoor(t, fast)
      const probeAtMs = await isDown(caller, endpointId)
      receiver.answer = 200
      await act(caller, endpointId)
      await areAllDelivered(receiver, probeAtMs)
      await until(`${name}: closed`, async () => {
        const { circuit, nextProbeAt } = await healthOf(caller, endpointId)
        return circuit === 'CLOSED' && nextProbeAt === null
      })
    }),
  )
})

test('a retry that one process serves holds in the one that owns the shard', async (t) => {
  const first = await startPaybell(t)
  const second = await startPaybell(t, { beside: first })
  const doors = await Promise.all(Array.from({ length: 4 }, () => openDoor(t, first)))
  for (const { caller } of doors) await caller.write()
  for (const { endpointId, receiver } of doors) {
    await isHoursAway(first, endpointId)
    receiver.answer = 200
  }
  // Of four endpoints hardly all belong to the one process that is asked.
  for (const { endpointId, receiver } of doors) {
    const answer = await second.caller.operate('POST', `/endpoints/${endpointId}/retry`)
    assert.deepEqual(await answer.json(), { retried: 1 })
    await receiver.hasSeen(({ accepted }) => accepted.length === 1)
  }
})
