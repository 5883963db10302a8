// /v1/webhooks (decisions, Webhooks; reliability T1 to T6, O6).

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { cloneDatabase } from '../../../../test/support/database.ts'
import {
  addEndpoint,
  call,
  patchEndpoint,
  postEndpoint,
  SUBSCRIPTIONS,
} from '../../../../test/support/injected-calls.ts'
import {
  assertProblem,
  onboard,
  serveHttp,
  type TestClient,
  type TestServer,
  withoutRequestId,
} from '../../../../test/support/injected-server.ts'
import { shardOf } from '../../../core/delivery/endpoint.ts'
import { openAccount } from '../../../operations/clients/open-account.ts'
import { sealedFor } from '../../../store/secrets/endpoint-secrets.ts'

const { pool } = await cloneDatabase()
/** For tests that ask nothing of it but what became of their own client. */
const server = await serveHttp({ after }, pool)
const KEY = 'a-shared-key-of-some-length'

function list(server: TestServer, client: TestClient, query = '') {
  return call(server, client.headers, 'GET', `/v1/webhooks/list${query}`)
}

async function addWebhook(server: TestServer, client: TestClient, url = 'https://example.com/a') {
  return (await addEndpoint(server, client, { callbackUrl: url, sharedKey: KEY })).id
}

function inAccount({ bearer }: TestClient, accountid: string) {
  return { headers: { ...bearer, accountid } }
}

async function rowOf(id: string) {
  const { rows } = await pool.query('select * from endpoints where id = $1', [id])
  return rows[0]
}

test('registration answers 200 with an empty body and Content-Length 0', async () => {
  const client = await onboard(server)
  const body = { callbackUrl: 'https://example.com/hook', sharedKey: KEY }
  const answer = await postEndpoint(server, client, body)
  assert.equal(answer.statusCode, 200)
  assert.equal(answer.body, '')
  assert.equal(answer.headers['content-length'], '0')
})

test('the list shows id, endpointUrl, hmacHeaderName, algorithm and status, and nothing secret', async () => {
  const client = await onboard(server)
  const url = 'HTTPS://Example.com:443/a/../Hook?q=1'
  const id = await addWebhook(server, client, url)
  const page = (await list(server, client)).json()
  assert.deepEqual(page, {
    content: [
      {
        id,
        endpointUrl: url,
        hmacHeaderName: 'X-Paybell-Hmac',
        algorithm: 'SHA_256',
        status: 'ACTIVE',
      },
    ],
    totalPages: 1,
    totalElements: 1,
    size: 20,
    number: 0,
  })
})

test('no webhook: an empty page of no pages', async () => {
  const client = await onboard(server)
  assert.deepEqual((await list(server, client)).json(), {
    content: [],
    totalPages: 0,
    totalElements: 0,
    size: 20,
    number: 0,
  })
})

test('T6: paging takes whole numbers only, clamps size to 100, and a page past the end is empty', async () => {
  const client = await onboard(server)
  for (const path of ['a', 'b', 'c', 'd', 'e']) {
    await addWebhook(server, client, `https://example.com/${path}`)
    server.clock.advance(1)
  }
  const urls = (page: { content: { endpointUrl: string }[] }) =>
    page.content.map((item) => item.endpointUrl.slice(-1)).join('')
  const second = (await list(server, client, '?page=1&size=2')).json()
  assert.equal(urls(second), 'cd')
  assert.deepEqual([second.totalPages, second.totalElements, second.number], [3, 5, 1])
  assert.equal((await list(server, client, '?size=1000')).json().size, 100)
  assert.equal((await list(server, client, '?size=100&other=1&page=0')).statusCode, 200)
  const far = (await list(server, client, '?page=1000000000')).json()
  assert.deepEqual([far.content, far.totalElements, far.number], [[], 5, 1_000_000_000])
  assert.equal((await list(server, client, '?page=999999999999999&size=100')).statusCode, 200)

  for (const [query, pointer] of [
    ['page=-1', '/page'],
    ['size=0', '/size'],
    ['size=-5', '/size'],
    ['page=abc', '/page'],
    ['page=1.5', '/page'],
    ['size=0x10', '/size'],
    ['page=1e9', '/page'],
    ['page=', '/page'],
    ['page', '/page'],
    ['page=+1', '/page'],
    ['page=%201', '/page'],
    ['page=0&page=1', '/page'],
    ['size=20&size=20', '/size'],
    ['page=9007199254740993', '/page'],
    ['page=%00', '/page'],
    ['page=٣', '/page'],
    ['page=null', '/page'],
  ] as const) {
    const problem = assertProblem(await list(server, client, `?${query}`), 400, 'invalid-query')
    assert.deepEqual(
      problem.errors?.map((error) => error.pointer),
      [pointer],
      query,
    )
  }
  const both = assertProblem(await list(server, client, '?page=x&size=y'), 400, 'invalid-query')
  assert.equal(both.errors?.length, 2)
})

test('lists are in order of creation, then of id', async () => {
  const client = await onboard(server)
  const made: string[] = []
  for (let at = 0; at < 6; at++) {
    made.push(await addWebhook(server, client, `https://example.com/${at}`))
    if (at >= 3) server.clock.advance(1)
  }
  const listed = (await list(server, client)).json().content.map((item: { id: string }) => item.id)
  assert.deepEqual(listed, [...made.slice(0, 4).sort(), ...made.slice(4)])
})

test('the same address again, however it is spelled, rotates the key and makes no copy', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const id = await addWebhook(server, client, 'https://example.com/hook')
  const before = await rowOf(id)
  server.clock.advance(10)
  const again = await postEndpoint(server, client, {
    callbackUrl: 'HTTPS://EXAMPLE.com:443/hook',
    sharedKey: 'another-key',
  })
  assert.equal(again.statusCode, 200)
  const { content } = (await list(server, client)).json()
  assert.deepEqual(
    content.map((item: { id: string; endpointUrl: string }) => [item.id, item.endpointUrl]),
    [[id, 'https://example.com/hook']],
  )
  const after = await rowOf(id)
  const { sealer } = server.deps
  const open = (column: 'shared_key' | 'previous_key') =>
    sealer.open(after[column], sealedFor(column, after)).toString()
  assert.equal(open('shared_key'), 'another-key')
  assert.equal(open('previous_key'), KEY)
  assert.equal(after.previous_key_until.getTime(), server.clock.nowMs() + 86_400_000)
  assert.equal(before.previous_key, null)
  assert.equal(after.shard, shardOf(id))
  assert.deepEqual(server.notices, Array(2).fill(`${client.clientKey} ${id} ${shardOf(id)}`))
})

test('the same key again keeps the overlap that is running', async () => {
  const client = await onboard(server)
  const id = await addWebhook(server, client)
  await postEndpoint(server, client, { callbackUrl: 'https://example.com/a', sharedKey: 'key two' })
  const rotated = await rowOf(id)
  server.clock.advance(60)
  await postEndpoint(server, client, { callbackUrl: 'https://example.com/a', sharedKey: 'key two' })
  const same = await rowOf(id)
  assert.deepEqual(same.previous_key, rotated.previous_key)
  assert.deepEqual(same.previous_key_until, rotated.previous_key_until)
  assert.deepEqual(same.shared_key, rotated.shared_key)
})

test('the overlap of two keys runs on the scaled clock', async (t) => {
  const server = await serveHttp(t, pool, { env: { PAYBELL_TIME_SCALE: '1000' } })
  const client = await onboard(server)
  const id = await addWebhook(server, client)
  await postEndpoint(server, client, { callbackUrl: 'https://example.com/a', sharedKey: 'key two' })
  const { previous_key_until: until } = await rowOf(id)
  assert.equal(until.getTime(), server.clock.nowMs() + 86_400)
})

test('a damaged stored key does not stop its replacement', async () => {
  const client = await onboard(server)
  const id = await addWebhook(server, client)
  await pool.query("update endpoints set shared_key = 'x' where id = $1", [id])
  const body = { callbackUrl: 'https://example.com/a', sharedKey: 'key two' }
  assert.equal((await postEndpoint(server, client, body)).statusCode, 200)
  assert.equal((await rowOf(id)).previous_key, null)
})

test('registering a paused address again rotates its key and leaves it paused', async () => {
  const client = await onboard(server)
  const id = await addWebhook(server, client)
  await change(server, client, id, 'PAUSED')
  await postEndpoint(server, client, { callbackUrl: 'https://example.com/a', sharedKey: 'key two' })
  const { content } = (await list(server, client)).json()
  assert.deepEqual([content[0].id, content[0].status], [id, 'PAUSED'])
})

test('D1: equal keys are stored sealed and different', async () => {
  const client = await onboard(server)
  const [one, two] = [
    await rowOf(await addWebhook(server, client, 'https://example.com/1')),
    await rowOf(await addWebhook(server, client, 'https://example.com/2')),
  ]
  assert.notDeepEqual(one.shared_key, two.shared_key)
  assert.ok(!one.shared_key.includes(KEY))
})

test('all wrong fields are reported at once, each with a pointer and a code', async () => {
  const client = await onboard(server)
  const faults = async (body: object) => {
    const problem = assertProblem(await postEndpoint(server, client, body), 400, 'invalid-fields')
    return problem.errors?.map(({ pointer, code }) => `${pointer} ${code}`)
  }
  assert.deepEqual(await faults({}), ['/callbackUrl missing', '/sharedKey missing'])
  assert.deepEqual(await faults({ callbackUrl: 5, sharedKey: null }), [
    '/callbackUrl wrong-type',
    '/sharedKey wrong-type',
  ])
  assert.deepEqual(await faults({ callbackUrl: 'http://example.com', sharedKey: '   ' }), [
    '/callbackUrl https-required',
    '/sharedKey blank',
  ])
  assert.deepEqual(await faults({ callbackUrl: 'https://10.0.0.1/', sharedKey: 'a\0b' }), [
    '/callbackUrl non-public-address',
    '/sharedKey control-character',
  ])
  assert.deepEqual(
    await faults({ callbackUrl: `https://a.b/${'x'.repeat(2048)}`, sharedKey: 'k'.repeat(257) }),
    ['/callbackUrl too-long', '/sharedKey too-long'],
  )
  assert.deepEqual(await faults({ webhookUrl: 'https://example.com/', sharedKey: KEY }), [
    '/callbackUrl missing',
  ])
  assert.deepEqual(await faults([]), [' wrong-type'])
})

test('no refusal repeats what was sent', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const answer = await postEndpoint(server, client, {
    callbackUrl: 'http://canary-host.test/?canary-query',
    sharedKey: `canary-key${'x'.repeat(300)}`,
  })
  assertProblem(answer, 400, 'invalid-fields')
  assert.doesNotMatch(answer.body, /canary/)
  assert.doesNotMatch(server.log.join(''), /canary/)
})

test('production asks for https and 16 characters, the sandbox allows loopback and 1', async (t) => {
  const sandbox = await serveHttp(t, pool)
  const tester = await onboard(sandbox)
  const local = { callbackUrl: 'http://127.0.0.1:9000/hook', sharedKey: 'k' }
  assert.equal((await postEndpoint(sandbox, tester, local)).statusCode, 200)
  const production = await serveHttp(t, pool, { mode: 'production' })
  const client = await onboard(production)
  const problem = assertProblem(
    await postEndpoint(production, client, local),
    400,
    'invalid-fields',
  )
  assert.deepEqual(
    problem.errors?.map((error) => error.code),
    ['https-required', 'too-short'],
  )
  const short = { callbackUrl: 'https://example.com/', sharedKey: 'k'.repeat(15) }
  assertProblem(await postEndpoint(production, client, short), 400, 'invalid-fields')
  const enough = { callbackUrl: 'https://example.com/', sharedKey: 'k'.repeat(16) }
  assert.equal((await postEndpoint(production, client, enough)).statusCode, 200)
})

test('T1: a missing, malformed, unknown, foreign or repeated AccountId is 403, one and the same', async () => {
  const [client, other] = [await onboard(server), await onboard(server, 'Other')]
  const wrong = [
    undefined,
    '',
    'abc',
    '00000000-0000-0000-0000-000000000000',
    randomUUID(),
    other.accountId,
    [client.accountId, client.accountId],
    `${client.accountId} `.padStart(60),
    'x'.repeat(10_000),
    "' or 1=1 --",
  ]
  const bodies = new Set<string>()
  for (const accountid of wrong) {
    const headers = { authorization: client.headers.authorization, accountid }
    for (const [method, url] of [
      ['POST', '/v1/webhooks/register'],
      ['GET', '/v1/webhooks/list'],
      ['GET', '/v1/webhooks'],
      ['GET', `/v1/webhooks/${randomUUID()}`],
      ['DELETE', `/v1/webhooks/${randomUUID()}`],
    ] as const) {
      const isOptional = url !== '/v1/webhooks/register' && url !== '/v1/webhooks/list'
      if (accountid === undefined && isOptional) continue
      const payload =
        method === 'POST' ? { callbackUrl: 'https://example.com/', sharedKey: KEY } : ''
      const sent = Object.fromEntries(
        Object.entries(headers).filter(([, value]) => value !== undefined),
      ) as Record<string, string>
      const answer = await call(server, sent, method, url, payload)
      assertProblem(answer, 403, 'invalid-account')
      bodies.add(withoutRequestId(answer))
    }
  }
  assert.equal(bodies.size, 1)
  const { rows } = await pool.query('select 1 from endpoints where client_key = any($1)', [
    [client.clientKey, other.clientKey],
  ])
  assert.equal(rows.length, 0)
})

test('AccountId in capital letters is the same account', async () => {
  const client = await onboard(server)
  const accountid = client.accountId.toUpperCase()
  const body = { callbackUrl: 'https://example.com/', sharedKey: KEY }
  assert.equal((await postEndpoint(server, inAccount(client, accountid), body)).statusCode, 200)
  assert.equal((await list(server, client)).json().totalElements, 1)
})

test('without AccountId, GET /v1/webhooks shows all accounts, each item with its accountId', async () => {
  const client = await onboard(server)
  const second = await openAccount(server.deps, client.clientId, 'Second')
  await addWebhook(server, client, 'https://example.com/1')
  server.clock.advance(1)
  const body = { callbackUrl: 'https://example.com/1', sharedKey: KEY }
  await postEndpoint(server, inAccount(client, second.id), body)
  const all = await call(server, client.bearer, 'GET', '/v1/webhooks')
  assert.deepEqual(
    all.json().content.map((item: { accountId: string }) => item.accountId),
    [client.accountId, second.id],
  )
  const one = await call(server, client.headers, 'GET', '/v1/webhooks')
  assert.equal(one.body, (await list(server, client)).body)
  assert.equal(one.json().totalElements, 1)
})

test('GET by id shows the item and its health', async () => {
  const client = await onboard(server)
  const id = await addWebhook(server, client)
  const url = `/v1/webhooks/${id}`
  for (const headers of [client.headers, client.bearer]) {
    const item = (await call(server, headers, 'GET', url)).json()
    assert.deepEqual(Object.keys(item), [
      'id',
      'endpointUrl',
      'hmacHeaderName',
      'algorithm',
      'status',
      'health',
    ])
    assert.deepEqual(Object.keys(item.health).sort(), [
      'circuit',
      'failingSince',
      'lastError',
      'lastSuccessAt',
      'nextProbeAt',
      'p95Ms',
      'pending',
      'successRate24h',
    ])
  }
})

function change(server: TestServer, client: TestClient, id: string, status: unknown) {
  return patchEndpoint(server, { headers: client.bearer }, id, { status })
}

test('PATCH pauses and resumes; only ACTIVE and PAUSED can be asked for', async () => {
  const client = await onboard(server)
  const id = await addWebhook(server, client)
  const paused = await change(server, client, id, 'PAUSED')
  assert.equal(paused.statusCode, 200)
  assert.equal(paused.json().status, 'PAUSED')
  assert.deepEqual(Object.keys(paused.json()).length, 5)
  const since = (await rowOf(id)).inactive_since
  server.clock.advance(5)
  assert.equal((await change(server, client, id, 'PAUSED')).statusCode, 200)
  assert.deepEqual((await rowOf(id)).inactive_since, since)
  assert.equal((await change(server, client, id, 'ACTIVE')).json().status, 'ACTIVE')
  assert.equal((await rowOf(id)).inactive_since, null)
  for (const status of ['DISABLED', 'active', '', null, 7, ['PAUSED']]) {
    assertProblem(await change(server, client, id, status), 400, 'invalid-fields')
  }
})

test('a disabled endpoint is resumed by its owner', async () => {
  const client = await onboard(server)
  const id = await addWebhook(server, client)
  await pool.query("update endpoints set status = 'DISABLED', inactive_since = $2 where id = $1", [
    id,
    new Date(server.clock.nowMs() - 1_000),
  ])
  assert.equal((await list(server, client)).json().content[0].status, 'DISABLED')
  assert.equal((await change(server, client, id, 'ACTIVE')).json().status, 'ACTIVE')
})

test('DELETE answers 204 once; after that the webhook is gone everywhere', async (t) => {
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const id = await addWebhook(server, client)
  const remove = () => call(server, client.bearer, 'DELETE', `/v1/webhooks/${id}`)
  const gone = await remove()
  assert.deepEqual([gone.statusCode, gone.body], [204, ''])
  assertProblem(await remove(), 404, 'not-found')
  assert.equal((await list(server, client)).json().totalElements, 0)
  assertProblem(await change(server, client, id, 'PAUSED'), 404, 'not-found')
  assert.equal(server.notices.length, 2)
  const again = await addWebhook(server, client)
  assert.notEqual(again, id)
})

test('DELETE accepts an empty body with a JSON content type', async () => {
  const client = await onboard(server)
  const id = await addWebhook(server, client)
  const headers = { ...client.bearer, 'content-type': 'application/json' }
  const answer = await call(server, headers, 'DELETE', `/v1/webhooks/${id}`)
  assert.equal(answer.statusCode, 204)
})

test('pausing and resuming keep what is pending, deleting cancels it', async () => {
  const client = await onboard(server)
  const owe = async (endpointId: string, nextAttemptAt: Date | null) => {
    const id = server.deps.newId()
    await pool.query(
      `insert into pending_deliveries (client_key, id, event_id, endpoint_id, payment_id,
         account_id, sequence, kind, shard, created_at, next_attempt_at)
       values ($1, $2, $2, $3, $2, $4, 1, 'payment.created', $5, $6, $7)`,
      [
        client.clientKey,
        id,
        endpointId,
        client.accountId,
        shardOf(endpointId),
        new Date(server.clock.nowMs()),
        nextAttemptAt,
      ],
    )
    return id
  }
  const id = await addWebhook(server, client)
  await change(server, client, id, 'PAUSED')
  const waiting = await owe(id, null)
  server.clock.advance(60)
  await change(server, client, id, 'ACTIVE')
  const kept = await pool.query('select 1 from pending_deliveries where id = $1', [waiting])
  assert.equal(kept.rowCount, 1)
  await call(server, client.bearer, 'DELETE', `/v1/webhooks/${id}`)
  const final = await pool.query('select state from final_deliveries where id = $1', [waiting])
  assert.deepEqual(final.rows, [{ state: 'CANCELLED' }])
})

test("T2: another's, a deleted, an unknown and a malformed id are 404 with one body", async () => {
  const [owner, other] = [await onboard(server), await onboard(server, 'Other')]
  const second = await openAccount(server.deps, owner.clientId, 'Second')
  const id = await addWebhook(server, owner)
  const { id: subscriptionId } = await addEndpoint(server, owner, {}, SUBSCRIPTIONS)
  const foreign = { ...owner.bearer, accountid: second.id }
  for (const [method, payload] of [
    ['GET', undefined],
    ['DELETE', undefined],
    ['PATCH', { status: 'PAUSED' }],
  ] as const) {
    const ask = (asked: string, headers: Record<string, string>) =>
      call(server, headers, method, `/v1/webhooks/${asked}`, payload)
    const answers = [
      await ask(randomUUID(), other.bearer),
      await ask(id, other.bearer),
      await ask(id, foreign),
      await ask(subscriptionId, owner.bearer),
      await ask('not-a-uuid', other.bearer),
      await ask('%00', other.bearer),
      await ask('x'.repeat(5_000), other.bearer),
    ]
    for (const answer of answers) assertProblem(answer, 404, 'not-found')
    assert.equal(new Set(answers.map(withoutRequestId)).size, 1)
  }
  const row = await rowOf(id)
  assert.deepEqual([row.status, row.deleted_at], ['ACTIVE', null])
})

test('T3: unknown members are ignored, never honoured', async () => {
  const [client, other] = [await onboard(server), await onboard(server, 'Other')]
  const id = randomUUID()
  const answer = await postEndpoint(server, client, {
    callbackUrl: 'https://example.com/',
    sharedKey: KEY,
    id,
    status: 'PAUSED',
    accountId: other.accountId,
    algorithm: 'none',
    headerKey: 'Host',
    constructor: 1,
  })
  assert.equal(answer.statusCode, 200)
  const [item] = (await list(server, client)).json().content
  assert.notEqual(item.id, id)
  assert.deepEqual([item.status, item.algorithm], ['ACTIVE', 'SHA_256'])
  assert.equal((await list(server, other)).json().totalElements, 0)
  assert.equal((await rowOf(item.id)).header_name, null)
})

test('O6: the 51st webhook of an account is 409; a known address still rotates', async (t) => {
  const server = await serveHttp(t, pool, { env: { PAYBELL_MAX_ENDPOINTS: '3' } })
  const client = await onboard(server)
  for (const path of ['1', '2', '3']) {
    await addWebhook(server, client, `https://example.com/${path}`)
  }
  const body = { callbackUrl: 'https://example.com/4', sharedKey: KEY }
  assertProblem(await postEndpoint(server, client, body), 409, 'too-many-endpoints')
  const known = { callbackUrl: 'https://example.com/3', sharedKey: 'a new key' }
  assert.equal((await postEndpoint(server, client, known)).statusCode, 200)
  const second = await openAccount(server.deps, client.clientId, 'Second')
  assert.equal((await postEndpoint(server, inAccount(client, second.id), body)).statusCode, 200)
})

test('O6: 1,000 registrations in a burst over two processes make 50 and no 5xx', async (t) => {
  const here = await serveHttp(t, pool)
  const there = await serveHttp(t, pool)
  const client = await onboard(here)
  const answers = await Promise.all(
    Array.from({ length: 1_000 }, (_, at) =>
      postEndpoint(at % 2 ? here : there, client, {
        callbackUrl: `https://example.com/${at % 500}`,
        sharedKey: KEY,
      }),
    ),
  )
  const counts = new Map<number, number>()
  for (const { statusCode } of answers) counts.set(statusCode, (counts.get(statusCode) ?? 0) + 1)
  assert.deepEqual([...counts.keys()].sort(), [200, 409])
  assert.equal((await list(here, client)).json().totalElements, 50)
})

test('the same address 50 times at once makes one webhook', async (t) => {
  const [here, there] = [await serveHttp(t, pool), await serveHttp(t, pool)]
  const client = await onboard(here)
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, at) =>
      postEndpoint(at % 2 ? here : there, client, {
        callbackUrl: 'https://example.com/one',
        sharedKey: `key ${at % 7}`,
      }),
    ),
  )
  assert.ok(answers.every((answer) => answer.statusCode === 200))
  assert.equal((await list(here, client)).json().totalElements, 1)
})

test('P1: a body of 64 KiB is read, one byte more is 413', async () => {
  const client = await onboard(server)
  const send = (bytes: number) => {
    const start = `{"callbackUrl":"https://example.com/","sharedKey":"${KEY}","pad":"`
    const payload = `${start}${'x'.repeat(bytes - start.length - 2)}"}`
    const headers = { ...client.headers, 'content-type': 'application/json' }
    return call(server, headers, 'POST', '/v1/webhooks/register', payload)
  }
  assert.equal((await send(65_536)).statusCode, 200)
  assertProblem(await send(65_537), 413, 'body-too-large')
})

test('a client over its rate gets 429 with Retry-After, and others do not', async (t) => {
  const server = await serveHttp(t, pool, { env: { PAYBELL_REQUESTS_PER_SECOND: '2' } })
  const [client, other] = [await onboard(server), await onboard(server, 'Other')]
  for (let at = 0; at < 4; at++) assert.equal((await list(server, client)).statusCode, 200)
  const answer = await list(server, client)
  assertProblem(answer, 429, 'too-many-requests')
  assert.equal(answer.headers['retry-after'], '1')
  assert.equal((await list(server, other)).statusCode, 200)
  server.clock.advance(1)
  assert.equal((await list(server, client)).statusCode, 200)
})
