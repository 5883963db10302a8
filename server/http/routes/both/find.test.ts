// Finding things by the names that people know, as a client and as the operator: filters, lists, the one search;
// and that no client finds anything of another.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, type TestContext, test } from 'node:test'
import { cloneDatabase } from '../../../../test/support/database.ts'
import { addEndpoint, call, OPERATOR, putPayment } from '../../../../test/support/injected-calls.ts'
import {
  assertProblem,
  onboard,
  serveHttp,
  type TestClient,
} from '../../../../test/support/injected-server.ts'
import { sampleBody } from '../../../../test/support/payment-sample.ts'

const { pool } = await cloneDatabase()
const server = await serveHttp({ after } as Pick<TestContext, 'after'>, pool)
const northwind = await onboard(server, 'Northwind Traders')
const contoso = await onboard(server, 'Contoso 109')

const paid = randomUUID()
const due = randomUUID()
const theirs = randomUUID()

async function get(url: string, headers: Record<string, string> = OPERATOR) {
  const answer = await call(server, headers, 'GET', url)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer
}

async function put(
  client: TestClient,
  id: string,
  externalId: string,
  state: string,
  amount: string,
) {
  server.clock.advance(1)
  const body = sampleBody({ id, externalId, version: undefined, status: { state } })
  const text = body.toString().replace(/"amount":\{"amount":[^,]+/, `"amount":{"amount":${amount}`)
  const answer = await putPayment(server, client.accountId, id, text)
  assert.ok(answer.statusCode < 300, answer.body)
}

before(async () => {
  await addEndpoint(server, northwind, { callbackUrl: 'https://hooks.northwind.example/paybell' })
  await addEndpoint(server, contoso, {
    callbackUrl: 'https://pay.contoso.example/in?source=paybell',
  })
  await put(northwind, paid, 'INV-1', 'DUE', '100.00')
  await put(northwind, paid, 'INV-1', 'PAID', '9007199254740993')
  await put(northwind, due, 'INV-2', 'DUE', '7.10')
  await put(contoso, theirs, 'INV-1', 'DUE', '1.00')
  // The first update of the first payment was answered with 503, that of the second not at all.
  await pool.query(
    `update pending_deliveries set attempts = 1, last_outcome = 'answered', last_status = 503
     where payment_id = $1 and sequence = 1`,
    [paid],
  )
  await pool.query(
    `update pending_deliveries set attempts = 1, last_outcome = 'dns-error' where payment_id = $1`,
    [due],
  )
})

const PATHS = { client: '/v1/deliveries', operator: '/operator/v1/deliveries' }

describe('deliveries', () => {
  test('carry the names of client, account and payment, and the digits of the amount', async () => {
    const answer = await get(`${PATHS.operator}?paymentId=${paid}`)
    assert.match(answer.body, /"amount":\{"amount":9007199254740993,"currency":"[A-Z]{3}"\}/)
    const [newest] = answer.json().items
    assert.equal(newest.clientName, 'Northwind Traders')
    assert.equal(newest.accountName, 'Main')
    assert.equal(newest.externalId, 'INV-1')
    assert.equal(newest.paymentState, 'PAID')
    const own = (await get(`${PATHS.client}?paymentId=${paid}`, northwind.headers)).json().items[0]
    assert.equal(own.externalId, 'INV-1')
    assert.equal(own.clientName, undefined)
    const detail = await get(`${PATHS.operator}/${newest.id}`)
    assert.match(detail.body, /"amount":9007199254740993,/)
    assert.equal(detail.json().clientName, 'Northwind Traders')
  })

  test('regression: a payment that was erased has no name and no amount any more', async () => {
    const id = randomUUID()
    await put(contoso, id, 'INV-SECRET', 'DUE', '5.00')
    const erased = await call(server, OPERATOR, 'POST', `/operator/v1/payments/${id}/erase`)
    assert.equal(erased.statusCode, 200, erased.body)
    const { body } = await get(`${PATHS.operator}?paymentId=${id}`)
    assert.ok(!body.includes('INV-SECRET'))
    const [item] = JSON.parse(body).items
    assert.deepEqual([item.externalId, item.amount, item.paymentState], [null, null, null])
    assert.deepEqual((await get('/operator/v1/search?q=INV-SECRET')).json().items, [])
    assert.ok(
      !(await get('/v1/payments', contoso.headers))
        .json()
        .items.some((payment: { id: string }) => payment.id === id),
    )
  })

  test('are found by the external id of their payment, and of the caller alone', async () => {
    const count = async (query: string, headers?: Record<string, string>) =>
      (await get(`${headers ? PATHS.client : PATHS.operator}?${query}`, headers)).json().items
        .length
    assert.equal(await count('externalId=INV-1'), 3)
    assert.equal(await count('externalId=INV-1', northwind.headers), 2)
    assert.equal(await count('externalId=INV-1', contoso.headers), 1)
    assert.equal(await count('externalId=INV', northwind.headers), 0)
    assert.equal(await count(`externalId=INV-1&paymentId=${due}`), 0)
    assert.equal(await count(`externalId=INV-2&paymentId=${due}`), 1)
    assert.equal(await count('externalId=INV-1&outcome=5xx', northwind.headers), 1)
  })

  test('regression: an act on a filter of several names is done to what matches all of them', async () => {
    const wouldCancel = async (filter: object) => {
      const answer = await call(server, OPERATOR, 'POST', `${PATHS.operator}/cancel`, {
        filter,
        dryRun: true,
      })
      assert.equal(answer.statusCode, 200, answer.body)
      return answer.json().wouldCancel
    }
    const [newest] = (await get(`${PATHS.operator}?paymentId=${paid}`)).json().items
    const [other] = (await get(`${PATHS.operator}?paymentId=${due}`)).json().items
    assert.equal(await wouldCancel({ paymentId: paid }), 2)
    for (const one of [{ paymentId: paid }, { externalId: 'INV-1' }, { eventId: newest.eventId }]) {
      assert.equal(await wouldCancel({ ...one, q: newest.id }), 1)
      assert.equal(await wouldCancel({ ...one, q: other.id }), 0)
      assert.equal(await wouldCancel({ ...one, q: randomUUID() }), 0)
    }
    assert.equal(await wouldCancel({ paymentId: paid, eventId: newest.eventId }), 1)
    assert.equal(await wouldCancel({ paymentId: paid, eventId: other.eventId }), 0)
    assert.equal(await wouldCancel({ externalId: 'INV-1', eventId: other.eventId }), 0)
    assert.equal(await wouldCancel({ q: paid, eventId: other.eventId }), 0)
    const listed = await get(`${PATHS.operator}?paymentId=${paid}&q=${newest.id}`)
    assert.equal(listed.json().items.length, 1)
  })

  test('regression: an act on more payments of one external id than a list looks at is refused', async () => {
    // As if as many payments had been accepted: of Contoso all but one, with the name that Northwind has once.
    await pool.query(
      `insert into payments (client_key, id, account_id, sequence, text, accepted_at, changed_at)
       select client_key, gen_random_uuid(), account_id, 1,
         replace(text, '"INV-1"', '"INV-MANY"'), accepted_at, changed_at
       from payments, generate_series(1, 200) where id = $1`,
      [theirs],
    )
    const one = randomUUID()
    await put(northwind, one, 'INV-MANY', 'DUE', '1.00')
    const wouldCancel = (filter: object) =>
      call(server, OPERATOR, 'POST', `${PATHS.operator}/cancel`, { filter, dryRun: true })
    for (const filter of [{ externalId: 'INV-MANY' }, { q: 'INV-MANY' }]) {
      const { detail } = assertProblem(await wouldCancel(filter), 400, 'filter-too-wide')
      assert.match(detail, /More than 200 payments/)
      const { clientId } = northwind
      assert.equal((await wouldCancel({ ...filter, clientId })).json().wouldCancel, 1)
      assert.equal((await wouldCancel({ ...filter, paymentId: one })).json().wouldCancel, 1)
    }
    assert.equal((await get(`${PATHS.operator}?externalId=INV-MANY`)).json().items.length, 1)
    await pool.query(`delete from payments where position('INV-MANY' in text) > 0`)
    await pool.query('delete from pending_deliveries where payment_id = $1', [one])
    await pool.query('delete from events where payment_id = $1', [one])
  })

  test('are found by what the last attempt came to', async () => {
    const of = async (outcome: string, client = northwind) =>
      (await get(`${PATHS.client}?outcome=${outcome}`, client.headers))
        .json()
        .items.map(({ lastOutcome }: { lastOutcome: string | null }) => lastOutcome)
    assert.deepEqual(await of('5xx'), ['answered 503'])
    assert.deepEqual(await of('503'), ['answered 503'])
    assert.deepEqual(await of('4xx,timeout'), [])
    assert.deepEqual(await of('no-address'), ['no-address'])
    assert.deepEqual(await of('none'), [null])
    assert.deepEqual(await of('answered,no-address'), ['no-address', 'answered 503'])
    const all = (await get(`${PATHS.operator}?outcome=dns-error`)).json().items
    assert.equal(all.length, 1)
    for (const outcome of ['dns-error', 'blocked-address', 'late', '']) {
      const url = `${PATHS.client}?outcome=${outcome}`
      const answer = await call(server, northwind.headers, 'GET', url)
      const { errors } = assertProblem(answer, 400, 'invalid-query')
      assert.equal(errors?.[0]?.pointer, '/outcome')
    }
  })
})

describe('the client’s payments', () => {
  const list = async (query = '', client = northwind) =>
    (await get(`/v1/payments${query}`, client.headers)).json()

  test('are listed newest first, with how their deliveries stand', async () => {
    const answer = await get('/v1/payments', northwind.headers)
    assert.match(answer.body, /"amount":\{"amount":7\.10,/)
    const { items, next } = answer.json()
    assert.equal(next, null)
    assert.deepEqual(Object.keys(items[0]), [
      ...['id', 'accountId', 'externalId', 'amount', 'status', 'complete', 'createdAt'],
      ...['changedAt', 'sequence', 'deliveries', 'deliveryState'],
    ])
    const none = { delivered: 0, exhausted: 0, superseded: 0, cancelled: 0 }
    assert.deepEqual(
      items.map((one: Record<string, unknown>) => [one.id, one.sequence, one.deliveries]),
      [
        [due, 1, { pending: 1, ...none }],
        [paid, 2, { pending: 2, ...none }],
      ],
    )
    assert.equal(items[1].deliveryState, 'PENDING')
    assert.deepEqual(items[1].status, { state: 'PAID' })
    assert.equal(items[1].complete, true)
  })

  test('every filter narrows, and the worst state counts', async () => {
    const ids = async (query: string) =>
      (await list(query)).items.map(({ id }: { id: string }) => id)
    assert.deepEqual(await ids('?externalId=INV-1'), [paid])
    assert.deepEqual(await ids('?externalId=INV-9'), [])
    assert.deepEqual(await ids('?state=DUE'), [due])
    assert.deepEqual(await ids('?from=2100-01-01T00:00:00Z'), [])
    assert.deepEqual(await ids('?to=2100-01-01T00:00:00Z'), [due, paid])
    const first = await list('?limit=1')
    assert.deepEqual(
      (await list(`?limit=1&after=${encodeURIComponent(first.next)}`)).items[0].id,
      paid,
    )
    // One of the two updates ends: the other is still owed, and what failed is the worse of the two.
    await pool.query(
      `with gone as (delete from pending_deliveries where payment_id = $1 and sequence = 1 returning *)
       insert into final_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id,
         sequence, kind, created_at, state, attempts, finished_at, last_outcome, last_status)
       select client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, created_at,
         'EXHAUSTED', 1, created_at + interval '1 min', 'answered', 503 from gone`,
      [paid],
    )
    const [item] = (await list('?externalId=INV-1')).items
    assert.equal(item.deliveries.exhausted, 1)
    assert.equal(item.deliveries.pending, 1)
    assert.equal(item.deliveryState, 'EXHAUSTED')
  })

  test('what does not conform is a 400, a wrong account a 403', async () => {
    for (const [query, pointer] of [
      ['?state=LOST', '/state'],
      ['?externalId=', '/externalId'],
      ['?from=yesterday', '/from'],
      ['?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', '/to'],
      ['?after=zzz', '/after'],
    ] as const) {
      const url = `/v1/payments${query}`
      const answer = await call(server, northwind.headers, 'GET', url)
      const { errors } = assertProblem(answer, 400, 'invalid-query')
      assert.equal(errors?.[0]?.pointer, pointer, query)
    }
    const headers = { ...northwind.bearer, accountid: contoso.accountId }
    assertProblem(await call(server, headers, 'GET', '/v1/payments'), 403, 'invalid-account')
  })
})

describe('names', () => {
  const names = async (path: string, member: string) =>
    (await get(`/operator/v1/${path}`))
      .json()
      .content.map((one: Record<string, string>) => one[member])

  test('clients are found by words of their names, in either order', async () => {
    assert.deepEqual(await names('clients?q=north', 'name'), ['Northwind Traders'])
    assert.deepEqual(await names('clients?q=trad%20NORTHW', 'name'), ['Northwind Traders'])
    assert.deepEqual(await names('clients?q=109', 'name'), ['Contoso 109'])
    assert.deepEqual(await names(`clients?q=${contoso.clientId}`, 'name'), ['Contoso 109'])
    assert.deepEqual(await names('clients?q=orthwind', 'name'), [])
    assert.deepEqual(await names('clients?q=%2F%26!%3A*', 'name'), [])
    const sorted = ['Contoso 109', 'Northwind Traders']
    assert.deepEqual(await names('clients?sort=name', 'name'), sorted)
    assert.deepEqual(await names('clients?sort=-name', 'name'), sorted.toReversed())
    assert.deepEqual(await names('clients?sort=-createdAt', 'name'), sorted)
    const { totalElements } = (await get('/operator/v1/clients?q=con&size=1')).json()
    assert.equal(totalElements, 1)
  })

  test('endpoints are sorted by their age or address, or by how long they have failed', async () => {
    const byAddress = await names('endpoints?sort=endpointUrl', 'endpointUrl')
    assert.ok(byAddress.length > 1)
    assert.deepEqual(byAddress, byAddress.toSorted())
    const turned = await names('endpoints?sort=-endpointUrl', 'endpointUrl')
    assert.deepEqual(turned, byAddress.toReversed())
    const byAge = await names('endpoints', 'id')
    assert.deepEqual(await names('endpoints?sort=-createdAt', 'id'), byAge.toReversed())
    const [first, last] = [byAge[0], byAge.at(-1)]
    await pool.query(
      `insert into endpoint_health (client_key, endpoint_id, failing_since)
       select client_key, id, case when id = $1 then now() else now() - interval '1 day' end
       from endpoints where id in ($1, $2)
       on conflict (client_key, endpoint_id) do update set failing_since = excluded.failing_since`,
      [first, last],
    )
    assert.deepEqual((await names('endpoints?sort=failingSince', 'id')).slice(0, 2), [last, first])
    const newest = await names('endpoints?sort=-failingSince', 'id')
    assert.deepEqual(newest.slice(0, 2), [first, last])
    assert.equal(newest.length, byAge.length)
    await pool.query('update endpoint_health set failing_since = null')
    const url = '/operator/v1/endpoints?sort=health'
    assertProblem(await call(server, OPERATOR, 'GET', url), 400, 'invalid-query')
  })

  test('endpoints are found by words of their addresses, and carry their client’s name', async () => {
    assert.deepEqual(await names('endpoints?q=northwind', 'clientName'), ['Northwind Traders'])
    assert.deepEqual(await names('endpoints?q=https%3A%2F%2Fpay.con', 'clientName'), [
      'Contoso 109',
    ])
    assert.deepEqual(await names('endpoints?q=paybell', 'accountName'), ['Main', 'Main'])
    assert.deepEqual(await names('endpoints?q=nobody', 'clientName'), [])
  })
})

describe('the search', () => {
  const find = async (q: string, client?: TestClient) =>
    (
      await get(
        `${client ? '/v1' : '/operator/v1'}/search?q=${encodeURIComponent(q)}`,
        client?.headers,
      )
    ).json().items as { kind: string; id: string; name: string; clientName?: string }[]
  const kinds = async (q: string, client?: TestClient) =>
    (await find(q, client)).map(({ kind, name }) => `${kind} ${name}`)

  test('takes a name, an address and an external id', async () => {
    assert.deepEqual(await kinds('north'), [
      'client Northwind Traders',
      'endpoint https://hooks.northwind.example/paybell',
    ])
    assert.deepEqual(await kinds('INV-1'), ['payment INV-1', 'payment INV-1'])
    assert.deepEqual(await kinds('hooks.northwind.example/pay'), [
      'endpoint https://hooks.northwind.example/paybell',
    ])
    assert.deepEqual(await kinds('main', northwind), ['account Main'])
    assert.deepEqual(await kinds('nothing of that name'), [])
  })

  test('takes the id of anything there is, and nobody finds what is another’s', async () => {
    const { rows } = await pool.query(
      `select d.id, d.event_id, d.endpoint_id from pending_deliveries d where payment_id = $1`,
      [due],
    )
    const [delivery] = rows
    const address = 'https://hooks.northwind.example/paybell'
    const ids: Record<string, string> = {
      [due]: 'payment INV-2',
      [delivery.endpoint_id]: `endpoint ${address}`,
      [northwind.accountId]: 'account Main',
      [delivery.event_id]: 'event payment.created',
      [delivery.id]: `delivery ${address}`,
    }
    for (const [id, found] of Object.entries(ids)) {
      assert.deepEqual(await kinds(id), [found], found)
      assert.deepEqual(await kinds(id.toUpperCase(), northwind), [found], found)
      assert.deepEqual(await kinds(id, contoso), [], found)
      assert.equal((await find(id))[0]?.clientName, 'Northwind Traders')
    }
    assert.deepEqual(await kinds(northwind.clientId), ['client Northwind Traders'])
    assert.deepEqual(await kinds(northwind.clientId, northwind), [])
    assert.deepEqual(await kinds(randomUUID()), [])
    for (const q of ['INV-2', 'northwind', 'Northwind Traders']) {
      assert.deepEqual(await kinds(q, contoso), [], q)
    }
  })

  test('regression: what stays of a client that has moved to another cell is not found here', async () => {
    const gone = await onboard(server, 'Wingtip Toys')
    const asked = ['Wingtip', gone.clientId, gone.accountId]
    for (const q of asked) assert.equal((await find(q)).length, 1, q)
    const mains = (await find('main')).length
    await pool.query(
      `insert into client_moves (client_key, client_id, to_cell, to_address, step, active_endpoints,
         started_at, moved_at)
       values ($1, $2, 7, 'https://cell7.example.com', 'MOVED', '{}', now(), now())`,
      [gone.clientKey, gone.clientId],
    )
    for (const q of asked) assert.deepEqual(await find(q), [], q)
    assert.equal((await find('main')).length, mains - 1)
  })

  test('needs something to look for', async () => {
    for (const url of ['/v1/search', '/v1/search?q=', '/v1/search?q=%20', '/v1/search?q=%00']) {
      const answer = await call(server, northwind.headers, 'GET', url)
      assertProblem(answer, 400, 'invalid-query')
    }
    assertProblem(await server.app.inject({ url: '/v1/search?q=a' }), 401, 'missing-token')
  })
})

describe('the audit', () => {
  test('can be read without the payments, and says what was changed', async () => {
    const send = async (method: 'PATCH' | 'POST', url: string, payload: object) => {
      const answer = await call(server, OPERATOR, method, url, payload)
      assert.ok(answer.statusCode < 300, answer.body)
      return answer.json()
    }
    const { clientId } = await send('POST', '/operator/v1/clients', { name: 'Fabrikam' })
    await send('PATCH', `/operator/v1/clients/${clientId}`, { status: 'DISABLED' })
    await send('PATCH', `/operator/v1/clients/${clientId}`, { status: 'DISABLED' })
    await put(contoso, randomUUID(), 'INV-9', 'DUE', '3.00')
    const all = (await get('/operator/v1/audit?limit=1')).json().items
    assert.equal(all[0].action, 'payment.put')
    assert.deepEqual(Object.keys(all[0]), [
      ...['id', 'at', 'actor', 'action', 'object', 'requestId', 'sealed'],
    ])
    const day = '2026-03-02T00:00:00Z'
    const url = `/operator/v1/audit?from=${day}&to=${day}`
    const never = await call(server, OPERATOR, 'GET', url)
    const { errors } = assertProblem(never, 400, 'invalid-query')
    assert.deepEqual([errors?.[0]?.pointer, errors?.[0]?.code], ['/to', 'not-after-from'])
    const acts = (await get('/operator/v1/audit?paymentWrites=false')).json().items
    assert.deepEqual(
      acts.map(({ action, changes }: Record<string, unknown>) => [action, changes]).slice(0, 3),
      [
        ['client.disable', undefined],
        ['client.disable', [{ field: 'status', before: 'ACTIVE', after: 'DISABLED' }]],
        ['client.create', [{ field: 'name', before: null, after: 'Fabrikam' }]],
      ],
    )
    assert.ok(acts.every(({ action }: { action: string }) => action !== 'payment.put'))
    assert.ok(acts.some(({ action }: { action: string }) => action === 'payment.erase'))
  })
})

describe('the curve of an endpoint', () => {
  test('has a point for each hour, for its owner and the operator, and for no other client', async () => {
    const [endpoint] = (await get('/operator/v1/endpoints?q=northwind')).json().content
    const hour = Math.floor(server.clock.nowMs() / 3_600_000) * 3_600_000
    for (const [ago, attempts, delivered] of [
      [0, 4, 3],
      [30, 9, 9],
      [200, 1, 1],
    ] as const) {
      await pool.query('insert into endpoint_hours values ($1, $2, $3, $4, $5, $6)', [
        ...[northwind.clientKey, endpoint.id, new Date(hour - ago * 3_600_000)],
        ...[attempts, delivered, [0, 0, attempts]],
      ])
    }
    const own = `/v1/webhooks/${endpoint.id}/series`
    const day = (await get(own, northwind.headers)).json()
    assert.equal(day.stepSeconds, 3_600)
    assert.equal(day.points.length, 24)
    const at = new Date(hour).toISOString()
    const point = { attempts: 4, delivered: 3, failed: 1, p50Ms: 2, p95Ms: 2, p99Ms: 2 }
    assert.deepEqual(day.points.at(-1), { at, ...point })
    assert.equal(day.points[0].attempts, 0)
    const week = (await get(`/operator/v1/endpoints/${endpoint.id}/series?window=week`)).json()
    assert.equal(week.points.length, 168)
    const sum = (points: { attempts: number }[]) =>
      points.reduce((total, { attempts }) => total + attempts, 0)
    assert.equal(sum(week.points), 13)
    for (const [url, status, code] of [
      [own, 404, 'not-found'],
      [`/v1/webhooks/${randomUUID()}/series`, 404, 'not-found'],
      [`${own}?window=hour`, 400, 'invalid-query'],
    ] as const) {
      const { headers } = contoso
      assertProblem(await call(server, headers, 'GET', url), status, code)
    }
  })
})
