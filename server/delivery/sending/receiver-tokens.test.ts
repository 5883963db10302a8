// Receivers that ask for a token, and the token endpoints behind them: over real sockets, with endpoints that are slow,
// endless, wrong or hostile.

import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { chainUnder, costlyKey } from '../../../test/adversary/costly-receivers.ts'
import {
  FORBIDDEN_IPV4,
  ipv4Spellings,
  ipv6Spellings,
} from '../../../test/support/forbidden-addresses.ts'
import { issue } from '../../../test/support/issue-certificate.ts'
import { answering, OK, startRawReceiver } from '../../../test/support/raw-receiver.ts'
import { until } from '../../../test/support/until.ts'
import type { CallbackRequest } from '../../core/delivery/callback-request.ts'
import type { CallbackOauth2 } from '../../core/tokens/endpoint-oauth2.ts'
import { CallbackClient, type CallbackClientOptions } from './callback-client.ts'
import { createIdentifiedSend, type Identity } from './identified-send.ts'

/** However busy the machine is, no limit is over, unless a test says so. */
const PATIENT = { connectTimeoutMs: 60_000, deadlineMs: 120_000, bodyTimeMs: 60_000 }
const IDENTITY: Identity = { find: async () => null, sign: async () => 'an.assertion.signed' }

interface Seen {
  headers: IncomingMessage['headers']
  body: string
}

/** A server that remembers what came; what it answers may be replaced. */
async function startHttp(t: TestContext, answer: RequestListener) {
  const made = { seen: [] as Seen[], answer, url: '' }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    made.seen.push({ headers: request.headers, body: Buffer.concat(chunks).toString() })
    made.answer(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  made.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return made
}

/** Each token is another one. */
function issuing(life: object = { expires_in: 3_600 }): RequestListener {
  let count = 0
  return (_request, response) => {
    count += 1
    response.end(JSON.stringify({ access_token: `token-${count}`, token_type: 'bearer', ...life }))
  }
}

interface WorldOptions {
  client?: Partial<CallbackClientOptions>
  identity?: Partial<Identity>
  tokens?: RequestListener
  receiver?: RequestListener
}

async function startWorld(t: TestContext, options: WorldOptions = {}) {
  const tokens = await startHttp(t, options.tokens ?? issuing())
  const receiver = await startHttp(t, options.receiver ?? ((_request, response) => response.end()))
  let passedMs = 0
  const client = new CallbackClient({
    policy: { loopbackAllowed: true, allowedNetworks: [] },
    monotonicMs: () => performance.now() + passedMs,
    ...PATIENT,
    ...options.client,
  })
  t.after(() => client.close())
  const send = createIdentifiedSend(client, { ...IDENTITY, ...options.identity })
  const oauth2: CallbackOauth2 = {
    ...{
      endpointId: 'endpoint',
      tokenUrl: tokens.url,
      clientId: 'paybell',
      clientSecret: 's3cret',
    },
    ...{ privateKeyJwt: false, authentication: 'basic', scope: null, audience: null },
  }
  let detail = ''
  let excerpt: string | undefined
  const attempt = async (more: Partial<CallbackOauth2> = {}, of: Partial<CallbackRequest> = {}) => {
    const { outcome } = await send({
      ...{ url: receiver.url, clientKey: 1, eventId: 'event', kind: 'payment.created' },
      ...{ attempt: 1, headers: ['x-a', 'b'], body: [Buffer.from('{}')], tls: null },
      ...{ oauth2: { ...oauth2, ...more }, endpointId: 'endpoint', deliveryId: 'delivery' },
      ...{ beginByMs: null, ...of },
    })
    if (outcome.kind === 'tokenless') detail = outcome.detail
    if (outcome.kind === 'answered')
      excerpt = outcome.excerpt && Buffer.from(outcome.excerpt).toString()
    return outcome.kind === 'answered' ? outcome.status : outcome.reason
  }
  const pass = (ms: number) => {
    passedMs += ms
  }
  return {
    tokens,
    receiver,
    client,
    send,
    attempt,
    pass,
    detail: () => detail,
    excerpt: () => excerpt,
  }
}

const bearers = (seen: readonly Seen[]) => seen.map(({ headers }) => headers.authorization)

test('callbacks carry the token, and several at once ask for it once', async (t) => {
  const { tokens, receiver, attempt } = await startWorld(t)
  const statuses = await Promise.all(Array.from({ length: 20 }, () => attempt()))
  assert.deepEqual(new Set(statuses), new Set([200]))
  assert.equal(tokens.seen.length, 1)
  assert.deepEqual(new Set(bearers(receiver.seen)), new Set(['Bearer token-1']))
  assert.equal(receiver.seen[0]?.headers['x-a'], 'b')
  assert.equal(receiver.seen[0]?.body, '{}')
})

test('the service proves itself in the header, in the body, or with an assertion', async (t) => {
  const { tokens, attempt } = await startWorld(t)
  const strange = { clientId: 'pay bell:1', clientSecret: 'a+b:c&d=é%'.replace('é', 'e') }
  assert.equal(await attempt({ ...strange, scope: 'a b', audience: 'https://bank.example' }), 200)
  assert.equal(await attempt({ ...strange, authentication: 'post' }), 200)
  assert.equal(
    await attempt({ clientSecret: null, privateKeyJwt: true, authentication: 'post' }),
    200,
  )
  const [basic, post, key] = tokens.seen.map(({ headers, body }) => ({
    authorization: headers.authorization,
    type: headers['content-type'],
    form: Object.fromEntries(new URLSearchParams(body)),
  }))
  assert.equal(basic?.type, 'application/x-www-form-urlencoded')
  const [, pair = ''] = basic?.authorization?.split(' ') ?? []
  const parts = Buffer.from(pair, 'base64').toString().split(':')
  const decoded = parts.map((part) => decodeURIComponent(part.replaceAll('+', ' ')))
  assert.deepEqual(decoded, [strange.clientId, strange.clientSecret])
  const grant = { grant_type: 'client_credentials' }
  assert.deepEqual(basic?.form, { ...grant, scope: 'a b', audience: 'https://bank.example' })
  assert.equal(post?.authorization, undefined)
  const { clientId, clientSecret } = strange
  assert.deepEqual(post?.form, { ...grant, client_id: clientId, client_secret: clientSecret })
  assert.equal(key?.authorization, undefined)
  assert.deepEqual(key?.form, {
    ...{ ...grant, client_id: 'paybell', client_assertion: 'an.assertion.signed' },
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  })
})

test('a token is used until a minute before its end, and other settings have tokens of their own', async (t) => {
  const { tokens, receiver, attempt, pass } = await startWorld(t, {
    tokens: issuing({ expires_in: 600 }),
  })
  await attempt()
  pass(500_000)
  await attempt()
  assert.equal(tokens.seen.length, 1)
  pass(41_000)
  await attempt()
  assert.equal(tokens.seen.length, 2)
  await attempt({ clientSecret: 'another' })
  await attempt({ endpointId: 'another' })
  await attempt()
  assert.equal(tokens.seen.length, 4)
  assert.deepEqual(
    bearers(receiver.seen).map((text) => text?.at(-1)),
    ['1', '1', '2', '3', '4', '2'],
  )
})

test('a token that ends at once is for those who wait, and not kept', async (t) => {
  const { tokens, attempt } = await startWorld(t, { tokens: issuing({ expires_in: 0 }) })
  assert.deepEqual(await Promise.all([attempt(), attempt()]), [200, 200])
  assert.equal(tokens.seen.length, 1)
  assert.equal(await attempt(), 200)
  assert.equal(tokens.seen.length, 2)
})

test('a 401 drops the token and is tried once more, within the attempt, with a new one', async (t) => {
  const { tokens, receiver, attempt } = await startWorld(t, {
    receiver: (request, response) => {
      const isNew = request.headers.authorization !== 'Bearer token-1'
      response.writeHead(isNew ? 200 : 401).end()
    },
  })
  assert.equal(await attempt(), 200)
  assert.deepEqual(bearers(receiver.seen), ['Bearer token-1', 'Bearer token-2'])
  assert.equal(await attempt(), 200)
  assert.equal(tokens.seen.length, 2, 'the new one is kept')
})

test('a receiver that always says 401 gets two callbacks an attempt, and its answer stands', async (t) => {
  const { tokens, receiver, attempt } = await startWorld(t, {
    receiver: (_request, response) => response.writeHead(401).end(),
  })
  assert.equal(await attempt(), 401)
  assert.equal(receiver.seen.length, 2)
  assert.equal(await attempt(), 401)
  assert.deepEqual(bearers(receiver.seen).at(-2), 'Bearer token-3', 'none of before is used')
  assert.equal(tokens.seen.length, 4)
})

test('regression: a 401 that comes late stands: a second try would fail for want of time, and hide it', async (t) => {
  const world = await startWorld(t, {
    receiver: (_request, response) => {
      world.pass(PATIENT.deadlineMs / 2)
      response.writeHead(401).end()
    },
  })
  assert.equal(await world.attempt(), 401)
  assert.equal(world.receiver.seen.length, 1)
  assert.equal(world.tokens.seen.length, 1)
})

test('regression: an answer that repeats the token is not kept', async (t) => {
  const world = await startWorld(t, {
    receiver: (request, response) => {
      response.writeHead(500).end(`You sent: ${request.headers.authorization}`)
    },
  })
  assert.equal(await world.attempt(), 500)
  assert.equal(world.excerpt(), undefined)
  world.receiver.answer = (_request, response) => response.writeHead(500).end('Sorry.')
  assert.equal(await world.attempt(), 500)
  assert.equal(world.excerpt(), 'Sorry.')
})

test('several callbacks that are refused with one token ask for one new token', async (t) => {
  const held: (() => void)[] = []
  const { tokens, attempt } = await startWorld(t, {
    receiver: (request, response) => {
      if (request.headers.authorization !== 'Bearer token-1') response.end()
      else held.push(() => response.writeHead(401).end())
    },
  })
  const attempts = Array.from({ length: 10 }, () => attempt())
  await until('all have arrived', () => held.length === 10)
  for (const answer of held) answer()
  assert.deepEqual(new Set(await Promise.all(attempts)), new Set([200]))
  assert.equal(tokens.seen.length, 2)
})

test('a 401 that a check hopes for says nothing about the token', async (t) => {
  const { tokens, receiver, attempt } = await startWorld(t, {
    receiver: (_request, response) => response.writeHead(401).end(),
  })
  for (let posts = 1; posts <= 3; posts++) {
    assert.equal(await attempt({}, { deliveryId: null, expectsRefusal: true }), 401)
    assert.equal(receiver.seen.length, posts)
  }
  assert.equal(tokens.seen.length, 1)
})

test('a failed request for a token is shared, backs off, and is repeated at once for a person', async (t) => {
  const { tokens, receiver, attempt, pass } = await startWorld(t, {
    tokens: (_request, response) => response.writeHead(500).end(),
  })
  const outcomes = await Promise.all(Array.from({ length: 10 }, () => attempt()))
  assert.deepEqual(new Set(outcomes), new Set(['token-unreachable']))
  assert.equal(tokens.seen.length, 1)
  assert.equal(await attempt(), 'token-unreachable')
  assert.equal(tokens.seen.length, 1, 'the one of before counts')
  pass(1_000)
  await attempt()
  assert.equal(tokens.seen.length, 2)
  pass(1_000)
  await attempt()
  assert.equal(tokens.seen.length, 2, 'the pause is twice as long')
  pass(1_000)
  await attempt()
  assert.equal(tokens.seen.length, 3)
  assert.equal(await attempt({}, { deliveryId: null }), 'token-unreachable')
  assert.equal(tokens.seen.length, 4, 'a test send')
  for (let n = 0; n < 8; n += 1) {
    pass(15_000)
    await attempt()
  }
  assert.equal(tokens.seen.length, 12, 'the longest pause is 15 s')
  assert.equal(receiver.seen.length, 0)
  tokens.answer = issuing()
  pass(15_000)
  assert.equal(await attempt(), 200)
})

test('regression: a failure from before a retry does not count, and one from after it does', async (t) => {
  const { tokens, attempt } = await startWorld(t, {
    tokens: (_request, response) => response.writeHead(400).end(),
  })
  for (let n = 0; n < 3; n += 1) await attempt()
  assert.equal(tokens.seen.length, 1)
  await attempt({}, { retriedAtMs: 1_000 })
  assert.equal(tokens.seen.length, 2, 'it was said to be fixed')
  await attempt({}, { retriedAtMs: 1_000 })
  // One that was read before the retry, and is sent after it.
  await attempt({}, { retriedAtMs: 0 })
  assert.equal(tokens.seen.length, 2, 'it was not')
  tokens.answer = issuing()
  assert.equal(await attempt({}, { retriedAtMs: 2_000 }), 200)
})

test('a slow token endpoint costs the other endpoints nothing, and its own its deadline', async (t) => {
  const { tokens, receiver, attempt } = await startWorld(t, {
    client: { deadlineMs: 500 },
    tokens: () => {},
  })
  const other = await startHttp(t, issuing())
  let isOver = false
  const slow = Promise.all([attempt(), attempt()]).finally(() => {
    isOver = true
  })
  await until('it is asked', () => tokens.seen.length === 1)
  assert.equal(await attempt({ endpointId: 'another', tokenUrl: other.url }), 200)
  assert.equal(isOver, false)
  assert.deepEqual(await slow, ['token-unreachable', 'token-unreachable'])
  assert.equal(tokens.seen.length, 1)
  assert.equal(receiver.seen.length, 1)
})

test('token and callback share one deadline', async (t) => {
  const world = await startWorld(t, { client: { deadlineMs: 60_000 } })
  const { tokens, receiver, pass, attempt } = world
  const issue = issuing()
  tokens.answer = (request, response) => {
    pass(40_000)
    issue(request, response)
  }
  receiver.answer = (_request, response) => {
    pass(40_000)
    response.end()
  }
  assert.equal(await attempt(), 'timeout')
  assert.equal(await attempt(), 200, 'the token is there now')
})

test('an attempt waits no longer than it may for a token that a later one has asked for', async (t) => {
  const [refusals, hanging] = [[] as (() => void)[], [] as (() => void)[]]
  const { tokens, attempt, pass } = await startWorld(t, {
    client: { deadlineMs: 8_000 },
    tokens: issuing({ expires_in: 0 }),
    receiver: (_request, response) => refusals.push(() => response.writeHead(401).end()),
  })
  const early = attempt()
  await until('its callback is out', () => refusals.length === 1)
  tokens.answer = (request) => hanging.push(() => request.socket.destroy())
  pass(3_000)
  let isOver = false
  const late = attempt().finally(() => {
    isOver = true
  })
  await until('it has asked', () => hanging.length === 1)
  refusals[0]?.()
  assert.equal(await early, 'token-unreachable')
  assert.equal(isOver, false)
  hanging[0]?.()
  assert.equal(await late, 'token-unreachable')
  assert.equal(tokens.seen.length, 2)
})

const HOSTILE: readonly [string, string, string][] = [
  ['no HTTP', 'hello\r\n\r\n', 'token-unreachable'],
  [
    'two lengths',
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
    'token-unreachable',
  ],
  ['garbage', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', 'token-refused'],
  ['401', 'HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n', 'token-refused'],
  [
    '400',
    'HTTP/1.1 400 No\r\nContent-Length: 26\r\n\r\n{"error":"invalid_client"}',
    'token-refused',
  ],
  ['500', 'HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n', 'token-unreachable'],
  [
    'a body without an end',
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8000\r\n{"access_token":"${'a'.repeat(0x7fee)}`,
    'token-refused',
  ],
  [
    'a token with a line feed',
    'HTTP/1.1 200 OK\r\nContent-Length: 53\r\n\r\n{"access_token":"a\\r\\nX-Evil: 1","token_type":"bearer"}',
    'token-refused',
  ],
]

for (const [name, bytes, expected] of HOSTILE) {
  test(`a hostile token endpoint, ${name}: ${expected}, and nothing reaches the receiver`, async (t) => {
    const { receiver, attempt } = await startWorld(t)
    const hostile = await startRawReceiver(t, answering(bytes))
    assert.equal(await attempt({ tokenUrl: `http://127.0.0.1:${hostile.port}/` }), expected)
    assert.equal(receiver.seen.length, 0)
  })
}

test('a redirect of the token endpoint is not followed', async (t) => {
  const { tokens, receiver, attempt } = await startWorld(t)
  const target = await startHttp(t, issuing())
  tokens.answer = (_request, response) => response.writeHead(307, { location: target.url }).end()
  assert.equal(await attempt(), 'token-refused')
  assert.deepEqual([target.seen.length, receiver.seen.length], [0, 0])
})

test('a failure of our own is no attempt: nothing was sent', async (t) => {
  const sign = () => Promise.reject(new Error('the database is away'))
  const { tokens, receiver, attempt } = await startWorld(t, { identity: { sign } })
  await assert.rejects(attempt({ privateKeyJwt: true, clientSecret: null }), /is away/)
  assert.deepEqual([tokens.seen.length, receiver.seen.length], [0, 0])
})

test('S1, S2: no spelling of a forbidden address, and no name that leads to one, is asked for a token', async (t) => {
  const open = await startRawReceiver(t, answering(OK))
  const hidden = [open]
  for (const host of ['127.0.0.2', '::1']) {
    // Not every machine has these addresses; where they are missing, nothing can reach them either.
    const started = startRawReceiver(t, answering(OK), { host, port: open.port })
    await started.then(
      (receiver) => hidden.push(receiver),
      () => {},
    )
  }
  const hosts = FORBIDDEN_IPV4.flatMap((address) => [
    ...ipv4Spellings(address),
    ...ipv6Spellings(address),
  ])
  let resolved: string[] = []
  const { attempt, client, detail } = await startWorld(t, {
    client: {
      policy: { loopbackAllowed: false, allowedNetworks: [] },
      resolve: async () => resolved,
    },
  })
  assert.ok(hosts.length >= 400)
  for (const host of hosts) {
    for (const scheme of ['http', 'https']) {
      const tokenUrl = `${scheme}://${host}:${open.port}/token`
      assert.equal(await attempt({ tokenUrl }), 'token-unreachable', host)
    }
  }
  for (const address of [...FORBIDDEN_IPV4, '::1', '::ffff:127.0.0.1', 'fd00::1']) {
    resolved = [address]
    const tokenUrl = `https://bank-${address.replaceAll(/[.:]/g, '-')}.example.test:${open.port}/`
    assert.equal(await attempt({ tokenUrl }), 'token-unreachable', address)
    assert.equal(detail(), 'The token endpoint did not answer: no-address.')
  }
  assert.equal(client.socketCount, 0)
  for (const { connectionCount } of hidden) assert.equal(connectionCount, 0)
})

test('the token endpoint is shown the same certificate, and believed by the same authority', async (t) => {
  const root = issue({ subject: 'CN=Root', isAuthority: true })
  const served = issue({ subject: 'CN=bank', by: root, addresses: ['127.0.0.1'] })
  const own = issue({ subject: 'CN=paybell', by: root, purposes: ['client'] })
  const names: string[] = []
  const server = createTlsServer(
    {
      ...{ cert: served.pem, key: served.keyPem, ca: root.pem },
      ...{ requestCert: true, rejectUnauthorized: true },
    },
    (request, response) => {
      names.push((request.socket as TLSSocket).getPeerCertificate().subject.CN as string)
      issuing()(request, response)
    },
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const shown = { fingerprintSha256: '', chainPem: own.pem, privateKey: own.privateKey }
  const { attempt } = await startWorld(t, { identity: { find: async () => shown } })
  const tokenUrl = `https://127.0.0.1:${(server.address() as AddressInfo).port}/token`
  const url = tokenUrl.replace('/token', '/hook')
  const tls = { clientCertificate: 'default', certificateAuthorities: [root.pem] }
  assert.equal(await attempt({ tokenUrl }, { url, tls }), 200)
  assert.deepEqual(names, ['paybell', 'paybell'])
  assert.equal(await attempt({ tokenUrl }, { url }), 'token-unreachable')
})

test('regression: a token endpoint whose certificates take long to verify is not asked', async (t) => {
  const { receiver, attempt, detail } = await startWorld(t)
  const tls = chainUnder(costlyKey(2_048), 3).options
  const { port } = await startRawReceiver(t, () => {}, { tls })
  assert.equal(await attempt({ tokenUrl: `https://127.0.0.1:${port}/token` }), 'token-unreachable')
  assert.match(detail(), /tls-too-costly/)
  assert.equal(receiver.seen.length, 0)
})

test('regression: a certificate that is taken away while a token is fetched is not shown', async (t) => {
  let isGiven = true
  const shown = await shownCertificate()
  const world = await startWorld(t, {
    identity: { find: async () => (isGiven ? shown : null) },
    tokens: (request, response) => {
      isGiven = false
      issuing()(request, response)
    },
  })
  const tls = { clientCertificate: 'default', certificateAuthorities: null }
  assert.equal(await world.attempt({}, { tls }), 'certificate-missing')
  assert.deepEqual([world.tokens.seen.length, world.receiver.seen.length], [1, 0])
})

test('regression: nor is a new token asked for with it', async (t) => {
  let isGiven = true
  const shown = await shownCertificate()
  const world = await startWorld(t, {
    identity: { find: async () => (isGiven ? shown : null) },
    receiver: (_request, response) => {
      isGiven = false
      response.writeHead(401).end()
    },
  })
  const tls = { clientCertificate: 'default', certificateAuthorities: null }
  assert.equal(await world.attempt({}, { tls }), 'certificate-missing')
  assert.deepEqual([world.tokens.seen.length, world.receiver.seen.length], [1, 1])
})

async function shownCertificate() {
  const own = issue({ subject: 'CN=paybell' })
  const privateKey = createPrivateKey(own.keyPem)
  return { fingerprintSha256: '', chainPem: own.pem, privateKey }
}
