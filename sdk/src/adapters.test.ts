// Real servers on loopback: what a receiver gets from a socket is not what a test would hand it.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import fastify from 'fastify'
import { type NodeHandler, toExpressHandler, toFastifyPlugin, toNodeHandler } from './adapters.ts'
import { createReceiver, type Receiver } from './receiving/receiver.ts'
import { signForTest, type TestCallback } from './receiving/sign-for-test.ts'

const KEY = 'only-we-two-know-this'

function makeReceiver(bodyBytesMax?: number) {
  const handled: string[] = []
  const receiver = createReceiver({
    sharedKey: KEY,
    bodyBytesMax,
    onPayment: (payment) => {
      handled.push(payment.amount.amount)
    },
  })
  return { receiver, handled }
}

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown

async function serve(t: TestContext, handler: Handler): Promise<string> {
  const server = createServer(handler).listen(0, '127.0.0.1')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
}

async function serveFastify(t: TestContext, receiver: Receiver): Promise<string> {
  const app = fastify()
  app.register(toFastifyPlugin(receiver, '/hook'))
  app.post('/json', async ({ body }) => body)
  t.after(() => app.close())
  return `${await app.listen({ port: 0, host: '127.0.0.1' })}/hook`
}

async function post(url: string, callback: Partial<TestCallback> = {}): Promise<Response> {
  return fetch((await signForTest({ sharedKey: KEY, ...callback })).toRequest(url))
}

const servers: Record<string, (t: TestContext, receiver: Receiver) => Promise<string>> = {
  'node:http': (t, receiver) => serve(t, toNodeHandler(receiver)),
  Express: (t, receiver) => {
    const handler = toExpressHandler(receiver)
    return serve(t, (req, res) =>
      handler(req, res, (error) => res.writeHead(599).end(String(error))),
    )
  },
  Fastify: serveFastify,
}

for (const [name, start] of Object.entries(servers)) {
  test(`${name}: a signed callback is handled, a forged one is refused`, async (t) => {
    const { receiver, handled } = makeReceiver()
    const url = await start(t, receiver)
    const good = await post(url)
    assert.equal(good.status, 200)
    assert.equal(await good.text(), '')
    const forged = await post(url, { sharedKey: 'another' })
    assert.equal(forged.status, 401)
    assert.equal(((await forged.json()) as { error: string }).error, 'signature-mismatch')
    assert.deepEqual(handled, ['1250.50'])
  })

  test(`${name}: a document of 3 MB arrives whole, also in chunks`, async (t) => {
    const { receiver, handled } = makeReceiver()
    const url = await start(t, receiver)
    const document = {
      mediaType: 'image/png',
      name: 'a.png',
      base64EncodedFile: 'A'.repeat(4_000_000),
    }
    assert.equal((await post(url, { payment: { document } })).status, 200)
    const { headers, body } = await signForTest({
      sharedKey: KEY,
      payment: { document },
      sequence: 2,
    })
    const sent = request(url, { method: 'POST', headers })
    for (let at = 0; at < body.length; at += 500_000) sent.write(body.subarray(at, at + 500_000))
    sent.end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    assert.equal(response.resume().statusCode, 200)
    assert.equal(handled.length, 2)
  })

  test(`${name}: a body over the limit is 413, and the server goes on`, async (t) => {
    const { receiver } = makeReceiver(1_000)
    const url = await start(t, receiver)
    const reference = 'x'.repeat(100_000)
    assert.equal((await post(url, { payment: { reference } })).status, 413)
    assert.equal((await post(url)).status, 200)
  })

  test(`${name}: a sender that leaves in the middle of the body leaves no trace`, async (t) => {
    const { receiver, handled } = makeReceiver()
    const url = new URL(await start(t, receiver))
    const socket = connect(Number(url.port), '127.0.0.1')
    socket.write('POST /hook HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n')
    socket.write('content-length: 1000\r\n\r\n{"id":')
    await once(socket, 'connect')
    socket.destroy()
    assert.equal((await post(url.href)).status, 200)
    assert.equal(handled.length, 1)
  })

  test(`${name}: an empty body is refused`, async (t) => {
    const url = await start(t, makeReceiver().receiver)
    assert.equal((await fetch(url, { method: 'POST' })).status, 401)
  })
}

test('node:http: another method is 405', async (t) => {
  const url = await serve(t, toNodeHandler(makeReceiver().receiver))
  for (const method of ['GET', 'PUT', 'DELETE']) {
    assert.equal((await fetch(url, { method })).status, 405)
  }
})

test('Fastify: the parsers of other routes stay', async (t) => {
  const url = await serveFastify(t, makeReceiver().receiver)
  const response = await fetch(url.replace('/hook', '/json'), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"a":1}',
  })
  assert.deepEqual(await response.json(), { a: 1 })
})

/** As the parsers of Express do: read everything, then put it on the request. */
function afterParser(handler: NodeHandler, parse: (raw: Buffer) => object): Handler {
  return async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk)
    Object.assign(req, parse(Buffer.concat(chunks)))
    await handler(req, res, (error) => res.writeHead(599).end(String(error)))
  }
}

test('Express: after express.raw() and raw bodies of other kinds it works', async (t) => {
  for (const parse of [
    (raw: Buffer) => ({ body: raw }),
    (raw: Buffer) => ({ body: raw.toString() }),
    (raw: Buffer) => ({ body: JSON.parse(raw.toString()), rawBody: raw }),
  ]) {
    const { receiver, handled } = makeReceiver()
    const url = await serve(t, afterParser(toExpressHandler(receiver), parse))
    assert.equal((await post(url)).status, 200)
    assert.equal(handled.length, 1)
  }
})

test('Express: after express.json() it says what is wrong, loudly', async (t) => {
  const { receiver, handled } = makeReceiver()
  const parse = (raw: Buffer) => ({ body: JSON.parse(raw.toString()) })
  const url = await serve(t, afterParser(toExpressHandler(receiver), parse))
  const response = await post(url)
  assert.equal(response.status, 599, 'next() has got the error')
  assert.match(await response.text(), /before express\.json\(\)/)
  assert.deepEqual(handled, [])
})

test('node:http: after a parser it says so too, to the console and in the answer', async (t) => {
  const logged = t.mock.method(console, 'error', () => {})
  const { receiver } = makeReceiver()
  const handler = toNodeHandler(receiver)
  const url = await serve(t, async (req, res) => {
    for await (const _ of req);
    await handler(req, res)
  })
  const response = await post(url)
  assert.equal(response.status, 500)
  assert.match(await response.text(), /The body was read before/)
  assert.equal(logged.mock.callCount(), 1)
})
