// What a client sees of its deliveries and payments (decisions §8), on the whole service: the callbacks in
// the lists have really been made.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { Caller } from '../../../../test/support/caller.ts'
import { addAccount, addClient, startPaybell, until } from '../../../../test/support/paybell.ts'
import { startReceiver } from '../../../../test/support/receiver.ts'

const paybell = await startPaybell({ after })
const receiver = await startReceiver({ after })
const otherAccount = new Caller(await addAccount(paybell, paybell))
const stranger = new Caller(await addClient(paybell, 'Stranger'))
const { caller } = paybell

interface Item {
  id: string
  eventId: string
  event: string
  paymentId: string
  sequence: number
  endpointId: string
  endpointUrl: string
  state: string
  attempts: number
  createdAt: string
  nextAttemptAt: string | null
  waitsFor: number | null
  deadlineAt: string | null
  lastOutcome: string | null
}

interface Detail extends Item {
  attemptLog: {
    attempt: number
    at: string
    durationMs: number
    status: number
    error: string
    excerpt: string | null
  }[]
  explanation: string
  explanationParts: { code: string; template: string; instants: { name: string; at: string }[] }[]
  request: {
    method: string
    url: string
    attempt: number | null
    headers: { name: string; value: string }[]
    bodyUrl: string
  }
}

async function list(query = '', by = caller): Promise<{ items: Item[]; next: string | null }> {
  const answer = await by.get(`/v1/deliveries${query}`)
  const body = await answer.text()
  assert.equal(answer.status, 200, body)
  return JSON.parse(body)
}

async function detail(id: string, by = caller): Promise<Detail> {
  const answer = await by.get(`/v1/deliveries/${id}`)
  assert.equal(answer.status, 200)
  return (await answer.json()) as Detail
}

/** One payment is refused with 204, the rest is taken. */
const delivered = randomUUID()
const refused = randomUUID()
const elsewhere = randomUUID()
const foreign = randomUUID()

before(async () => {
  receiver.answer = ({ body }, response) => {
    if (JSON.parse(body.toString()).id === refused) return 204
    response.writeHead(200).end('taken, thank you')
  }
  for (const by of [caller, otherAccount, stranger]) {
    assert.equal((await by.register(receiver.url(), 'key-of-the-webhook')).status, 200)
  }
  await caller.update(delivered, { status: { state: 'DRAFT' } })
  await caller.update(delivered, { status: { state: 'DUE' } })
  await caller.update(refused, { status: { state: 'DRAFT' } })
  await caller.update(refused, { status: { state: 'DUE' } })
  await otherAccount.update(elsewhere, { status: { state: 'PAID' } })
  await stranger.update(foreign, { status: { state: 'PAID' } })
  await until('what can be delivered is', async () => {
    const { rows } = await paybell.pool.query(`select
        (select count(*)::int from final_deliveries) as ended,
        (select count(*)::int from pending_deliveries where attempts > 0) as failed`)
    return rows[0].ended === 4 && rows[0].failed === 1
  })
})

describe('the list', () => {
  test('shows what is owed and what has ended, newest first, and no payload', async () => {
    const { items, next } = await list()
    assert.equal(next, null)
    assert.deepEqual(
      items.map(({ paymentId, sequence, state }) => ({ paymentId, sequence, state })),
      [
        { paymentId: refused, sequence: 2, state: 'PENDING' },
        { paymentId: refused, sequence: 1, state: 'PENDING' },
        { paymentId: delivered, sequence: 2, state: 'DELIVERED' },
        { paymentId: delivered, sequence: 1, state: 'DELIVERED' },
      ],
    )
    const [, failed, , first] = items as [Item, Item, Item, Item]
    assert.deepEqual(Object.keys(first), [
      ...['amount', 'id', 'eventId', 'event', 'paymentId', 'sequence', 'endpointId', 'endpointUrl'],
      ...['state', 'attempts', 'createdAt', 'nextAttemptAt', 'waitsFor', 'deadlineAt'],
      ...['lastOutcome', 'externalId', 'paymentState'],
    ])
    assert.equal(first.event, 'payment.created')
    assert.equal(first.endpointUrl, receiver.url())
    assert.equal(first.lastOutcome, 'answered 200')
    assert.equal(first.nextAttemptAt, null)
    assert.equal(failed.lastOutcome, 'answered 204')
    assert.ok(failed.attempts >= 1)
    assert.ok(Date.parse(failed.deadlineAt ?? '') > Date.parse(failed.createdAt))
  })

  test('regression: an update behind another says which, and no time that has passed', async () => {
    const startedAtMs = Date.now()
    const { items } = await list('?state=PENDING')
    assert.deepEqual(
      items.map(({ sequence, waitsFor }) => [sequence, waitsFor]),
      [
        [2, 1],
        [1, null],
      ],
    )
    const [second, first] = items as [Item, Item]
    assert.ok(Date.parse(second.nextAttemptAt ?? '') >= startedAtMs, String(second.nextAttemptAt))
    assert.equal((await detail(second.id)).waitsFor, 1)
    assert.equal((await detail(first.id)).waitsFor, null)
  })

  test('AccountId narrows, and without it all accounts of the client are there', async () => {
    assert.deepEqual(
      (await list('', otherAccount)).items.map(({ paymentId }) => paymentId),
      [elsewhere],
    )
    const { authorization = '' } = await caller.headers()
    const answer = await fetch(`${paybell.baseUrl}/v1/deliveries`, { headers: { authorization } })
    const { items } = (await answer.json()) as { items: Item[] }
    assert.equal(items.length, 5)
    assert.ok(items.every(({ paymentId }) => paymentId !== foreign))
  })

  test('every filter narrows', async () => {
    const all = (await list()).items
    const [newest] = all as [Item]
    const count = async (query: string) => (await list(query)).items.length
    assert.equal(await count('?state=PENDING'), 2)
    assert.equal(await count('?state=DELIVERED'), 2)
    assert.equal(await count('?state=PENDING,DELIVERED'), 4)
    assert.equal(await count('?state=EXHAUSTED'), 0)
    assert.equal(await count(`?paymentId=${delivered}`), 2)
    assert.equal(await count(`?paymentId=${delivered}&state=PENDING`), 0)
    assert.equal(await count(`?endpointId=${newest.endpointId}`), 4)
    assert.equal(await count(`?endpointId=${newest.endpointId}&state=PENDING`), 2)
    assert.equal(await count(`?from=${newest.createdAt}`), 1)
    assert.equal(await count(`?to=${newest.createdAt}`), 3)
    assert.equal(await count(`?from=${all.at(-1)?.createdAt}&to=${newest.createdAt}`), 3)
    assert.equal(await count(`?from=2100-01-01T00:00:00Z`), 0)
  })

  test('a cursor leads through all pages, each item once', async () => {
    const all = (await list()).items.map(({ id }) => id)
    const seen: string[] = []
    let after = ''
    for (;;) {
      const { items, next } = await list(`?limit=1${after}`)
      assert.ok(items.length <= 1)
      seen.push(...items.map(({ id }) => id))
      if (next === null) break
      after = `&after=${encodeURIComponent(next)}`
    }
    assert.deepEqual(seen, all)
    assert.equal((await list('?limit=5000')).items.length, 4)
  })

  test('names of other clients lead to nothing', async () => {
    const [theirs] = (await list('', stranger)).items as [Item]
    assert.equal(theirs.paymentId, foreign)
    for (const query of [
      `?paymentId=${foreign}`,
      `?endpointId=${theirs.endpointId}`,
      `?paymentId=${randomUUID()}`,
    ]) {
      assert.deepEqual(await list(query), { items: [], next: null }, query)
    }
  })

  test('what does not conform is a 400 that says where', async () => {
    for (const [query, pointer] of [
      ['?status=PENDING', '/status'],
      // Filters that only the operator has.
      ['?q=x', '/q'],
      ['?state=LOST', '/state'],
      ['?state=', '/state'],
      ['?state=PENDING&state=PENDING', '/state'],
      ['?endpointId=7', '/endpointId'],
      ['?paymentId=7', '/paymentId'],
      ['?from=yesterday', '/from'],
      ['?to=2026-03-02', '/to'],
      ['?from=2026-03-02T09:30:00Z&to=2026-03-02T09:30:00Z', '/to'],
      ['?limit=0', '/limit'],
      ['?limit=x', '/limit'],
      ['?after=x', '/after'],
      [`?after=${Buffer.from('["x"]').toString('base64url')}`, '/after'],
      [`?after=${Buffer.from(`["${randomUUID()}","x"]`).toString('base64url')}`, '/after'],
    ] as const) {
      const answer = await caller.get(`/v1/deliveries${query}`)
      const problem = (await answer.json()) as { code: string; errors: { pointer: string }[] }
      assert.equal(answer.status, 400, query)
      assert.equal(problem.code, 'invalid-query')
      assert.deepEqual(
        problem.errors.map((error) => error.pointer),
        [pointer],
      )
    }
  })

  test('a wrong AccountId is a 403, and no token a 401', async () => {
    const { authorization = '' } = await caller.headers()
    for (const path of [
      '/v1/deliveries',
      `/v1/deliveries/${randomUUID()}`,
      `/v1/payments/${delivered}`,
    ]) {
      const headers = { authorization, accountid: randomUUID() }
      assert.equal((await fetch(paybell.baseUrl + path, { headers })).status, 403)
      assert.equal((await fetch(paybell.baseUrl + path)).status, 401)
      const operator = { authorization: `Bearer ${paybell.operatorKey}` }
      assert.equal((await fetch(paybell.baseUrl + path, { headers: operator })).status, 401)
    }
  })
})

describe('one delivery', () => {
  test('shows its attempts and explains its state in words', async () => {
    const [second, first] = (await list(`?paymentId=${refused}`)).items as [Item, Item]
    const failed = await detail(first.id)
    assert.ok(failed.attemptLog.length >= 1)
    const [attempt] = failed.attemptLog
    const members = ['attempt', 'at', 'durationMs', 'status', 'error', 'excerpt']
    assert.deepEqual(Object.keys(attempt ?? {}), members)
    assert.equal(attempt?.status, 204)
    assert.equal(attempt?.error, null)
    assert.match(
      failed.explanation,
      /^Attempt \d of about 40 got 204\. Only 200 counts as delivered\. (Next attempt in (\d+ s|less than a second) \(|The next attempt is due now)/,
    )
    assert.match(
      (await detail(second.id)).explanation,
      /^Waiting for update 1 of the same payment, which has failed since (\d+ \w+ )?\d\d:\d\d:\d\d UTC\./,
    )
    const [taken] = (await list(`?paymentId=${delivered}`)).items as [Item]
    const { attemptLog, explanation, explanationParts } = await detail(taken.id)
    assert.equal(attemptLog.length, 1)
    const [{ code, template, instants }] = explanationParts as [(typeof explanationParts)[number]]
    assert.equal(code, 'delivered')
    assert.match(template, / \(\{deliveredAt\}\)\.$/)
    assert.equal(instants[0]?.name, 'deliveredAt')
    assert.ok(Math.abs(Date.parse(instants[0]?.at ?? '') - Date.now()) < 600_000)
    assert.match(
      explanation,
      /^Delivered: your endpoint answered 200 to the first attempt \(.* UTC\)\.$/,
    )
  })

  test('shows what the receiver answered and what it was sent, enough to send it again', async () => {
    const [failed] = (await list(`?paymentId=${refused}&outcome=2xx`)).items as [Item]
    const { attemptLog, request } = await detail(failed.id)
    const last = attemptLog.at(-1)
    const received = receiver.received.find(
      ({ headers }) =>
        headers['webhook-id'] === failed.eventId &&
        headers['x-paybell-attempt'] === String(last?.attempt),
    )
    const sent = new Map(request.headers.map(({ name, value }) => [name.toLowerCase(), value]))
    for (const name of ['x-paybell-hmac', 'webhook-signature', 'webhook-timestamp', 'user-agent']) {
      assert.equal(sent.get(name), received?.headers[name], name)
    }
    assert.deepEqual([request.method, request.url], ['POST', receiver.url()])
    const bytes = await (await caller.get(request.bodyUrl)).arrayBuffer()
    assert.deepEqual(Buffer.from(bytes), received?.body)
    const [taken] = (await list(`?paymentId=${delivered}`)).items as [Item]
    assert.equal((await detail(taken.id)).attemptLog[0]?.excerpt, 'taken, thank you')
  })

  test('one that is unknown, of another account or of another client is a 404, one and the same', async () => {
    const [theirs] = (await list('', stranger)).items as [Item]
    const [others] = (await list('', otherAccount)).items as [Item]
    const bodies = new Set<string>()
    for (const id of [theirs.id, others.id, randomUUID(), 'x', '']) {
      const answer = await caller.get(`/v1/deliveries/${id}`)
      if (id === '') continue
      assert.equal(answer.status, 404)
      const requestId = answer.headers.get('x-request-id') as string
      bodies.add((await answer.text()).replaceAll(requestId, ''))
    }
    assert.equal(bodies.size, 1)
    assert.equal((await detail(others.id, otherAccount)).paymentId, elsewhere)
  })
})

describe('a payment', () => {
  test('is shown as it is now, digit for digit and without its file', async () => {
    const answer = await caller.get(`/v1/payments/${delivered}`)
    assert.equal(answer.status, 200)
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json/)
    const text = await answer.text()
    assert.match(text, /"amount":12345\.67,/)
    assert.doesNotMatch(text, /base64EncodedFile/)
    const payment = JSON.parse(text)
    assert.equal(payment.status.state, 'DUE')
    assert.deepEqual(Object.keys(payment.document), ['mediaType', 'name'])
  })

  test('one that is unknown, of another account or of another client is a 404', async () => {
    for (const id of [elsewhere, foreign, randomUUID(), 'x']) {
      assert.equal((await caller.get(`/v1/payments/${id}`)).status, 404)
    }
    assert.equal((await otherAccount.get(`/v1/payments/${elsewhere}`)).status, 200)
  })
})
