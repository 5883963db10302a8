// What the operator sees (decisions §9.2 to §9.5), on the whole service: payments, endpoints, deliveries,
// numbers and the live stream.

import assert from 'node:assert/strict'
import { createHmac, randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { Caller, type SandboxFacts } from '../../../../test/support/caller.ts'
import { endsWithin } from '../../../../test/support/ends-within.ts'
import { addClient, startPaybell, until } from '../../../../test/support/paybell.ts'
import { startReceiver } from '../../../../test/support/receiver.ts'
import { createOperatorKey } from '../../../operations/access/create-operator-key.ts'
import { revokeOperatorKey } from '../../../operations/access/revoke-operator-key.ts'

const paybell = await startPaybell({ after })
const receiver = await startReceiver({ after })
const strangerFacts: SandboxFacts = await addClient(paybell, 'Stranger')
const stranger = new Caller(strangerFacts)
const { caller } = paybell
const operator = { authorization: `Bearer ${paybell.operatorKey}` }

// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, looked into by the tests
type Body = any

async function get(path: string, status = 200): Promise<Body> {
  const answer = await fetch(`${paybell.baseUrl}/operator/v1${path}`, { headers: operator })
  const text = await answer.text()
  assert.equal(answer.status, status, `${path}: ${text}`)
  return JSON.parse(text)
}

const delivered = randomUUID()
const refused = randomUUID()
const foreign = randomUUID()
const KEY = 'key-of-the-webhook'
const EXCERPT = '<script>alert("x")</script>\u0000 no'
const THANKS = `<b>thanks</b> ${'!'.repeat(1_000)}`

before(async () => {
  receiver.answer = ({ body }, response) => {
    const { id, status } = JSON.parse(body.toString())
    if (id !== refused && status.state !== 'PAID') return 200
    if (id !== refused) response.writeHead(200).end(THANKS)
    else response.writeHead(503).end(EXCERPT)
  }
  await caller.register(receiver.url(), KEY)
  const extra = { headerKey: 'Authorization', headerValue: 'Basic c2VjcmV0' }
  await stranger.subscribe({ callbackUrl: receiver.url('/all'), sharedKey: KEY, ...extra })
  await caller.update(delivered, { externalId: 'EXT "1"', status: { state: 'DUE' } })
  await caller.update(delivered, { externalId: 'EXT "1"', status: { state: 'PAID' } })
  await caller.update(refused, { externalId: 'EXT-2', status: { state: 'DUE' } })
  await stranger.update(foreign, { externalId: 'EXT-3', status: { state: 'CANCELLED' } })
  await until('what can be delivered is', async () => {
    const { rows } = await paybell.pool.query(`select
        (select count(*)::int from final_deliveries) as ended,
        (select count(*)::int from pending_deliveries where attempts > 0) as failed`)
    return rows[0].ended === 3 && rows[0].failed === 1
  })
})

const idsOf = (page: Body) => page.items.map((item: Body) => item.id)

describe('payments', () => {
  test('are listed newest first, and every filter narrows', async () => {
    assert.deepEqual(idsOf(await get('/payments')), [foreign, refused, delivered])
    const [newest, middle] = (await get('/payments')).items
    assert.equal(newest.clientId, strangerFacts.clientId)
    for (const [query, expected] of [
      [`?clientId=${paybell.clientId}`, [refused, delivered]],
      [`?accountId=${strangerFacts.accountId}`, [foreign]],
      [`?clientId=${paybell.clientId}&accountId=${strangerFacts.accountId}`, []],
      ['?state=PAID', [delivered]],
      ['?state=PENDING_APPROVAL', []],
      ['?externalId=EXT-2', [refused]],
      [`?externalId=${encodeURIComponent('EXT "1"')}`, [delivered]],
      [`?externalId=${encodeURIComponent('EXT ')}`, []],
      ['?externalId=EXT', []],
      [`?q=${encodeURIComponent('EXT "1"')}`, [delivered]],
      [`?q=${refused.toUpperCase()}`, [refused]],
      [`?q=${randomUUID()}`, []],
      [`?clientId=${randomUUID()}`, []],
      ['?from=2100-01-01T00:00:00Z', []],
      ['?to=2020-01-01T00:00:00Z', []],
      ['?from=2020-01-01T00:00:00Z&state=DUE', [refused]],
    ] as const) {
      assert.deepEqual(idsOf(await get(`/payments${query}`)), expected, query)
    }
    assert.match(middle.externalId, /EXT-2/)
  })

  test('a cursor leads through all of them', async () => {
    const seen: string[] = []
    let path = '/payments?limit=1'
    for (;;) {
      const page = await get(path)
      seen.push(...idsOf(page))
      if (page.next === null) break
      path = `/payments?limit=1&after=${page.next}`
    }
    assert.deepEqual(seen, [foreign, refused, delivered])
  })

  test('its events tell what became of each at every endpoint', async () => {
    const { items } = await get(`/payments/${delivered}/events`)
    assert.deepEqual(
      items.map((item: Body) => [item.event, item.sequence, item.deliveries.length]),
      [
        ['payment.paid', 2, 1],
        ['payment.created', 1, 1],
      ],
    )
    const [{ deliveries }] = items
    assert.deepEqual(Object.keys(deliveries[0]), ['id', 'endpointId', 'endpointUrl', 'state'])
    assert.equal(deliveries[0].state, 'DELIVERED')
    const owed = await get(`/payments/${refused}/events`)
    assert.equal(owed.items[0].deliveries[0].state, 'PENDING')
  })

  test('what does not conform is a 400 that says where', async () => {
    for (const [query, pointer] of [
      ['?state=LOST', '/state'],
      ['?clientId=x', '/clientId'],
      ['?from=x', '/from'],
      ['?from=2026-03-02T09:30:00Z&to=2026-03-01T09:30:00Z', '/to'],
      ['?externalId=', '/externalId'],
      ['?after=x', '/after'],
    ] as const) {
      const problem = await get(`/payments${query}`, 400)
      assert.deepEqual(
        problem.errors.map((error: Body) => error.pointer),
        [pointer],
        query,
      )
    }
  })
})

describe('deliveries', () => {
  test('of all clients, newest first, and every filter narrows', async () => {
    const { items, next } = await get('/deliveries')
    assert.equal(next, null)
    assert.deepEqual(
      items.map((item: Body) => [item.paymentId, item.state]),
      [
        [foreign, 'DELIVERED'],
        [refused, 'PENDING'],
        [delivered, 'DELIVERED'],
        [delivered, 'DELIVERED'],
      ],
    )
    const [theirs, owed, paid] = items
    assert.equal(theirs.clientId, strangerFacts.clientId)
    assert.equal(theirs.accountId, strangerFacts.accountId)
    for (const [query, expected] of [
      [`?clientId=${paybell.clientId}`, 3],
      [`?accountId=${strangerFacts.accountId}`, 1],
      [`?clientId=${randomUUID()}`, 0],
      [`?clientId=${paybell.clientId}&accountId=${strangerFacts.accountId}`, 0],
      [`?endpointId=${owed.endpointId}`, 3],
      [`?endpointId=${randomUUID()}`, 0],
      ['?state=PENDING', 1],
      ['?state=DELIVERED', 3],
      ['?state=EXHAUSTED,CANCELLED', 0],
      [`?paymentId=${delivered}`, 2],
      ['?event=payment.paid', 1],
      ['?event=payment.created', 3],
      [`?eventId=${paid.eventId}`, 1],
      [`?q=${delivered}`, 2],
      [`?q=${paid.eventId}`, 1],
      [`?q=${paid.id}`, 1],
      [`?q=${owed.id}`, 1],
      ['?q=EXT-2', 1],
      [`?q=${encodeURIComponent('EXT "1"')}&event=payment.paid`, 1],
      ['?q=EXT-none', 0],
      [`?q=${randomUUID()}`, 0],
      [`?from=${owed.createdAt}&to=${theirs.createdAt}`, 1],
      ['?limit=2', 2],
    ] as const) {
      assert.equal((await get(`/deliveries${query}`)).items.length, expected, query)
    }
  })

  test('what does not conform is a 400 that says where', async () => {
    for (const [query, pointer] of [
      ['?event=payment.lost', '/event'],
      ['?accountId=x', '/accountId'],
      ['?eventId=x', '/eventId'],
      ['?q=', '/q'],
      [`?q=${'x'.repeat(257)}`, '/q'],
      ['?after=eA', '/after'],
    ] as const) {
      const problem = await get(`/deliveries${query}`, 400)
      assert.deepEqual(
        problem.errors.map((error: Body) => error.pointer),
        [pointer],
        query,
      )
    }
  })

  test('one shows what was sent: the signatures are those that the receiver got', async () => {
    const [item] = (await get(`/deliveries?paymentId=${delivered}&event=payment.paid`)).items
    const one = await get(`/deliveries/${item.id}`)
    const received = receiver.received.find(({ headers }) => headers['webhook-id'] === item.eventId)
    const sent = Object.fromEntries(
      one.request.headers.map(({ name, value }: Body) => [name.toLowerCase(), value]),
    )
    for (const name of [
      'x-paybell-hmac',
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
      'x-paybell-event',
      'x-paybell-sequence',
      'x-paybell-attempt',
      'traceparent',
      'content-type',
      'user-agent',
    ]) {
      assert.equal(sent[name], received?.headers[name], name)
    }
    assert.equal(one.request.url, receiver.url())
    assert.equal(one.request.bodyBytes, received?.body.length)
    const { document } = JSON.parse(one.request.body)
    assert.deepEqual(Object.keys(document), ['mediaType', 'name'])
    assert.deepEqual(one.signatureInputs, {
      algorithm: 'SHA_256',
      headers: [
        { name: 'X-Paybell-Hmac', signed: 'body', encoding: 'hex' },
        {
          name: 'webhook-signature',
          signed: 'webhook-id.webhook-timestamp.body',
          encoding: 'v1,base64',
        },
      ],
      webhookId: item.eventId,
      timestamp: Number(received?.headers['webhook-timestamp']),
      keys: 1,
    })
    assert.deepEqual(one.response, { status: 200, excerpt: THANKS.slice(0, 256) })
    assert.match(one.explanation, /^Delivered: the endpoint answered 200 to the first attempt/)
    const answer = await fetch(paybell.baseUrl + one.request.bodyUrl, { headers: operator })
    const body = Buffer.from(await answer.arrayBuffer())
    assert.deepEqual(body, received?.body)
    assert.equal(createHmac('sha256', KEY).update(body).digest('hex'), sent['x-paybell-hmac'])
  })

  test('after a rotation the signatures are still those of the time', async () => {
    const [item] = (await get(`/deliveries?paymentId=${delivered}&event=payment.created`)).items
    const before = await get(`/deliveries/${item.id}`)
    assert.deepEqual(before.response, { status: 200, excerpt: null }, 'its body was empty')
    await caller.register(receiver.url(), 'another-key')
    const after = await get(`/deliveries/${item.id}`)
    assert.deepEqual(after.request, before.request)
    await caller.register(receiver.url(), KEY)
  })

  test('an answer that was no 200 is shown as text, and the subscription’s header is masked', async () => {
    const [owed] = (await get(`/deliveries?paymentId=${refused}`)).items
    const one = await get(`/deliveries/${owed.id}`)
    assert.deepEqual(one.response, { status: 503, excerpt: EXCERPT })
    assert.equal(one.attemptLog[0].excerpt, EXCERPT)
    const [theirs] = (await get(`/deliveries?clientId=${strangerFacts.clientId}`)).items
    const answer = await fetch(`${paybell.baseUrl}/operator/v1/deliveries/${theirs.id}`, {
      headers: operator,
    })
    const text = await answer.text()
    assert.ok(!text.includes('c2VjcmV0'))
    const masked = JSON.parse(text).request.headers.find(
      ({ name }: Body) => name === 'Authorization',
    )
    assert.equal(masked.value, '•••')
  })

  test('what is unknown is a 404', async () => {
    for (const path of ['/deliveries/', '/endpoints/', '/payments/']) {
      for (const id of [randomUUID(), 'x']) await get(path + id, 404)
    }
    await get(`/events/${randomUUID()}/body`, 404)
    await get(`/payments/${randomUUID()}/events`, 404)
  })
})

describe('endpoints', () => {
  test('of all clients with their health, and every filter narrows', async () => {
    const page = await until('health is written', async () => {
      const found = await get('/endpoints')
      const isTold = ({ health }: Body) => health.successRate24h !== null
      // Health is written once a second: the refusal may show later than the success before it.
      const hasFailed = ({ health }: Body) => health.lastError !== null
      return found.content.every(isTold) && found.content.some(hasFailed) && found
    })
    assert.equal(page.totalElements, 2)
    const [webhook, subscription] = page.content
    assert.equal(webhook.kind, 'webhook')
    assert.equal(webhook.accountId, paybell.accountId)
    assert.equal(webhook.health.lastError, 'answered 503')
    assert.equal(webhook.health.pending, 1)
    assert.deepEqual(
      subscription.hours.map(({ delivered }: Body) => delivered),
      [subscription.hours[0].attempts],
      'its only hour so far',
    )
    assert.equal(subscription.accountId, null)
    assert.equal(subscription.health.successRate24h, 1)
    assert.deepEqual(Object.keys(webhook.health), [
      ...['failingSince', 'lastSuccessAt', 'lastError', 'pending', 'circuit'],
      ...['nextProbeAt', 'successRate24h', 'p95Ms'],
    ])
    for (const [query, expected] of [
      [`?clientId=${paybell.clientId}`, 1],
      [`?accountId=${paybell.accountId}`, 1],
      ['?kind=subscription', 1],
      ['?status=ACTIVE', 2],
      ['?status=DISABLED', 0],
      ['?failing=true', 1],
      ['?failing=false', 1],
      ['?failing=true&kind=subscription', 0],
      ['?size=1', 1],
      ['?page=7', 0],
    ] as const) {
      assert.equal((await get(`/endpoints${query}`)).content.length, expected, query)
    }
    for (const query of ['?failing=perhaps', '?kind=x', '?status=x', '?clientId=x', '?size=0']) {
      await get(`/endpoints${query}`, 400)
    }
    // The engine tries it again between the two answers, so the figures may differ once or twice.
    await until('one reads as in the list', async () => {
      const [listed] = (await get('/endpoints?kind=webhook')).content
      return isDeepStrictEqual(await get(`/endpoints/${webhook.id}`), listed)
    })
  })

  test('the operator pauses and resumes one, and each call leaves its row in the audit', async () => {
    const [webhook] = (await get('/endpoints?kind=webhook')).content
    const patch = async (status: string) => {
      const answer = await fetch(`${paybell.baseUrl}/operator/v1/endpoints/${webhook.id}`, {
        method: 'PATCH',
        headers: { ...operator, 'content-type': 'application/json' },
        body: JSON.stringify({ status }),
      })
      return { status: answer.status, body: (await answer.json()) as Body }
    }
    assert.equal((await patch('PAUSED')).body.status, 'PAUSED')
    const [owed] = (await get(`/deliveries?paymentId=${refused}`)).items
    assert.match(
      (await get(`/deliveries/${owed.id}`)).explanation,
      /The endpoint has been paused since (\d+ \w+ )?\d\d:\d\d:\d\d UTC\. Nothing is lost/,
    )
    assert.equal((await patch('DISABLED')).status, 400)
    assert.equal((await patch('ACTIVE')).body.status, 'ACTIVE')
    const { items } = await get('/audit')
    assert.deepEqual(
      items
        .filter(({ object }: Body) => object === `endpoint:${webhook.id}`)
        .map(({ action }: Body) => action),
      ['endpoint.resume', 'endpoint.pause'],
    )
  })
})

describe('numbers', () => {
  test('deliveries by state are exact, and the curve shows the attempts', async () => {
    const stats = await until('the attempts are written down', async () => {
      const found = await get('/stats')
      const attempts = found.series.points.reduce((sum: number, p: Body) => sum + p.attempts, 0)
      return attempts >= 4 && found.troubled.length === 1 && found
    })
    const { PENDING, DELIVERED, ...rest } = stats.deliveries
    assert.deepEqual({ PENDING, DELIVERED }, { PENDING: 1, DELIVERED: 3 })
    assert.deepEqual(rest, { EXHAUSTED: 0, SUPERSEDED: 0, CANCELLED: 0 })
    const { due, scheduled, paused } = stats.pending
    assert.equal(due + scheduled + paused, 1)
    assert.equal(stats.series.points.length, 60)
    // By delivery: how many attempts it took does not count.
    const delivered = stats.days.reduce((sum: number, day: Body) => sum + day.delivered, 0)
    assert.equal(delivered, 3)
    assert.deepEqual(Object.keys(stats.days[0]), [
      ...['day', 'delivered', 'exhausted', 'superseded', 'cancelled'],
    ])
    assert.equal(typeof stats.troubled[0].clientName, 'string')
    const busy = stats.series.points.filter((point: Body) => point.attempts > 0)
    assert.ok(busy.every((point: Body) => point.failed === point.attempts - point.delivered))
    assert.ok(busy.every((point: Body) => point.p50Ms > 0 && point.p99Ms >= point.p50Ms))
    assert.equal(stats.processes.length, 1)
    assert.equal(stats.processes[0].shards.length, 64)
    const [troubled] = stats.troubled
    assert.equal(troubled.lastError, 'answered 503')
    assert.equal(troubled.endpointUrl, receiver.url())
    assert.equal(stats.pendingByDue[0].from, null)
    assert.equal(stats.pendingByDue.at(-1).to, null)
    assert.equal((await get('/stats?window=day')).series.points.length, 96)
    assert.equal((await get('/stats?window=week')).series.points.length, 168)
    await get('/stats?window=year', 400)
  })

  test('a replay takes its delivery out of the count, and brings it back in', async () => {
    const [item] = (await get(`/deliveries?clientId=${strangerFacts.clientId}`)).items
    const answer = await fetch(`${paybell.baseUrl}/operator/v1/deliveries/${item.id}/replay`, {
      method: 'POST',
      headers: operator,
    })
    assert.equal(answer.status, 202)
    await until('it is delivered again', async () => {
      const { state, attempts } = await get(`/deliveries/${item.id}`)
      return state === 'DELIVERED' && attempts === 2
    })
    assert.equal((await get('/stats')).deliveries.DELIVERED, 3)
  })
})

describe('the stream', () => {
  test('tells what is accepted and attempted, as it happens', async () => {
    const aborter = new AbortController()
    const answer = await fetch(`${paybell.baseUrl}/operator/v1/stream`, {
      headers: operator,
      signal: aborter.signal,
    })
    assert.equal(answer.status, 200)
    assert.match(answer.headers.get('content-type') ?? '', /^text\/event-stream/)
    const id = randomUUID()
    let text = ''
    const reading = (async () => {
      const decoder = new TextDecoder()
      for await (const chunk of answer.body ?? []) {
        text += decoder.decode(chunk, { stream: true })
        if (text.includes('event: accepted') && /event: attempt\ndata: .*"attempt":1,/.test(text))
          return
      }
    })()
    await stranger.update(id, { externalId: 'EXT-9', status: { state: 'DUE' } })
    await reading
    const events = [...text.matchAll(/event: (\w+)\ndata: (.+)\n/g)].map(([, name, data]) => ({
      name,
      data: JSON.parse(data as string),
    }))
    const accepted = events.find(({ name }) => name === 'accepted')?.data
    assert.deepEqual(Object.keys(accepted), [
      ...['eventId', 'paymentId', 'accountId', 'sequence', 'deliveries', 'event', 'at'],
    ])
    assert.equal(accepted.paymentId, id)
    assert.equal(accepted.deliveries, 1)
    const attempt = events.find(({ data }) => data.deliveryId && data.eventId === accepted.eventId)
    assert.deepEqual(Object.keys(attempt?.data), [
      ...['deliveryId', 'eventId', 'endpointId', 'attempt', 'outcome', 'status', 'at'],
    ])
    assert.equal(attempt?.data.status, 200)
    aborter.abort()
  })

  test('ends with the key, or the session, that it was opened with', async () => {
    const { deps } = paybell.app
    const { id, key } = await createOperatorKey(deps, { name: 'watcher', role: 'viewer' })
    const post = await fetch(`${paybell.baseUrl}/console/session`, {
      method: 'POST',
      headers: { 'x-paybell-console': '1', 'content-type': 'application/json' },
      body: JSON.stringify({ operatorKey: key }),
    })
    const [cookie = ''] = (post.headers.get('set-cookie') ?? '').split(';')
    const credentials = [{ authorization: `Bearer ${key}` }, { cookie, 'x-paybell-console': '1' }]
    const open = await Promise.all(
      credentials.map((headers) => fetch(`${paybell.baseUrl}/operator/v1/stream`, { headers })),
    )
    assert.deepEqual(
      open.map(({ status }) => status),
      [200, 200],
    )
    await revokeOperatorKey(deps, id)
    // Cut off, not ended: there was no last word.
    for (const stream of open) await assert.rejects(stream.text())
  })

  test('is for operators alone, and does not hold up the stop of the service', async () => {
    assert.equal((await fetch(`${paybell.baseUrl}/operator/v1/stream`)).status, 401)
    const answer = await fetch(`${paybell.baseUrl}/operator/v1/stream`, { headers: operator })
    // A stop that waits for the stream would go on for two minutes and then fail.
    await endsWithin(30_000, () => paybell.stop())
    await answer.text().catch(() => '')
  })
})
