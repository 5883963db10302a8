// nginx and Caddy, as deploy/proxy shows them, in front of a service: one of the two processes that they are told of is
// gone. Skipped where a proxy is not installed.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { request as requestOverTls } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { Agent, fetch as fetchOver } from 'undici'
import { limitOf, PATIENCE_MS } from '../support/busy-machine.ts'
import { type FrontProxy, type ProxyName, startFrontProxy } from '../support/front-proxy.ts'
import { type Paybell, startPaybell } from '../support/paybell.ts'
import { sampleBody } from '../support/payment-sample.ts'
import { skipWithout } from '../support/programs.ts'
import { readCertificate } from '../support/raw-receiver.ts'

const MEGABYTE = 1024 * 1024
/** The largest document, and the envelope that the signature doctor gets it in. */
const DOCUMENT = Buffer.alloc(10 * MEGABYTE, 'pdf').toString('base64')

test('nginx takes no answer of the service for a failed attempt', () => {
  const config = readFileSync(new URL('../../deploy/proxy/nginx.conf', import.meta.url), 'utf8')
  const cases = [...config.matchAll(/^ *proxy_next_upstream (.*);$/gm)].map(([, given]) => given)
  assert.deepEqual(cases, ['error timeout', 'error timeout'])
})

for (const name of ['nginx', 'caddy'] as const) {
  describe(`${name} in front`, { skip: skipWithout(name) }, () => tryProxy(name))
}

function tryProxy(name: ProxyName): void {
  const owner: (() => unknown)[] = []
  const t = { after: (task: () => unknown) => void owner.push(task) }
  const overTls = new Agent({ connect: { ca: readCertificate('ca.pem') } })
  let paybell: Paybell
  let proxy: FrontProxy
  let operator: { authorization: string; accountid: string }

  before(async () => {
    const env = { PAYBELL_OPERATOR_PORT: '0', PAYBELL_TRUSTED_PROXIES: '127.0.0.1/32' }
    paybell = await startPaybell(t, { env })
    const portOf = (url: string) => Number(new URL(url).port)
    proxy = await startFrontProxy(t, name, {
      clientPort: portOf(paybell.baseUrl),
      operatorPort: portOf(paybell.app.operatorUrl()),
    })
    const { operatorKey, accountId } = paybell
    operator = { authorization: `Bearer ${operatorKey}`, accountid: accountId }
  })

  after(async () => {
    await overTls.destroy()
    for (const task of owner.toReversed()) await task()
  })

  const call = (path: string, init: object = {}) =>
    fetchOver(`${proxy.publicUrl}${path}`, { dispatcher: overTls, ...init })

  const VERIFY = `/v1/webhooks/${randomUUID()}/verify`
  const json = async () => ({
    ...(await paybell.caller.headers()),
    'content-type': 'application/json',
  })

  /** The status for a body of so many bytes: the answer may come before all of them are sent. */
  async function statusOf(bytes: number): Promise<number | undefined> {
    const request = requestOverTls(`${proxy.publicUrl}${VERIFY}`, {
      method: 'POST',
      ca: readCertificate('ca.pem'),
      headers: { ...(await json()), 'content-length': bytes },
    })
    request.on('error', () => {}).end(Buffer.alloc(bytes, ' '))
    const signal = AbortSignal.timeout(limitOf(PATIENCE_MS))
    const [answer] = (await once(request, 'response', { signal })) as [IncomingMessage]
    request.destroy()
    return answer.statusCode
  }

  test('clients are served over TLS although one process is gone, and see nothing of the operator', async () => {
    for (let n = 0; n < 6; n++) assert.equal((await call('/readyz')).status, 200)
    for (const path of ['/metrics', '/operator/v1/stats']) {
      assert.equal((await call(path)).status, 404)
    }
    const inside = await fetch(`${proxy.operatorUrl}/metrics`)
    assert.match(await inside.text(), /^paybell_ready /m)
  })

  test('bodies pass up to what the service takes, and no further', async () => {
    // A callback with the largest document, in base64 once more: the webhook is not known, and the body was read.
    const body = JSON.stringify({ headers: {}, body: Buffer.from(DOCUMENT).toString('base64') })
    const read = await call(VERIFY, { method: 'POST', headers: await json(), body })
    assert.equal(read.status, 404, await read.text())
    assert.equal(await statusOf(21 * MEGABYTE), 413)
    const id = randomUUID()
    const document = { mediaType: 'application/pdf', name: 'a.pdf', base64EncodedFile: DOCUMENT }
    const written = await fetch(`${proxy.operatorUrl}/operator/v1/payments/${id}`, {
      method: 'PUT',
      headers: { ...operator, 'content-type': 'application/json' },
      body: sampleBody({ id, document }),
    })
    assert.equal(written.status, 201, await written.text())
  })

  test('the live stream comes through as it is written', async () => {
    const stream = await fetch(`${proxy.operatorUrl}/operator/v1/stream`, { headers: operator })
    assert.equal(stream.headers.get('content-type')?.split(';')[0], 'text/event-stream')
    const id = randomUUID()
    const written = await fetch(`${proxy.operatorUrl}/operator/v1/payments/${id}`, {
      method: 'PUT',
      headers: { ...operator, 'content-type': 'application/json' },
      body: sampleBody({ id }),
    })
    assert.equal(written.status, 201)
    const decoder = new TextDecoder()
    let read = ''
    for await (const chunk of stream.body as ReadableStream<Uint8Array>) {
      read += decoder.decode(chunk, { stream: true })
      if (read.includes('event: accepted')) break
    }
    assert.match(read, /event: accepted/)
  })

  test('regression: however often the service says 503, callers get that answer and no other', async () => {
    const busy = createServer((request, response) => {
      const isReady = request.url === '/readyz'
      response.writeHead(isReady ? 200 : 503, { 'retry-after': '1' }).end()
    })
    await new Promise<void>((resolve) => busy.listen(0, '127.0.0.1', resolve))
    t.after(() => busy.close())
    const { port } = busy.address() as AddressInfo
    const toBusy = await startFrontProxy(t, name, { clientPort: port, operatorPort: port })
    for (let n = 0; n < 8; n++) {
      for (const url of [toBusy.publicUrl, toBusy.operatorUrl]) {
        const answer = await fetchOver(`${url}/v1/webhooks`, { dispatcher: overTls })
        assert.equal(answer.status, 503)
        assert.equal(answer.headers.get('retry-after'), '1')
      }
    }
  })

  test('what a client says of its own address, name and scheme is replaced', async () => {
    let seen: IncomingHttpHeaders = {}
    const echo = createServer((request, response) => {
      seen = request.headers
      response.end()
    })
    await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve))
    t.after(() => echo.close())
    const { port } = echo.address() as AddressInfo
    const toEcho = await startFrontProxy(t, name, { clientPort: port, operatorPort: port })
    const answer = await fetchOver(`${toEcho.publicUrl}/`, {
      dispatcher: overTls,
      headers: {
        'x-forwarded-for': '203.0.113.9',
        'x-forwarded-host': 'elsewhere.example.com',
        'x-forwarded-proto': 'http',
      },
    })
    assert.equal(answer.status, 200)
    assert.equal(seen['x-forwarded-for'], '127.0.0.1')
    assert.equal(seen['x-forwarded-host'], new URL(toEcho.publicUrl).host)
    assert.equal(seen['x-forwarded-proto'], 'https')
  })
}
