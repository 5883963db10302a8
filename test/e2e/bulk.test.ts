// All that match, not one page of them (decisions §8, §9.4): recover, replay and cancel in bulk. A dry run
// gives the number that the act then does, and a job whose process dies is finished by another one.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, beforeEach, describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { limitOf } from '../support/busy-machine.ts'
import { Caller, type JsonAnswer, type SandboxFacts, toAnswer } from '../support/caller.ts'
import { addAccount, addClient, readDeliveries, startPaybell, until } from '../support/paybell.ts'
import { PLAIN, sampleBody } from '../support/payment-sample.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'

const paybell = await startPaybell({ after })
const { pool } = paybell
const receiver = await startReceiver({ after })

async function operate(path: string, body?: object, method = 'POST'): Promise<JsonAnswer> {
  return toAnswer(await paybell.caller.operate(method, path, body))
}

async function ask(caller: Caller, path: string, body: object): Promise<JsonAnswer> {
  return toAnswer(await caller.call('POST', path, body))
}

/** Writes `updates` updates of `count` payments by NDJSON; returns the payments' ids. */
async function feed(facts: SandboxFacts, count: number, updates = 1): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID() as string)
  for (let n = 1; n <= updates; n++) {
    const lines = ids.map((id) => {
      const payment = JSON.parse(sampleBody({ id, ...PLAIN, reference: `${n}` }).toString())
      return JSON.stringify({ accountId: facts.accountId, ...payment })
    })
    const answer = await paybell.caller.putPayments(lines)
    assert.equal(answer.status, 200)
    assert.doesNotMatch(await answer.text(), /problem/)
  }
  return ids
}

interface Door {
  facts: SandboxFacts
  caller: Caller
  endpointId: string
  set(status: 'PAUSED' | 'ACTIVE'): Promise<void>
}

/** An account of its own with one webhook. */
async function openDoor(at: Receiver): Promise<Door> {
  const facts = await addAccount(paybell, paybell)
  const caller = new Caller(facts)
  const endpointId = await caller.addWebhook(at.url(`/${facts.accountId}`), 'key')
  return {
    facts,
    caller,
    endpointId,
    async set(status) {
      const answer = await caller.changeWebhook(endpointId, { status })
      assert.equal(answer.status, 200)
    },
  }
}

function deliveriesOf(endpointId: string) {
  return readDeliveries(pool, endpointId)
}

function untilAll(endpointId: string, state: string) {
  return until(`all of ${endpointId} ${state}`, async () => {
    const all = await deliveriesOf(endpointId)
    return all.every((one) => one.state === state) && all
  })
}

/** As if their 7 days were over. */
async function exhaust(endpointId: string): Promise<void> {
  await until('nothing is pending', async () =>
    (await deliveriesOf(endpointId)).every(({ state }) => state !== 'PENDING'),
  )
  await pool.query(
    `update final_deliveries set state = 'EXHAUSTED', last_status = 500, attempted_at = null,
       duration_ms = null where endpoint_id = $1`,
    [endpointId],
  )
}

const SINCE = { since: '2020-01-01T00:00:00Z' }

describe('in bulk', () => {
  let door: Door

  beforeEach(async () => {
    receiver.answer = 200
    door = await openDoor(receiver)
  })

  /** By the times of the attempts: each has a socket of its own, and a busy machine may read a later one first. */
  const sequencesAsBegun = async (paymentId: string): Promise<number[]> => {
    const { rows } = await pool.query<{ sequence: number }>(
      `select sequence from final_deliveries where endpoint_id = $1 and payment_id = $2
       order by attempted_at, sequence`,
      [door.endpointId, paymentId],
    )
    return rows.map(({ sequence }) => sequence)
  }

  /** When its deliveries were created, the latest first. */
  const creations = async (): Promise<Date[]> => {
    const { rows } = await pool.query<{ at: Date }>(
      'select created_at as at from final_deliveries where endpoint_id = $1 order by 1 desc',
      [door.endpointId],
    )
    return rows.map(({ at }) => at)
  }

  const arrived = () => receiver.received.filter(({ path }) => path === `/${door.facts.accountId}`)

  test('recover: the dry run changes nothing and tells the number; then each comes once, in sequence', async () => {
    const ids = await feed(door.facts, 10, 3)
    await exhaust(door.endpointId)
    await feed(door.facts, 5)
    await until('35 came', () => arrived().length === 35)
    const path = `/v1/webhooks/${door.endpointId}/recover`
    const dry = await ask(door.caller, `${path}?dryRun=true`, SINCE)
    assert.deepEqual(dry, { status: 200, body: { wouldReplay: 30 } })
    assert.equal(arrived().length, 35)
    assert.deepEqual(await ask(door.caller, path, SINCE), { status: 202, body: { replayed: 30 } })
    await untilAll(door.endpointId, 'DELIVERED')
    const replays = arrived().slice(35)
    assert.equal(replays.length, 30)
    for (const id of ids) {
      const mine = replays.filter(({ body }) => JSON.parse(body.toString()).id === id)
      assert.deepEqual(receiver.sequences(mine).toSorted(), [1, 2, 3])
      assert.deepEqual(await sequencesAsBegun(id), [1, 2, 3])
      for (const { headers } of mine) assert.equal(headers['x-paybell-replay'], 'true')
    }
    assert.deepEqual((await ask(door.caller, path, SINCE)).body, { replayed: 0 })
  })

  test('regression: recovered while it is paused, a payment comes in sequence when it is resumed', async () => {
    await feed(door.facts, 1, 30)
    await exhaust(door.endpointId)
    await door.set('PAUSED')
    const before = arrived().length
    await ask(door.caller, `/v1/webhooks/${door.endpointId}/recover`, SINCE)
    await until('all wait', async () =>
      (await deliveriesOf(door.endpointId)).every(({ state }) => state === 'PENDING'),
    )
    await door.set('ACTIVE')
    await untilAll(door.endpointId, 'DELIVERED')
    const all = Array.from({ length: 30 }, (_, index) => index + 1)
    assert.deepEqual(receiver.sequences(arrived().slice(before)), all)
  })

  test('recover: since, until and states narrow; what does not conform is named', async () => {
    await feed(door.facts, 4)
    await exhaust(door.endpointId)
    const [first] = await creations()
    // On the service's clock, which is not quite ours.
    const { clock } = paybell.app.deps
    await until('some milliseconds later', () => clock.nowMs() > Number(first) + 5)
    await feed(door.facts, 3)
    await exhaust(door.endpointId)
    const middle = (await creations())[2] ?? assert.fail()
    const path = `/v1/webhooks/${door.endpointId}/recover?dryRun=true`
    const count = async (body: object) => (await ask(door.caller, path, body)).body.wouldReplay
    assert.equal(await count(SINCE), 7)
    assert.equal(await count({ since: middle.toISOString() }), 3)
    assert.equal(await count({ ...SINCE, until: middle.toISOString() }), 4)
    assert.equal(await count({ ...SINCE, states: ['CANCELLED', 'SUPERSEDED'] }), 0)
    assert.equal(await count({ ...SINCE, states: ['CANCELLED', 'EXHAUSTED'] }), 7)
    for (const body of [
      {},
      { since: 'yesterday' },
      { ...SINCE, until: '2019-01-01T00:00:00Z' },
      { ...SINCE, states: [] },
      { ...SINCE, states: ['PENDING'] },
    ]) {
      const { status, body: problem } = await ask(door.caller, path, body)
      assert.deepEqual([status, problem.code], [400, 'invalid-fields'], JSON.stringify(body))
    }
    const wrong = await ask(door.caller, path.replace('true', 'yes'), SINCE)
    assert.equal(wrong.body.code, 'invalid-query')
  })

  test('recover: a client cannot recover what is another client’s', async () => {
    await feed(door.facts, 2)
    await exhaust(door.endpointId)
    const path = `/v1/webhooks/${door.endpointId}/recover`
    const stranger = new Caller(await addClient(paybell, 'Stranger'))
    const neighbour = new Caller(await addAccount(paybell, paybell))
    for (const other of [stranger, neighbour]) {
      assert.equal((await ask(other, path, SINCE)).status, 404)
    }
    const asSubscription = `/api/v1/payments/subscriptions/${door.endpointId}/recover`
    assert.equal((await ask(door.caller, asSubscription, SINCE)).status, 404)
    assert.equal(
      (await deliveriesOf(door.endpointId)).filter((one) => one.state === 'PENDING').length,
      0,
    )
  })

  test('recover: a subscription, of one account where one is given', async () => {
    const client = await addClient(paybell, 'Subscriber')
    const other = await addAccount(paybell, client)
    const caller = new Caller(client)
    const id = await caller.addSubscription(receiver.url('/all'), 'key')
    await feed(client, 3)
    await feed(other, 2)
    await exhaust(id)
    const path = `/api/v1/payments/subscriptions/${id}/recover`
    assert.deepEqual((await ask(caller, `${path}?dryRun=true`, SINCE)).body, { wouldReplay: 3 })
    const headers = { authorization: `Bearer ${await caller.token()}` }
    const whole = await fetch(`${client.baseUrl}${path}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(SINCE),
    })
    assert.deepEqual(await whole.json(), { replayed: 5 })
    await untilAll(id, 'DELIVERED')
  })

  test('replay by filter: dry run, act, job and one audit row; deleted endpoints and lost payloads do not count', async () => {
    const paymentIds = await feed(door.facts, 2_500)
    await exhaust(door.endpointId)
    await pool.query('delete from events where payment_id = $1', [paymentIds[0]])
    const filter = { endpointId: door.endpointId, state: 'EXHAUSTED' }
    const dry = await operate('/deliveries/replay', { filter, dryRun: true })
    assert.deepEqual(dry, { status: 200, body: { wouldReplay: 2_499 } })
    const byEndpoint = await operate('/deliveries/replay?byEndpoint=true', { filter, dryRun: true })
    const [endpoint, ...others] = byEndpoint.body.endpoints as Record<string, unknown>[]
    assert.equal(byEndpoint.body.moreEndpoints, 0)
    assert.deepEqual(others, [])
    const { endpointId, status, circuit, count } = endpoint ?? {}
    assert.deepEqual(
      { endpointId, status, circuit, count },
      { endpointId: door.endpointId, status: 'ACTIVE', circuit: 'CLOSED', count: 2_499 },
    )
    const begun = await paybell.caller.operate('POST', '/deliveries/replay', { filter })
    assert.deepEqual([begun.status, await begun.json()], [202, { replayed: 2_499 }])
    const jobId = begun.headers.get('location')?.split('/').at(-1)
    const job = await until('the job is done', async () => {
      const answer = await operate(`/jobs/${jobId}`, undefined, 'GET')
      return answer.body.state === 'DONE' && answer.body
    })
    assert.deepEqual([job.kind, job.total, job.done, job.passedOver], ['replay', 2_499, 2_499, 0])
    assert.ok(Date.parse(String(job.finishedAt)) >= Date.parse(String(job.startedAt)))
    await until('all replayed', () => arrived().length === 2_500 + 2_499)
    const outcome = { queued: 0, waiting: 0, delivered: 2_499, failed: 0, cancelled: 0 }
    await until('the job tells what came of it', async () => {
      const { body } = await operate(`/jobs/${jobId}`, undefined, 'GET')
      return isDeepStrictEqual(body.outcome, outcome)
    })
    const listed = await operate('/jobs?size=1', undefined, 'GET')
    assert.deepEqual((listed.body.content as { id: string }[])[0]?.id, jobId)
    const found = await operate(`/deliveries?job=${jobId}&limit=200`, undefined, 'GET')
    assert.equal((found.body.items as unknown[]).length, 200)
    assert.ok(found.body.next)
    // A look that takes long ends with an empty page, from which the next one goes on.
    let position: unknown = ''
    while (position !== null) {
      const path = `/deliveries?job=${jobId}&state=EXHAUSTED${position && `&after=${position}`}`
      const none = await operate(path, undefined, 'GET')
      assert.deepEqual([none.status, none.body.items], [200, []])
      position = none.body.next
    }
    const { rows } = await pool.query(`select action from audit where object = $1`, [
      `job:${jobId}`,
    ])
    assert.deepEqual(rows, [{ action: 'deliveries.replay' }])
    assert.equal((await pool.query('select from job_items')).rowCount, 0)
    assert.equal((await operate(`/jobs/${randomUUID()}`, undefined, 'GET')).status, 404)
  })

  test('two bulk replays at once never count, nor send, a delivery twice', async () => {
    await feed(door.facts, 300)
    await exhaust(door.endpointId)
    receiver.answer = (_received, response) => void setTimeout(() => response.end(), 5)
    const filter = { endpointId: door.endpointId, state: ['EXHAUSTED'] }
    const answers = await Promise.all([
      operate('/deliveries/replay', { filter }),
      ask(door.caller, `/v1/webhooks/${door.endpointId}/recover`, SINCE),
      operate('/deliveries/replay', { filter }),
    ])
    const counts = answers.map(({ body }) => Number(body.replayed))
    assert.equal(
      counts.reduce((sum, count) => sum + count),
      300,
      String(counts),
    )
    await untilAll(door.endpointId, 'DELIVERED')
    assert.equal(arrived().length, 600)
  })

  test('regression: a dry run is one in the query and in the body; what looks like it is refused', async () => {
    await feed(door.facts, 2)
    await exhaust(door.endpointId)
    const filter = { endpointId: door.endpointId, state: 'EXHAUSTED' }
    const acts = [
      (query: string, body: object) =>
        ask(door.caller, `/v1/webhooks/${door.endpointId}/recover${query}`, { ...SINCE, ...body }),
      (query: string, body: object) => operate(`/deliveries/replay${query}`, { filter, ...body }),
      (query: string, body: object) => operate(`/deliveries/cancel${query}`, { filter, ...body }),
    ]
    for (const act of acts) {
      for (const [query, body] of [
        ['?dryRun=true', {}],
        ['', { dryRun: true }],
        ['?dryRun=true', { dryRun: true }],
      ] as const) {
        const { status, body: answer } = await act(query, body)
        assert.equal(status, 200, `${query} ${JSON.stringify(answer)}`)
        assert.ok('wouldReplay' in answer || 'wouldCancel' in answer)
      }
      for (const [query, body, code] of [
        ['?dryrun=true', {}, 'invalid-query'],
        ['?DryRun=true', {}, 'invalid-query'],
        ['?dry_run=true', {}, 'invalid-query'],
        ['?dryRun', {}, 'invalid-query'],
        ['?dryRun=1', {}, 'invalid-query'],
        ['?dryRun=true&dryRun=false', {}, 'invalid-query'],
        ['', { dryrun: true }, 'invalid-fields'],
        ['', { 'dry-run': true }, 'invalid-fields'],
        ['', { dryRun: 'true' }, 'invalid-fields'],
        ['', { dryRun: null }, 'invalid-fields'],
        ['?dryRun=true', { dryRun: false }, 'invalid-fields'],
        ['?dryRun=false', { dryRun: true }, 'invalid-fields'],
      ] as const) {
        const { status, body: answer } = await act(query, body)
        assert.deepEqual([status, answer.code], [400, code], `${query} ${JSON.stringify(body)}`)
      }
    }
    const deliveries = await deliveriesOf(door.endpointId)
    assert.deepEqual(
      deliveries.map(({ state }) => state),
      ['EXHAUSTED', 'EXHAUSTED'],
      'nothing was done',
    )
    const [replay, recover] = [acts[1], acts[0]]
    assert.equal((await recover?.('?dryRun=false', {}))?.body.replayed, 2)
    await untilAll(door.endpointId, 'DELIVERED')
    assert.equal((await replay?.('', { dryRun: false }))?.status, 202)
  })

  test('the published interface has the dry run in the query and in the body', async () => {
    const document = (await (await fetch(`${paybell.baseUrl}/openapi.json`)).json()) as {
      paths: Record<string, { post: { parameters: object[]; requestBody: object } }>
    }
    for (const path of [
      '/v1/webhooks/{id}/recover',
      '/api/v1/payments/subscriptions/{id}/recover',
      '/operator/v1/deliveries/replay',
      '/operator/v1/deliveries/cancel',
    ]) {
      const { parameters, requestBody } = document.paths[path]?.post ?? assert.fail(path)
      assert.match(JSON.stringify(parameters), /"in":"query","name":"dryRun"/, path)
      assert.match(JSON.stringify(requestBody), /"properties":\{.*"dryRun":\{/, path)
    }
  })

  test('regression: an act on one delivery has no dry run, and is not done when one is asked for', async () => {
    await feed(door.facts, 1)
    await exhaust(door.endpointId)
    const [delivery] = await deliveriesOf(door.endpointId)
    const id = delivery?.id
    for (const query of ['dryRun=true', 'dryRun=false', 'dryrun=1']) {
      const answers = [
        await operate(`/deliveries/${id}/replay?${query}`),
        await operate(`/deliveries/${id}/cancel?${query}`),
        await ask(door.caller, `/v1/deliveries/${id}/replay?${query}`, {}),
      ]
      for (const { status, body } of answers) {
        assert.deepEqual([status, body.code], [400, 'invalid-query'], query)
      }
    }
    assert.equal((await deliveriesOf(door.endpointId))[0]?.state, 'EXHAUSTED')
  })

  test('a filter must be right: unknown members and wrong values are refused, nothing is done', async () => {
    for (const filter of [
      { endpointID: door.endpointId },
      { endpointId: 'x' },
      { state: 'GONE' },
      { from: 'yesterday' },
      { from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' },
    ]) {
      for (const act of ['replay', 'cancel']) {
        const { status, body } = await operate(`/deliveries/${act}`, { filter })
        assert.deepEqual([status, body.code], [400, 'invalid-fields'], JSON.stringify(filter))
      }
    }
    assert.equal((await operate('/deliveries/replay', {})).status, 400)
  })

  test('cancel by filter: what is pending ends, nothing of it is sent any more, and it can be replayed', async () => {
    receiver.answer = 500
    await feed(door.facts, 40)
    await until('all tried', async () =>
      (await deliveriesOf(door.endpointId)).every(({ attempts }) => attempts > 0),
    )
    const filter = { endpointId: door.endpointId }
    const dry = await operate('/deliveries/cancel', { filter, dryRun: true })
    assert.deepEqual(dry, { status: 200, body: { wouldCancel: 40 } })
    const { status, body } = await operate('/deliveries/cancel', { filter })
    assert.deepEqual([status, body.cancelled], [202, 40])
    const cancelled = await untilAll(door.endpointId, 'CANCELLED')
    assert.equal(cancelled.length, 40)
    const again = await operate('/deliveries/cancel', { filter })
    assert.deepEqual([again.status, again.body.cancelled], [202, 0])
    receiver.answer = 200
    const seen = arrived().length
    const replayed = await operate('/deliveries/replay', { filter })
    assert.equal(replayed.body.replayed, 40)
    await untilAll(door.endpointId, 'DELIVERED')
    assert.equal(arrived().length, seen + 40)
  })

  test('a job whose process died is finished by another one', async () => {
    await feed(door.facts, 30)
    await exhaust(door.endpointId)
    const jobId = randomUUID()
    await pool.query(
      `insert into jobs (id, kind, total, done, runner, held_until, started_at)
       values ($1, 'replay', 40, 10, $2, now() - interval '1 s', now())`,
      [jobId, randomUUID()],
    )
    await pool.query(
      `insert into job_items (client_key, delivery_id, job_id, place, endpoint_id, finished_at)
       select client_key, id, $2, 10 + row_number() over (order by id), endpoint_id, finished_at
       from final_deliveries where endpoint_id = $1`,
      [door.endpointId, jobId],
    )
    await untilAll(door.endpointId, 'DELIVERED')
    await until('the job is done', async () => {
      const { body } = await operate(`/jobs/${jobId}`, undefined, 'GET')
      return body.state === 'DONE' && body.done === 40 && body.passedOver === 0
    })
    assert.equal(arrived().length, 60)
  })
})

/** Cancels against the recorder: whatever the order, each delivery ends once and stays ended. */
test('cancelling while attempts are sent and recorded neither loses, doubles nor resurrects a delivery', async (t) => {
  const moody = await startReceiver(t)
  const door = await openDoor(moody)
  const cancelledAt = new Map<string, number>()
  moody.answer = (_received, response) => {
    response.statusCode = Math.random() < 0.5 ? 200 : 500
    setTimeout(() => response.end(), Math.random() * 20)
  }
  const counts = { fed: 0, cancelled: 0, final: 0, replayed: 0 }
  let isFeeding = true
  const feeding = (async () => {
    // Where feeding is fast and cancelling slow, there is more to feed until enough has met.
    while (counts.fed < 300 || (counts.cancelled <= 20 && counts.fed < 10_000)) {
      await feed(door.facts, 25, 2)
      counts.fed += 50
    }
  })().finally(() => {
    isFeeding = false
  })
  while (isFeeding) {
    const { rows } = await pool.query<{ id: string }>(
      `select id from pending_deliveries where endpoint_id = $1 order by random() limit 8`,
      [door.endpointId],
    )
    await Promise.all(
      rows.map(async ({ id }) => {
        const { status } = await operate(`/deliveries/${id}/cancel`)
        assert.ok(status === 200 || status === 409, String(status))
        if (status === 409) counts.final++
        if (status !== 200) return
        counts.cancelled++
        if (Math.random() < 0.3) {
          assert.equal((await operate(`/deliveries/${id}/replay`)).status, 202)
          counts.replayed++
        } else cancelledAt.set(id, Date.now())
      }),
    )
  }
  await feeding
  moody.answer = 200
  const rest = await operate('/deliveries/cancel', { filter: { endpointId: door.endpointId } })
  assert.equal(rest.status, 202)
  const all = await until('nothing is pending', async () => {
    const found = await deliveriesOf(door.endpointId)
    return found.every(({ state }) => state !== 'PENDING') && found
  })
  assert.equal(all.length, counts.fed)
  assert.equal(new Set(all.map(({ id }) => id)).size, counts.fed)
  assert.ok(counts.cancelled > 20, JSON.stringify(counts))
  for (const { id, state } of all) {
    if (cancelledAt.has(id)) assert.equal(state, 'CANCELLED', 'nothing brings it back')
  }
  // In the process that was asked it holds at once: a request of it may have been on its way, but
  // its next attempt would be seconds later.
  const eventOf = new Map(all.map(({ id, eventId }) => [eventId, id]))
  for (const { headers, atMs } of moody.received) {
    const toldAt = cancelledAt.get(eventOf.get(String(headers['webhook-id'])) ?? '')
    if (toldAt !== undefined)
      assert.ok(atMs <= toldAt + limitOf(1_000), `sent ${atMs - toldAt} ms later`)
  }
})
