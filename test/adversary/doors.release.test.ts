// Attacks on the doors: a service and a route with two ports each, asked by raw sockets, as someone who holds the
// operator's key and may not use it at the public port, or who holds nothing and only keeps others waiting.
//
// | attack | held by |
// |---|---|
// | raw paths, forms and framings towards the operator's side at the public port | here, `server/route/plain-path.test.ts` |
// | the operator's sign-in at the public port | here, `test/e2e/route-ports.slow.test.ts` |
// | the operator's session at the public port, requests of other sites | here, `server/http/routes/open/console.test.ts` |
// | every operation with every credential | `server/http/roles.test.ts` |
// | forms, HTTP Basic and their mixtures at /auth/token | `server/http/requests/token-form.test.ts` |
// | slow bodies at the route and at the cell | here, `server/route/slow-bodies.test.ts` |
// | long polls | here |
// | costly bodies, queries and headers | `server/http/loop-holds.slow.test.ts` |

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, describe, test } from 'node:test'
import { Caller } from '../support/caller.ts'
import { addClient, startPaybell, until } from '../support/paybell.ts'
import { routeConfig, startRoute } from '../support/routes.ts'

const t = { after }
const sockets: Socket[] = []
// Before the route stops, which waits for them.
after(() => {
  for (const socket of sockets) socket.destroy()
})

const onePort = await startPaybell(t)
const twoPorts = await startPaybell(t, {
  beside: onePort,
  env: { PAYBELL_OPERATOR_PORT: '0' },
})
const { operatorKey } = onePort
const route = await startRoute(
  t,
  routeConfig({ 0: onePort.baseUrl }, operatorKey, { operatorPort: 0 }),
)
const key = `authorization: Bearer ${operatorKey}\r\n`

/** The public ports: of a route before a cell with one, and of a service with two. */
const PUBLIC = { route: route.baseUrl, service: twoPorts.baseUrl }

function open(baseUrl: string): Socket {
  const { hostname, port } = new URL(baseUrl)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  sockets.push(socket)
  return socket.on('error', () => {})
}

/** Everything that comes back until the other side closes. */
async function exchange(baseUrl: string, bytes: string): Promise<string> {
  const socket = open(baseUrl)
  let heard = ''
  socket.setEncoding('latin1').on('data', (text) => {
    heard += text
  })
  const closed = once(socket, 'close')
  socket.end(Buffer.from(bytes, 'latin1'))
  socket.once('end', () => socket.destroy())
  await closed
  return heard
}

const TARGET = '/operator/v1/clients'

const PATHS = [
  TARGET,
  `${TARGET}/`,
  `${TARGET}?page=0`,
  `${TARGET};a=1`,
  `${TARGET}#a`,
  '/%6fperator/v1/clients',
  '/%6Fperator/v1/clients',
  '/operator%2fv1%2fclients',
  '/operator%2Fv1/clients',
  '/operator%252fv1/clients',
  '/OPERATOR/v1/clients',
  '/Operator/V1/Clients',
  '//operator/v1/clients',
  '/operator//v1/clients',
  '/./operator/v1/clients',
  '/operator/./v1/clients',
  '/v1/../operator/v1/clients',
  '/v1/..%2foperator/v1/clients',
  '/v1/%2e%2e/operator/v1/clients',
  '/console/../operator/v1/clients',
  '/guides/../operator/v1/clients',
  '/docs/..;/operator/v1/clients',
  '/v1/webhooks/..\\..\\operator\\v1\\clients',
  '\\operator\\v1\\clients',
  '/operator\\v1\\clients',
  '/operator/v1/clients%00',
  '/operator/v1/clients%20',
  '/\toperator/v1/clients',
  '/operator/v1/client\x00s',
  '/operator/v1/c\xc3\xa9lients',
  '/%c0%afoperator/v1/clients',
  '/operator/v1/%63lients',
  '?/operator/v1/clients',
  '*',
  'operator/v1/clients',
  `http://127.0.0.1${TARGET}`,
  `https://operator.internal${TARGET}`,
  `http://127.0.0.1:1${TARGET}`,
  '/metrics',
  '/operator/v1/audit/export',
  '/operator/v1/stats',
  '/operator/v1/keys',
]

const METHODS = ['GET', 'HEAD', 'POST', 'OPTIONS', 'TRACE', 'QUERY', 'PROPFIND', 'CONNECT', 'get']

const LINES = [
  `GET ${TARGET}\r\n`,
  `GET ${TARGET} HTTP/0.9\r\n\r\n`,
  `GET ${TARGET} HTTP/1.0\r\n${key}\r\n`,
  `GET ${TARGET} HTTP/2.0\r\nhost: a\r\n${key}\r\n`,
  `GET  ${TARGET}  HTTP/1.1\r\nhost: a\r\n${key}\r\n`,
  ` GET ${TARGET} HTTP/1.1\r\nhost: a\r\n${key}\r\n`,
  `GET ${TARGET} HTTP/1.1\nhost: a\n${key}\n`,
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  `GET /livez HTTP/1.1\r\nhost: a\r\nconnection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n\r\nGET ${TARGET} HTTP/1.1\r\nhost: a\r\n${key}\r\n`,
]

/** Headers that some proxies and frameworks believe. */
const OVERRIDES = [
  `x-original-url: ${TARGET}`,
  `x-rewrite-url: ${TARGET}`,
  `x-forwarded-uri: ${TARGET}`,
  `x-forwarded-prefix: ${TARGET}`,
  'x-forwarded-port: 8081',
  'x-forwarded-for: 127.0.0.1',
  'forwarded: for=127.0.0.1;host=operator',
  'x-http-method-override: GET',
  'x-paybell-cell: 0',
  'x-paybell-moved: 0',
  'host: operator.internal',
  'connection: authorization',
  `a: b\r\n ${TARGET}`,
]

/** A second request in the body of the first: it must be a body to all, or refused by all. */
const hidden = `GET ${TARGET} HTTP/1.1\r\nhost: a\r\n${key}connection: close\r\n\r\n`
const SMUGGLED = [
  `content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
  `transfer-encoding: chunked\r\ncontent-length: ${hidden.length + 5}\r\n\r\n0\r\n\r\n`,
  `transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
  `transfer-encoding: xchunked\r\n\r\n0\r\n\r\n`,
  `transfer-encoding : chunked\r\n\r\n0\r\n\r\n`,
  `transfer-encoding:\tchunked\r\n\r\n0\r\n\r\n`,
  `transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n\r\n0\r\n\r\n`,
  `content-length: 0\r\ncontent-length: ${hidden.length}\r\n\r\n`,
  `content-length: +0\r\n\r\n`,
  `content-length: 0x0\r\n\r\n`,
  `content-length: ${hidden.length}\r\n\r\n`,
]

/** What only the operator's side says. */
const SECRETS = /"totalElements"|"clientId"|paybell_deliveries|"segment"/

describe('towards the operator’s side, at a public port, with the operator’s key', () => {
  for (const [name, baseUrl] of Object.entries(PUBLIC)) {
    const rest = `host: a\r\n${key}x-paybell-console: 1\r\nconnection: close\r\n`
    const requests = [
      ...PATHS.map((path) => `GET ${path} HTTP/1.1\r\n${rest}\r\n`),
      ...METHODS.map((method) => `${method} ${TARGET} HTTP/1.1\r\n${rest}\r\n`),
      ...LINES,
      ...OVERRIDES.map((header) => `GET /livez HTTP/1.1\r\n${rest}${header}\r\n\r\n`),
      ...OVERRIDES.map((header) => `GET ${TARGET} HTTP/1.1\r\n${rest}${header}\r\n\r\n`),
      ...SMUGGLED.map((framing) => `POST /auth/token HTTP/1.1\r\nhost: a\r\n${framing}${hidden}`),
    ]
    test(`${name}: ${requests.length} requests, none of which gets there`, async () => {
      for (const request of requests) {
        const heard = await exchange(baseUrl, request)
        assert.doesNotMatch(heard, SECRETS, JSON.stringify(request))
      }
      // The key is right, and the side is there.
      const headers = { authorization: `Bearer ${operatorKey}` }
      const there = await fetch(route.operatorUrl + TARGET, { headers })
      assert.match(await there.text(), SECRETS)
    })
  }
})

const console_ = { 'x-paybell-console': '1', 'content-type': 'application/json' }

describe('the operator’s sign-in and session, at a public port', () => {
  for (const [name, baseUrl] of Object.entries(PUBLIC)) {
    test(`${name}: no body and no header signs an operator in`, async () => {
      const { clientId, clientSecret } = onePort
      for (const [body, headers] of [
        [{ operatorKey }, {}],
        [{ operatorKey, clientId }, {}],
        [{ operatorKey, clientId, clientSecret }, {}],
        [{ operatorKey, link: 'x' }, {}],
        [{ link: operatorKey }, {}],
        [{ clientId: operatorKey, clientSecret: operatorKey }, {}],
        [{ clientId: 'operator', clientSecret: operatorKey }, {}],
        [[{ operatorKey }], {}],
        [{ operatorKey: [operatorKey] }, {}],
        [{ OperatorKey: operatorKey }, {}],
        [{ __proto__: null, operatorKey }, {}],
        [{ operatorKey }, { authorization: `Bearer ${operatorKey}` }],
        [{ operatorKey }, { 'x-paybell-cell': '0' }],
        [{ operatorKey }, { 'x-forwarded-port': '8081' }],
        [{ operatorKey }, { origin: baseUrl, 'sec-fetch-site': 'same-origin' }],
      ] as const) {
        const answer = await fetch(`${baseUrl}/console/session`, {
          method: 'POST',
          headers: { ...console_, ...headers },
          body: JSON.stringify(body),
        })
        assert.ok(answer.status >= 400, JSON.stringify(body))
        assert.deepEqual(answer.headers.getSetCookie(), [])
      }
    })
  }

  test('a session from the operator’s port is none at the public one, nor for another site', async () => {
    const signedIn = await fetch(`${route.operatorUrl}/console/session`, {
      method: 'POST',
      headers: console_,
      body: JSON.stringify({ operatorKey }),
    })
    assert.equal(signedIn.status, 204)
    const [given = ''] = signedIn.headers.getSetCookie()
    const [cookie = ''] = given.split(';', 1)
    const status = async (url: string, headers: Record<string, string>) =>
      (await fetch(url, { headers: { cookie, ...headers } })).status
    assert.equal(await status(route.operatorUrl + TARGET, console_), 200)
    assert.equal(await status(route.baseUrl + TARGET, console_), 404)
    assert.equal(await status(`${route.baseUrl}/v1/webhooks`, console_), 401)
    const sites: readonly Record<string, string>[] = [
      {},
      { 'x-paybell-console': '0' },
      { ...console_, origin: 'https://evil.example' },
      { ...console_, origin: 'null' },
      { ...console_, 'sec-fetch-site': 'cross-site' },
      { ...console_, 'sec-fetch-site': 'same-site' },
      { ...console_, 'sec-fetch-site': 'none' },
      { ...console_, cookie: `${cookie}; ${cookie}` },
    ]
    for (const foreign of sites) {
      assert.equal(await status(route.operatorUrl + TARGET, foreign), 401, JSON.stringify(foreign))
    }
  })
})

describe('slow bodies', () => {
  const begin = 'POST /auth/token HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n'
  for (const [kind, text] of [
    ['of unknown length', `${begin}transfer-encoding: chunked\r\n\r\n1\r\n{\r\n`],
    ['of a length', `${begin}content-length: 90\r\n\r\n{`],
  ] as const) {
    for (const [name, baseUrl] of Object.entries(PUBLIC)) {
      test(`regression: ${name}, 1,500 ${kind}: another client signs in all the while`, async () => {
        const other = await addClient(onePort)
        const held = Array.from({ length: 1_500 }, () => open(baseUrl).resume())
        try {
          await Promise.all(held.map((socket) => once(socket, 'connect')))
          await Promise.all(held.map((socket) => new Promise((done) => socket.write(text, done))))
          for (let n = 0; n < 20; n++) {
            const { clientId, clientSecret } = other
            const answer = await fetch(`${baseUrl}/auth/token`, {
              method: 'POST',
              headers: { 'content-type': 'application/json' },
              body: JSON.stringify({ clientId, clientSecret }),
            })
            assert.equal(answer.status, 200, await answer.text())
          }
        } finally {
          for (const socket of held) socket.destroy()
        }
      })
    }
  }
})

test('long polls: 120 of one listener leave room for everyone else', async () => {
  const caller = new Caller(await addClient(onePort))
  const body = { name: 'laptop', sharedKey: 'a key of some length' }
  const listener = await (await caller.call('POST', '/v1/listeners', body)).json()
  const { id } = listener as { id: string }
  const token = await caller.token()
  const stop = new AbortController()
  const statuses: number[] = []
  const polls = Array.from({ length: 120 }, async () => {
    const headers = { authorization: `Bearer ${token}` }
    const url = `${route.baseUrl}/v1/listeners/${id}/next?wait=25`
    statuses.push((await fetch(url, { headers, signal: stop.signal })).status)
  })
  try {
    await until('those beyond the limit are refused', () => statuses.length >= 56)
    // On a busy machine the first may have waited their 25 seconds by then.
    const refused = statuses.filter((status) => status !== 204)
    assert.deepEqual([...new Set(refused)], [429])
    assert.equal((await new Caller(onePort).get('/v1/webhooks')).status, 200)
    assert.equal((await fetch(`${route.baseUrl}/readyz`)).status, 200)
  } finally {
    stop.abort()
    await Promise.allSettled(polls)
  }
})
