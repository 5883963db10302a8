// `paybell route` before two cells, in two schemas of one database: each request reaches its cell, lists are those of
// all, and a client that has moved is found. Under load it moves in route-servers.release.test.ts.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, test } from 'node:test'
import { createProducer } from '../../sdk/src/operating/producer.ts'
import { moveClient } from '../../server/operations/clients/move-client.ts'
import { Caller, type SandboxFacts } from '../support/caller.ts'
import { addClient, until } from '../support/paybell.ts'
import { sampleBody } from '../support/payment-sample.ts'
import { startReceiver } from '../support/receiver.ts'
import { routeConfig, startRoute, startTwoCells } from '../support/two-cells.ts'

const t = { after }
const cells = await startTwoCells(t)
const { first, seventh, operatorKey } = cells
const route = await startRoute(
  t,
  routeConfig({ 0: first.baseUrl, 7: seventh.baseUrl }, operatorKey),
)
/** Everyone at the route's address. */
const at = (facts: SandboxFacts): SandboxFacts => ({
  ...facts,
  baseUrl: route.baseUrl,
  operatorKey,
})
const zero = new Caller(at(first))
const seven = new Caller(at(seventh))
const authorization = `Bearer ${operatorKey}`

// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, looked into by the tests
type Body = any

async function ask(path: string, init: RequestInit = {}): Promise<{ status: number; body: Body }> {
  const answer = await fetch(route.baseUrl + path, {
    redirect: 'manual',
    ...init,
    headers: { authorization, ...init.headers },
  })
  const text = await answer.text()
  return { status: answer.status, body: text.startsWith('{') ? JSON.parse(text) : text }
}

describe('each request reaches its cell', () => {
  test('a client by its token, which it gets by its id, as JSON, as a form and as HTTP Basic', async () => {
    for (const [caller, cell] of [
      [zero, first],
      [seven, seventh],
    ] as const) {
      const receiver = `https://example.com/${randomUUID()}`
      assert.equal((await caller.register(receiver, 'a key')).status, 200)
      const { rows } = await cell.pool.query('select 1 from endpoints where url = $1', [receiver])
      assert.equal(rows.length, 1)
      const listed = await caller.webhooks()
      assert.ok(listed.some(({ endpointUrl }) => endpointUrl === receiver))
    }
    const { clientId, clientSecret } = seventh
    const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64')
    for (const [headers, form] of [
      [{}, { client_id: clientId, client_secret: clientSecret }],
      [{ authorization: `Basic ${basic}` }, {}],
    ] as const) {
      const answer = await fetch(`${route.baseUrl}/auth/token`, {
        method: 'POST',
        headers,
        body: new URLSearchParams({ grant_type: 'client_credentials', ...form }),
      })
      assert.equal(answer.status, 200)
    }
  })

  test('a wrong secret, no token, a forged token and an unknown address are refused as by a cell', async () => {
    const token = { clientId: seventh.clientId, clientSecret: 'x'.repeat(43) }
    const headers = { 'content-type': 'application/json' }
    const refused = await fetch(`${route.baseUrl}/auth/token`, {
      method: 'POST',
      headers,
      body: JSON.stringify(token),
    })
    assert.equal(refused.status, 401)
    assert.equal((await fetch(`${route.baseUrl}/v1/webhooks`)).status, 401)
    const forged = { authorization: 'Bearer e30.e30.e30' }
    assert.equal((await fetch(`${route.baseUrl}/v1/webhooks`, { headers: forged })).status, 401)
    assert.equal((await fetch(`${route.baseUrl}/nowhere`)).status, 404)
  })

  test('a payment by its account, and found again by its id wherever it is', async () => {
    for (const [caller, cell] of [
      [zero, first],
      [seven, seventh],
    ] as const) {
      const id = await caller.pay()
      const { rows } = await cell.pool.query('select 1 from payments where id = $1', [id])
      assert.equal(rows.length, 1)
      const found = await ask(`/operator/v1/payments/${id}`)
      assert.deepEqual([found.status, found.body.id], [200, id])
    }
    assert.equal((await ask(`/operator/v1/payments/${randomUUID()}`)).status, 404)
  })

  test('a large body is passed on as it comes', async () => {
    const id = randomUUID()
    const file = Buffer.alloc(2_000_000, 7).toString('base64')
    const document = {
      name: 'a.pdf',
      mediaType: 'application/pdf',
      base64EncodedFile: file,
    }
    const body = sampleBody({ id, document })
    const answer = await seven.putPayment(id, body)
    assert.equal(answer.status, 201, await answer.text())
  })

  test('the operator by an id that tells its cell, and by X-Paybell-Cell where nothing does', async () => {
    const client = await ask(`/operator/v1/clients/${seventh.clientId}`)
    assert.equal(client.body.clientId, seventh.clientId)
    const body = JSON.stringify({ name: 'New' })
    const json = { 'content-type': 'application/json' }
    const unnamed = await ask('/operator/v1/clients', { method: 'POST', headers: json, body })
    assert.deepEqual([unnamed.status, unnamed.body.code], [400, 'cell-required'])
    const headers = { ...json, 'x-paybell-cell': '7' }
    const made = await ask('/operator/v1/clients', { method: 'POST', headers, body })
    assert.equal(made.status, 201)
    assert.match(made.body.clientId, /^.{20}007/)
    const none = await ask('/operator/v1/stats', { headers: { 'x-paybell-cell': '9' } })
    assert.deepEqual([none.status, none.body.code], [400, 'cell-required'])
    assert.equal((await ask('/operator/v1/stats', { headers })).status, 200)
  })
})

describe('lists of the operator', () => {
  test('are those of all cells, newest first, each item once, page by page', async () => {
    const receiver = await startReceiver(t)
    for (const caller of [zero, seven]) await caller.register(receiver.url(), 'a key')
    const ids: string[] = []
    for (let n = 0; n < 7; n++) {
      const id = randomUUID()
      ids.push(id)
      const amount = { amount: 100, currency: 'EUR' }
      await (n % 2 ? zero : seven).putSample(id, { amount })
    }
    await until('all are delivered', () => receiver.received.length >= ids.length)
    for (const list of ['deliveries', 'payments', 'audit'] as const) {
      const seen: Body[] = []
      for (let after: string | null = ''; after !== null; ) {
        const query = `limit=3${after === '' ? '' : `&after=${after}`}`
        const { status, body } = await ask(`/operator/v1/${list}?${query}`)
        assert.equal(status, 200)
        assert.deepEqual(body.cellsAway, [])
        assert.ok(body.items.length <= 3)
        seen.push(...body.items)
        after = body.next
      }
      assert.equal(new Set(seen.map(({ id }) => id)).size, seen.length, `${list}: each once`)
      assert.deepEqual(new Set(seen.map(({ cell }) => cell)), new Set([0, 7]))
      if (list === 'payments') continue
      const order = seen.map(({ id }) => id)
      assert.deepEqual(order, order.toSorted().toReversed(), `${list}: newest first`)
      if (list === 'deliveries') {
        for (const id of ids) assert.ok(seen.some(({ paymentId }) => paymentId === id))
      }
    }
  })

  test('have the totals of all, and a client once', async () => {
    const { body } = await ask('/operator/v1/clients?size=2&page=0')
    assert.equal(body.content.length, 2)
    const all = await ask('/operator/v1/clients?size=100')
    assert.equal(all.body.totalElements, all.body.content.length)
    assert.equal(body.totalElements, all.body.totalElements)
    assert.deepEqual(all.body.content.slice(0, 2), body.content)
    assert.equal((await ask('/operator/v1/clients?size=x')).status, 400)
    assert.equal((await ask('/operator/v1/clients?page=99')).status, 400)
    const narrow = await ask(`/operator/v1/endpoints?clientId=${seventh.clientId}`)
    assert.equal(narrow.body.cellsAway, undefined, 'the answer of one cell')
  })

  test('show amounts as they were written', async () => {
    const id = randomUUID()
    const text = sampleBody({ id })
      .toString()
      .replace(/"amount":[\d.]+/, '"amount":100.00')
    assert.equal((await seven.putPayment(id, Buffer.from(text))).status, 201)
    const answer = await fetch(`${route.baseUrl}/operator/v1/payments?q=${id}`, {
      headers: { authorization },
    })
    assert.match(await answer.text(), /"amount":100\.00/)
  })

  test('are refused for a key that a cell refuses', async () => {
    const headers = { authorization: `Bearer ${'x'.repeat(43)}` }
    assert.equal((await ask('/operator/v1/deliveries', { headers })).status, 401)
    assert.equal((await ask('/operator/v1/cells', { headers })).status, 401)
  })
})

describe('a batch', () => {
  const send = (body: string, key = authorization) =>
    fetch(`${route.baseUrl}/operator/v1/payments/batch`, {
      method: 'POST',
      headers: { authorization: key, 'content-type': 'application/x-ndjson' },
      body,
    })
  const lineOf = (accountId: string, id: string) =>
    JSON.stringify({ accountId, ...JSON.parse(sampleBody({ id }).toString()) })

  test('is split by line, and its answers joined in order', async () => {
    const ids = Array.from({ length: 300 }, () => randomUUID())
    const lines = ids.map((id, n) => lineOf(n % 3 ? first.accountId : seventh.accountId, id))
    lines.splice(100, 0, '', '{"accountId":', lineOf(randomUUID(), randomUUID()))
    const answer = await send(`${lines.join('\n')}\n`)
    assert.equal(answer.status, 200)
    const answers = (await answer.text())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    const numbers = lines.flatMap((line, n) => (line === '' ? [] : [n + 1]))
    assert.deepEqual(
      answers.map(({ line }) => line),
      numbers,
    )
    const good = answers.filter(({ event }) => event?.sequence === 1)
    assert.deepEqual(
      good.map(({ id }) => id),
      ids,
    )
    const codes = answers.flatMap(({ problem }) => problem?.code ?? [])
    assert.deepEqual(codes, ['malformed-json', 'unknown-account'])
    const { rows } = await seventh.pool.query(
      'select count(*)::int from payments where id = any($1)',
      [ids],
    )
    assert.equal(rows[0].count, 100)
  })

  test('is refused whole where every cell refuses it', async () => {
    const body = `${lineOf(first.accountId, randomUUID())}\n${lineOf(seventh.accountId, randomUUID())}\n`
    assert.equal((await send(body, `Bearer ${'x'.repeat(43)}`)).status, 401)
    assert.equal((await send('', `Bearer ${'x'.repeat(43)}`)).status, 401)
    assert.equal((await send('')).status, 200)
  })
})

test('public keys are those of all cells', async () => {
  const { body } = await ask('/.well-known/webhook-keys.json')
  const kids = body.keys.map(({ kid }: Body) => kid)
  for (const { baseUrl } of [first, seventh]) {
    const own = (await (await fetch(`${baseUrl}/.well-known/webhook-keys.json`)).json()) as Body
    assert.ok(kids.includes(own.keys[0].kid))
  }
  const tokens = await ask('/.well-known/jwks.json')
  assert.equal(tokens.body.keys.length, 1, 'the cells share them')
})

test('an operator signs in to all cells at once, a client to its own, and both sign out', async () => {
  const console = { 'x-paybell-console': '1', 'content-type': 'application/json' }
  const signIn = (body: object) =>
    fetch(`${route.baseUrl}/console/session`, {
      method: 'POST',
      headers: console,
      body: JSON.stringify(body),
    })
  const cookieOf = (answer: Response) =>
    answer.headers
      .getSetCookie()
      .map((one) => one.split(';', 1)[0])
      .join('; ')
  const get = (path: string, cookie: string) =>
    fetch(route.baseUrl + path, { headers: { ...console, cookie } })

  const operator = await signIn({ operatorKey })
  assert.equal(operator.status, 204)
  const cookie = cookieOf(operator)
  assert.match(cookie, /paybell_session_0=\S+; paybell_session_7=\S+/)
  const session = (await (await get('/console/session', cookie)).json()) as Body
  assert.equal(session.kind, 'operator')
  const list = (await (await get('/operator/v1/clients', cookie)).json()) as Body
  assert.deepEqual(list.cellsAway, [])
  const half = cookie.split('; ')[0] as string
  const partly = (await (await get('/operator/v1/clients', half)).json()) as Body
  assert.deepEqual(partly.cellsAway, [7], 'no session there')

  const { clientId, clientSecret } = seventh
  const own = cookieOf(await signIn({ clientId, clientSecret }))
  assert.match(own, /^paybell_session_7=\S+$/)
  assert.equal((await get('/v1/webhooks', own)).status, 200)
  assert.equal((await signIn({ operatorKey: 'x'.repeat(43) })).status, 401)
  const out = await fetch(`${route.baseUrl}/console/session`, {
    method: 'DELETE',
    headers: { ...console, cookie },
  })
  assert.equal(out.headers.getSetCookie().length, 2)
  assert.equal((await get('/operator/v1/clients', cookie)).status, 401)
})

test('the SDK’s producer reads the directory, and writes to each cell itself', async () => {
  const origins: string[] = []
  const counting: typeof fetch = (input, init) => {
    const { origin, pathname } = new URL(String(input))
    if (pathname.startsWith('/operator/v1/payments/')) origins.push(origin)
    return fetch(input, init)
  }
  const producer = createProducer({
    baseUrl: route.baseUrl,
    operatorKey,
    fetch: counting,
    directory: {},
  })
  const paymentOf = (facts: SandboxFacts, id: string = randomUUID(), version = 1) => {
    const { document: _, amount, ...payment } = JSON.parse(sampleBody({ id }).toString())
    const text = { ...amount, amount: String(amount.amount) }
    return { ...payment, amount: text, version, accountId: facts.accountId }
  }
  assert.equal((await producer.put(paymentOf(first))).event?.sequence, 1)
  assert.equal((await producer.put(paymentOf(seventh))).event?.sequence, 1)
  assert.deepEqual(origins, [first.baseUrl, seventh.baseUrl])

  // One that has moved since the directory was read is found through the route.
  const moves = await addClient(first, 'Moves away')
  const before = paymentOf(moves)
  await producer.put(before)
  await moveClient({ ...cells.move, clientId: moves.clientId, drainMs: 50 })
  origins.length = 0
  const payments = [paymentOf(first), paymentOf(moves), paymentOf(seventh), paymentOf(moves)]
  const results = await Array.fromAsync(producer.putAll(payments))
  assert.deepEqual(
    results.map(({ id, event }) => [id, event?.sequence]),
    payments.map(({ id }) => [id, 1]),
  )
  assert.deepEqual(new Set(origins), new Set([first.baseUrl, seventh.baseUrl, route.baseUrl]))
  const again = await producer.put({ ...before, version: 2, reference: 'again' })
  assert.equal(again.event?.sequence, 2)
})

describe('a cell that is away', () => {
  test('is a 503 for its own clients, a mark in lists, named by /readyz, and nothing to the others', async () => {
    const gone = createServer()
    await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve))
    const { port } = gone.address() as AddressInfo
    await new Promise((resolve) => gone.close(resolve))
    const config = routeConfig({ 0: first.baseUrl, 7: `http://127.0.0.1:${port}` }, operatorKey)
    const half = await startRoute(t, config)
    const get = (path: string, headers: Record<string, string> = { authorization }) =>
      fetch(half.baseUrl + path, { headers })

    assert.equal((await get('/v1/webhooks', await zero.headers())).status, 200)
    const away = await get('/v1/webhooks', await seven.headers())
    assert.equal(away.status, 503)
    assert.equal(away.headers.get('retry-after'), '2')
    assert.equal(((await away.json()) as Body).code, 'cell-away')

    const list = (await (await get('/operator/v1/deliveries')).json()) as Body
    assert.deepEqual(list.cellsAway, [7])
    assert.ok(list.items.length > 0)
    const unknown = await get(`/operator/v1/payments/${randomUUID()}`)
    assert.equal(unknown.status, 503, 'it may be in the cell that could not be asked')

    const ready = await get('/readyz')
    assert.equal(ready.status, 200)
    const body = (await ready.json()) as Body
    assert.deepEqual(body.cellsAway, [7])
    assert.deepEqual(body.reasons, ['Cell 7 cannot be reached.'])
    const directory = (await (await get('/operator/v1/cells')).json()) as Body
    assert.deepEqual(
      directory.items.map(({ cell, isAway }: Body) => [cell, isAway]),
      [
        [0, false],
        [7, true],
      ],
    )
    assert.equal((await get('/healthz')).status, 200)
    assert.equal((await get('/metrics', {})).status, 401)
    const metrics = await (await get('/metrics')).text()
    assert.match(metrics, /paybell_route_cell_up\{cell="7"\} 0/)
    assert.match(metrics, /paybell_route_cell_up\{cell="0"\} 1/)
    half.drain()
    assert.equal((await get('/readyz')).status, 503)
    assert.equal((await get('/v1/webhooks', await zero.headers())).status, 200, 'it still serves')
  })

  test('two cells in each other’s place are found out', async () => {
    const config = routeConfig({ 0: seventh.baseUrl, 7: first.baseUrl }, operatorKey)
    const swapped = await startRoute(t, config)
    const answer = await fetch(`${swapped.baseUrl}/readyz`)
    assert.equal(answer.status, 503)
    assert.match(await answer.text(), /Cell 0 answers as cell 7/)
  })

  test('more requests than a cell may have under way are turned away', async () => {
    const config = routeConfig({ 0: first.baseUrl, 7: seventh.baseUrl }, operatorKey)
    const narrow = await startRoute(t, config, { requestsMax: 0 })
    const answer = await fetch(`${narrow.baseUrl}/v1/webhooks`, { headers: await zero.headers() })
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '1'])
    // A cell that is busy is not away: the route's own questions for its entry do not count.
    const ready = await fetch(`${narrow.baseUrl}/readyz`)
    assert.deepEqual(await ready.json(), { status: 'ready', cellsAway: [], reasons: [] })
  })
})

test('a client that has moved is served through the route as before, by its new cell', async (context) => {
  const facts = await addClient(first, 'Moves')
  const mover = new Caller(at(facts))
  const receiver = await startReceiver(context)
  await mover.register(receiver.url(), 'a key')
  const moved = randomUUID()
  const write = async (version: number) =>
    (await mover.putSample(moved, { version, reference: `${version}` })).status
  assert.equal(await write(1), 201)
  await moveClient({ ...cells.move, clientId: facts.clientId, drainMs: 50 })
  // The token of before is good in the new cell, because the cells share their keys.
  assert.equal(await write(2), 200)
  await receiver.hasSeen(({ accepted }) => accepted.length === 2)
  assert.deepEqual(receiver.sequences(), [1, 2])
  // What it had is found under the same ids, and the list has it once, in its new cell, as soon as it has moved.
  const { body: list } = await ask(`/operator/v1/clients?q=${facts.clientId}`)
  assert.equal(list.totalElements, 1)
  assert.deepEqual(
    list.content.map(({ cell }: Body) => cell),
    [7],
  )
  // An unknown caller who names it takes no one else with it: the route has this from no cell.
  const payload = Buffer.from(JSON.stringify({ sub: first.clientId })).toString('base64url')
  const forged = await ask('/auth/token', {
    method: 'POST',
    headers: {
      authorization: `Bearer e30.${payload}.e30`,
      accountid: first.accountId,
      'x-paybell-cell': '0',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ clientId: facts.clientId, clientSecret: 'x'.repeat(43) }),
  })
  assert.equal(forged.status, 401, 'by its new cell')
  assert.equal((await zero.get('/v1/webhooks')).status, 200)
  await zero.pay()

  const deliveries = await ask(`/operator/v1/deliveries?clientId=${facts.clientId}&limit=1`)
  const [delivery] = deliveries.body.items
  assert.match(delivery.id, /^.{20}00[07]/)
  assert.equal((await ask(`/operator/v1/deliveries/${delivery.id}`)).status, 200)
})
