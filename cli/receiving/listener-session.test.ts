// A session against a service that forgets tokens and listeners, and is away for a while.

import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { ListenerOffer } from '../../sdk/src/wire/types.ts'
import { RefusedError } from '../basics/api.ts'
import type { CallerConfig } from '../basics/settings.ts'
import { Target } from '../basics/target.ts'
import { ListenerSession } from './listener-session.ts'

type Answer = readonly [status: number, body?: object, headers?: Record<string, string>]

const OFFER: ListenerOffer = {
  offerId: 'o1',
  deliveryId: 'd1',
  eventId: 'e1',
  attempt: 1,
  headers: [],
  bodyBase64: 'e30=',
  timeoutMs: 15_000,
  deadlineAt: '2026-03-02T09:30:15.400Z',
}
const REGISTERED: Answer = [201, { id: 'l1', status: 'PAUSED' }]
const ANSWERED = {
  status: 204,
  error: null,
  durationMs: 3,
  body: Buffer.from('nothing'),
  retryAfter: null,
} as const

/** Answers each path with what is next in its list; the last one stays. */
async function start(t: TestContext, script: Record<string, Answer[]>) {
  const calls: string[] = []
  const bodies: string[] = []
  let tokens = 0
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const [path] = (request.url ?? '').split('?')
    let body = ''
    for await (const chunk of request) body += chunk
    const call = `${request.method} ${path}`
    if (path === '/auth/token') {
      response.end(JSON.stringify({ access_token: `t${++tokens}`, expires_in: 3_600 }))
      return
    }
    calls.push(`${call} ${request.headers.authorization}`)
    bodies.push(body)
    const list = script[call] ?? []
    const [status, json, headers] = (list.length > 1 ? list.shift() : list[0]) ?? [404]
    response.writeHead(status, headers).end(json ? JSON.stringify(json) : '')
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const config: CallerConfig = {
    url: `http://127.0.0.1:${port}`,
    operatorKey: null,
    clientId: 'client',
    clientSecret: 'secret',
    clientKey: null,
    accountId: null,
    sharedKey: null,
    allowsInsecureHttp: false,
    profile: null,
    dataDir: '/nowhere',
    configDir: null,
  }
  const notes: string[] = []
  const target = new Target(config, {}, () => {})
  const session = new ListenerSession({
    api: await target.client(() => notes.push('a new token')),
    accountId: 'a',
    name: 'n',
    sharedKey: 'k',
    note: (text) => notes.push(text),
  })
  return { session, calls, bodies, notes }
}

async function first(session: ListenerSession): Promise<ListenerOffer> {
  for await (const offer of session.callbacks(new AbortController().signal)) return offer
  return assert.fail('no callback came')
}

test('a token that has run out is renewed', async (t) => {
  const { session, calls, notes } = await start(t, {
    'POST /v1/listeners': [REGISTERED],
    'GET /v1/listeners/l1/next': [[401], [200, OFFER]],
  })
  assert.equal((await first(session)).offerId, 'o1')
  assert.deepEqual(calls, [
    'POST /v1/listeners Bearer t1',
    'GET /v1/listeners/l1/next Bearer t1',
    'GET /v1/listeners/l1/next Bearer t2',
  ])
  assert.deepEqual(notes, ['a new token'])
})

test('credentials that are refused end it', async (t) => {
  const { session } = await start(t, {
    'POST /v1/listeners': [REGISTERED],
    'GET /v1/listeners/l1/next': [[401]],
  })
  await assert.rejects(first(session), RefusedError)
})

test('a listener that was deleted is registered again', async (t) => {
  const { session, calls, notes } = await start(t, {
    'POST /v1/listeners': [REGISTERED, [201, { id: 'l2', status: 'PAUSED' }]],
    'GET /v1/listeners/l1/next': [[404]],
    'GET /v1/listeners/l2/next': [[200, OFFER]],
  })
  await first(session)
  assert.deepEqual(notes, ['The listener was deleted; creating it again.'])
  assert.equal(calls.length, 4)
})

test('a busy service is waited for, and reported once', async (t) => {
  const { session, notes } = await start(t, {
    'POST /v1/listeners': [REGISTERED],
    'GET /v1/listeners/l1/next': [[503], [500], [204], [200, OFFER]],
  })
  await first(session)
  assert.deepEqual(notes, ['The service answers 503. Trying again.', 'Connected again.'])
})

test('an outcome is sent again while there is time, and a late one is not', async (t) => {
  const { session, bodies } = await start(t, {
    'POST /v1/listeners': [REGISTERED],
    'POST /v1/listeners/l1/outcomes': [[503], [204], [410]],
  })
  await session.register()
  assert.equal(await session.answer(OFFER, ANSWERED, 5_000), true)
  assert.deepEqual(JSON.parse(bodies.at(-1) ?? ''), {
    offerId: 'o1',
    status: 204,
    durationMs: 3,
    body: 'nothing',
  })
  assert.equal(await session.answer(OFFER, ANSWERED, 5_000), false)
})

test('again retries what is pending, and replays what has ended', async (t) => {
  const final = { code: 'delivery-final', status: 409, title: 'The delivery has ended' }
  const problem = { 'content-type': 'application/problem+json' }
  const { session, calls } = await start(t, {
    'POST /v1/deliveries/pending/retry': [[202, {}]],
    'POST /v1/deliveries/ended/retry': [[409, final, problem]],
    'POST /v1/deliveries/ended/replay': [[202, {}]],
    'POST /v1/deliveries/paused/retry': [[409, { ...final, code: 'endpoint-not-active' }, problem]],
  })
  await session.again('pending')
  await session.again('ended')
  await assert.rejects(session.again('paused'))
  assert.deepEqual(
    calls.map((call) => call.replace(/ Bearer .*/, '')),
    [
      'POST /v1/deliveries/pending/retry',
      'POST /v1/deliveries/ended/retry',
      'POST /v1/deliveries/ended/replay',
      'POST /v1/deliveries/paused/retry',
    ],
  )
})
