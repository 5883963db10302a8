import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import {
  answering,
  type Behaviour,
  OK,
  startRawReceiver,
} from '../../../test/support/raw-receiver.ts'
import { until } from '../../../test/support/until.ts'
import type { Outcome } from '../../core/delivery/delivery.ts'
import { CallbackClient, type CallbackClientOptions } from './callback-client.ts'
import type { Posted } from './exchange.ts'

const TIMEOUT: Outcome = { kind: 'unreachable', reason: 'timeout' }
const SANDBOX = { loopbackAllowed: true, allowedNetworks: [] }
/** Whatever a busy machine takes for an attempt, no limit is over. */
const PATIENT = { connectTimeoutMs: 60_000, deadlineMs: 120_000, bodyTimeMs: 60_000 }
/** For what nothing else can end. */
const SHORT = { deadlineMs: 200 }

function startClient(t: TestContext, options: Partial<CallbackClientOptions> = {}): CallbackClient {
  const client = new CallbackClient({ policy: SANDBOX, idleMsMax: 60_000, ...PATIENT, ...options })
  t.after(() => client.close())
  return client
}

function requestTo(port: number, more: Partial<Posted> = {}): Posted {
  return {
    url: `http://127.0.0.1:${port}/callbacks?a=b`,
    clientKey: 1,
    headers: ['content-type', 'application/json'],
    body: [Buffer.from('{"id":1}')],
    ...more,
  }
}

async function startHttp(t: TestContext, answer: RequestListener): Promise<number> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function reasonOf(outcome: Outcome): string {
  return outcome.kind === 'answered' ? `answered ${outcome.status}` : outcome.reason
}

async function sendTo(t: TestContext, behave: Behaviour, options?: Partial<CallbackClientOptions>) {
  const receiver = await startRawReceiver(t, behave)
  const client = startClient(t, options)
  const result = await client.send(requestTo(receiver.port))
  return { receiver, client, ...result }
}

/** Its clock stands still until the test moves it; the timers of its limits look at it every 50 ms. */
async function sendOnClock(
  t: TestContext,
  behave: Behaviour,
  limits: { bodyTimeMs?: number; deadlineMs?: number } = {},
) {
  let nowMs = 0
  let hasHeader = false
  const receiver = await startRawReceiver(t, behave)
  // Once the request has arrived, nothing but the header of an answer makes the client read its clock, until a limit of
  // its own is over.
  const monotonicMs = () => {
    hasHeader ||= receiver.receivedBytes > 0
    return nowMs
  }
  const client = startClient(t, { deadlineMs: 50, ...limits, monotonicMs })
  const sent = client.send(requestTo(receiver.port))
  const set = (ms: number) => {
    nowMs = ms
  }
  return { receiver, client, sent, set, hasHeader: () => hasHeader }
}

test('a callback arrives as one POST with its headers and body, and the answer comes back', async (t) => {
  const seen: { request: IncomingMessage; body: Buffer }[] = []
  const port = await startHttp(t, async (request, response) => {
    seen.push({ request, body: await readBody(request) })
    response.end('thanks')
  })
  const headers = ['content-type', 'application/json', 'Authorization', 'Basic abc']
  const body = [Buffer.from('{"amount":100.00}')]
  const startedAt = performance.now()
  const { outcome, durationMs } = await startClient(t).send(requestTo(port, { headers, body }))
  const tookMs = performance.now() - startedAt

  assert.deepEqual(outcome, { kind: 'answered', status: 200, excerpt: Buffer.from('thanks') })
  assert.ok(durationMs > 0 && durationMs <= tookMs, `${durationMs} of ${tookMs}`)
  assert.equal(seen.length, 1)
  const [{ request, body: received } = assert.fail()] = seen
  assert.equal(`${request.method} ${request.url}`, 'POST /callbacks?a=b')
  assert.equal(received.toString(), '{"amount":100.00}')
  assert.deepEqual(request.headersDistinct.authorization, ['Basic abc'])
  assert.deepEqual(request.headersDistinct.host, [`127.0.0.1:${port}`])
  assert.deepEqual(request.headersDistinct['content-length'], ['17'])
})

test('parts arrive as one body of known length, the small joined, the large written one by one', async (t) => {
  const port = await startHttp(t, async (request, response) => {
    const body = await readBody(request)
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
    response.end(`${length} ${body.length} ${encoding} ${body[0]} ${body.at(-1)}`)
  })
  const client = startClient(t)
  for (const size of [0, 1, 1_000, 40_000, 5_000_000]) {
    const body = [Buffer.from('<'), Buffer.alloc(size, 'x'), Buffer.from('>')]
    const { outcome } = await client.send(requestTo(port, { body }))
    assert.equal(outcome.kind, 'answered')
    const text = outcome.kind === 'answered' && Buffer.from(outcome.excerpt ?? []).toString()
    assert.equal(text, `${size + 2} ${size + 2} undefined 60 62`)
  }
  const { outcome } = await client.send(requestTo(port, { body: [] }))
  assert.equal(reasonOf(outcome), 'answered 200')
  assert.equal(client.socketCount, 1)
})

test('only the status decides: each comes back as it is', async (t) => {
  const port = await startHttp(t, (request, response) => {
    response.statusCode = Number(new URL(request.url ?? '', 'http://x').searchParams.get('status'))
    response.setHeader('retry-after', '120')
    response.end()
  })
  const client = startClient(t)
  for (const status of [200, 201, 204, 304, 400, 404, 410, 429, 500, 503]) {
    const url = `http://127.0.0.1:${port}/?status=${status}`
    const { outcome } = await client.send(requestTo(port, { url }))
    const retryAfter = status === 429 || status === 503 ? { retryAfter: '120' } : {}
    assert.deepEqual(outcome, { kind: 'answered', status, ...retryAfter })
  }
})

test('S2: an address that may not be called is blocked without a packet', async (t) => {
  const receiver = await startRawReceiver(t, answering(OK))
  const production = startClient(t, { policy: { loopbackAllowed: false, allowedNetworks: [] } })
  const urls = [`http://127.0.0.1:${receiver.port}/`, `https://127.0.0.1:${receiver.port}/`]
  urls.push(`https://localhost:${receiver.port}/`, `https://[::ffff:127.0.0.1]:${receiver.port}/`)
  for (const url of [...urls, 'https://10.0.0.1/', 'http://example.com/', 'not a url', '']) {
    const { outcome } = await production.send(requestTo(0, { url }))
    assert.deepEqual(outcome, { kind: 'blocked', reason: 'blocked-address' }, url)
  }
  const sandbox = startClient(t)
  for (const host of ['0.0.0.0', '[::ffff:127.0.0.1]', '10.0.0.1', 'x.localhost']) {
    const { outcome } = await sandbox.send(
      requestTo(0, { url: `http://${host}:${receiver.port}/` }),
    )
    assert.deepEqual(outcome, { kind: 'blocked', reason: 'blocked-address' }, host)
  }
  assert.equal(receiver.connectionCount, 0)
})

test('S4: a redirect is an answer and is not followed', async (t) => {
  const target = await startRawReceiver(t, answering(OK))
  const port = await startHttp(t, (request, response) => {
    const location = `http://127.0.0.1:${target.port}/`
    const headers = { location, refresh: `0;url=${location}`, link: `<${location}>; rel=preload` }
    response.writeHead(Number(request.headers['x-status']), headers).end()
  })
  const client = startClient(t)
  for (const status of ['301', '302', '303', '307', '308']) {
    const { outcome } = await client.send(requestTo(port, { headers: ['x-status', status] }))
    assert.equal(reasonOf(outcome), `answered ${status}`)
  }
  assert.equal(target.connectionCount, 0)
})

test('S5: cookies, Alt-Svc and early hints are ignored', async (t) => {
  const hints = 'HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n'.repeat(200)
  const extras = 'Set-Cookie: a=b\r\nAlt-Svc: h2=":1"\r\n'
  const answer = `${hints}HTTP/1.1 200 OK\r\n${extras}Content-Length: 0\r\n\r\n`
  const { receiver, client, outcome } = await sendTo(t, answering(answer))
  assert.equal(reasonOf(outcome), 'answered 200')
  await client.send(requestTo(receiver.port))
  assert.doesNotMatch(receiver.received, /cookie/i)
})

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'

test('regression: a 100 Continue that was not asked for is no error, however it is cut', async (t) => {
  for (const interim of [
    CONTINUE,
    CONTINUE.repeat(3),
    'HTTP/1.0 100\r\nX-A: b\r\n\r\n',
    `HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n${CONTINUE}`,
    `${CONTINUE}HTTP/1.1 102 Processing\r\n\r\n`,
    `\r\n${CONTINUE}`,
  ]) {
    const whole = await sendTo(t, answering(interim + OK))
    assert.equal(reasonOf(whole.outcome), 'answered 200', interim)
    const inPieces = await sendTo(t, (socket) => {
      socket.setNoDelay()
      socket.once('data', async () => {
        for (const byte of interim + OK) {
          await new Promise((resolve) => socket.write(byte, resolve))
          await new Promise(setImmediate)
        }
      })
    })
    assert.equal(reasonOf(inPieces.outcome), 'answered 200', interim)
  }
})

test('regression: a kept connection takes a 100 Continue before every answer', async (t) => {
  const receiver = await startRawReceiver(t, answering(CONTINUE + OK))
  const client = startClient(t)
  for (let at = 0; at < 5; at++) {
    assert.equal(reasonOf((await client.send(requestTo(receiver.port))).outcome), 'answered 200')
  }
  assert.equal(receiver.connectionCount, 1)
})

test('a 100 Continue alone is no answer, and one without an end is broken HTTP', async (t) => {
  assert.equal(reasonOf((await sendTo(t, answering(CONTINUE), SHORT)).outcome), 'timeout')
  const endless = `HTTP/1.1 100 Continue\r\nX-A: ${'a'.repeat(20_000)}`
  assert.equal(reasonOf((await sendTo(t, answering(endless))).outcome), 'protocol-error')
})

test('regression: only HTTP is HTTP, whatever else says 200', async (t) => {
  for (const line of [
    'RTSP/1.0 200 OK',
    'ICE/1.0 200 OK',
    'HTCPCP/1.0 200 OK',
    'http/1.1 200 OK',
  ]) {
    const { outcome } = await sendTo(t, answering(`${line}\r\nContent-Length: 0\r\n\r\n`))
    assert.equal(reasonOf(outcome), 'protocol-error', line)
  }
})

test('S5: the deadline holds under an endless flood of 103s', async (t) => {
  let hints = 0
  const pour: Behaviour = (socket) => {
    const timer = setInterval(() => {
      hints += 1
      socket.write('HTTP/1.1 103 Early Hints\r\n\r\n')
    }, 5)
    socket.on('close', () => clearInterval(timer))
  }
  const { receiver, sent, set } = await sendOnClock(t, pour)
  await until('the flood has begun', () => receiver.receivedBytes > 0 && hints > 10)
  set(50)
  assert.deepEqual(await sent, { outcome: TIMEOUT, durationMs: 50 })
  await receiver.until(() => receiver.openCount === 0)
})

test('S6: proxy variables in the environment change nothing', async (t) => {
  const proxy = await startRawReceiver(t, answering(OK))
  const receiver = await startRawReceiver(t, answering(OK))
  const script = `
    import { CallbackClient } from ${JSON.stringify(new URL('./callback-client.ts', import.meta.url).href)}
    const client = new CallbackClient({ policy: { loopbackAllowed: true, allowedNetworks: [] } })
    const url = 'http://127.0.0.1:${receiver.port}/'
    const { outcome } = await client.send({ url, clientKey: 1, headers: [], body: [] })
    console.log(outcome.status)
    await client.close()`
  const proxyUrl = `http://127.0.0.1:${proxy.port}`
  const names = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'ALL_PROXY', 'all_proxy']
  const env = {
    ...Object.fromEntries(names.map((name) => [name, proxyUrl])),
    NODE_USE_ENV_PROXY: '1',
  }
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { env })
  const printed = await child.stdout.toArray()
  assert.equal(Buffer.concat(printed).toString().trim(), '200')
  assert.equal(receiver.connectionCount, 1)
  assert.equal(proxy.connectionCount, 0)
})

test('O1: a silent receiver, and one that drips its header, end at the deadline', async (t) => {
  let dripped = 0
  const drip: Behaviour = (socket) => {
    const timer = setInterval(() => {
      socket.write('HTTP/1.1 200 OK\r\nX: y'.charAt(dripped) || 'y')
      dripped += 1
    }, 5)
    socket.on('close', () => clearInterval(timer))
  }
  for (const [behave, bytes] of [[() => {}, 0] as const, [drip, 30] as const]) {
    const { receiver, sent, set } = await sendOnClock(t, behave)
    await until('it is under way', () => receiver.receivedBytes > 0 && dripped >= bytes)
    set(50)
    assert.deepEqual(await sent, { outcome: TIMEOUT, durationMs: 50 })
    await receiver.until(() => receiver.openCount === 0)
  }
})

test('O1: a 200 whose body drips is a success, and its socket goes when the time for bodies is over', async (t) => {
  const drip: Behaviour = (socket) => {
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n')
      const timer = setInterval(() => socket.write('x'), 10)
      socket.on('close', () => clearInterval(timer))
    })
  }
  const limits = { bodyTimeMs: 50, deadlineMs: 60_000 }
  const { receiver, client, sent, set, hasHeader } = await sendOnClock(t, drip, limits)
  await until('the header is in', hasHeader)
  set(50)
  const { outcome, durationMs } = await sent
  assert.equal(reasonOf(outcome), 'answered 200')
  assert.equal(durationMs, 0, 'the header decides, and is what is timed')
  await receiver.until(() => receiver.openCount === 0)
  assert.equal(client.socketCount, 0)
})

test('F12: an answer that comes after the deadline is no late success', async (t) => {
  let nowMs = 0
  const receiver = await startRawReceiver(t, (socket) => {
    socket.on('data', () => {
      nowMs += 15_001
      socket.write(OK)
    })
  })
  // Only the clock jumps: the timer of the deadline has not fired when the answer comes.
  const client = startClient(t, { monotonicMs: () => nowMs, deadlineMs: 15_000 })
  const { outcome } = await client.send(requestTo(receiver.port))
  assert.equal(reasonOf(outcome), 'timeout')
})

test('O2: of a huge, endless or compressed body a little is read, raw, and the socket goes', async (t) => {
  const endless: Behaviour = (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`
    const pour = () => {
      while (!socket.destroyed && socket.write(chunk));
    }
    socket.on('drain', pour)
    pour()
  }
  const bomb = gzipSync(Buffer.alloc(50_000_000))
  const gzip = `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`
  const big = Buffer.alloc(10_000_000, 'x')
  const announce = 'HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n'
  const bodies: Behaviour[] = [
    endless,
    (socket) => socket.write(Buffer.concat([Buffer.from(gzip), bomb])),
    (socket) => socket.write(Buffer.concat([Buffer.from(announce), big])),
    (socket) => socket.end(Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\n\r\n'), big])),
  ]
  for (const behave of bodies) {
    const { outcome, receiver } = await sendTo(t, behave)
    assert.equal(outcome.kind === 'answered' && outcome.status, 200)
    const excerpt = outcome.kind === 'answered' ? outcome.excerpt : undefined
    assert.equal(excerpt?.byteLength, 4096)
    if (behave === bodies[1]) assert.equal(excerpt?.[0], 0x1f, 'nothing is decompressed')
    await receiver.until(() => receiver.openCount === 0)
  }
})

test('O2: a hundred endless bodies at once cost less than 50 MB', async (t) => {
  const chunk = Buffer.from(`4000\r\n${'x'.repeat(0x4000)}\r\n`)
  const receiver = await startRawReceiver(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
    const pour = () => {
      while (!socket.destroyed && socket.write(chunk));
    }
    socket.on('drain', pour)
    pour()
  })
  const client = startClient(t, { connectionsPerOrigin: 100 })
  const before = process.memoryUsage.rss()
  const sent = Array.from({ length: 100 }, () => client.send(requestTo(receiver.port)))
  for (const { outcome } of await Promise.all(sent)) assert.equal(reasonOf(outcome), 'answered 200')
  const grownBy = process.memoryUsage.rss() - before
  assert.ok(grownBy < 50_000_000, `${grownBy}`)
})

test('a body within the limit is read to its end and its connection is kept', async (t) => {
  const body = 'y'.repeat(16_383)
  const answer = `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const { receiver, client } = await sendTo(t, answering(answer))
  for (let n = 0; n < 5; n += 1) {
    const { outcome } = await client.send(requestTo(receiver.port))
    assert.equal(outcome.kind === 'answered' && outcome.excerpt?.byteLength, 4096)
  }
  assert.equal(receiver.connectionCount, 1)
})

test('O3: broken HTTP before a whole header is a failed attempt', async (t) => {
  const broken: [string, string][] = [
    [`HTTP/1.1 200 OK\r\nX-Big: ${'x'.repeat(1_000_000)}\r\n\r\n`, 'protocol-error'],
    ['HTTP/1.1 abc OK\r\n\r\n', 'protocol-error'],
    ['HTTP/1.1 99999 OK\r\n\r\n', 'protocol-error'],
    ['HELLO\r\n\r\n', 'protocol-error'],
    ['<html>HTTP/0.9</html>', 'protocol-error'],
    [
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      'protocol-error',
    ],
    ['HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 'protocol-error'],
    ['HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n', 'protocol-error'],
    ['HTTP/1.1 200 OK\r\nBad Header\r\n\r\n', 'protocol-error'],
    [
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
      'protocol-error',
    ],
    ['\0\0\0\0\0\0', 'protocol-error'],
  ]
  for (const [bytes, reason] of broken) {
    const { outcome } = await sendTo(t, answering(bytes))
    assert.equal(reasonOf(outcome), reason, JSON.stringify(bytes.slice(0, 60)))
  }
})

test('O3: whatever follows a whole 200 header, the answer stands', async (t) => {
  const header = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
  for (const tail of [
    'zz\r\nbad chunk',
    '5\r\nab',
    '5\r\nabcdeXX',
    '\0',
    '0\r\nbad trailer\0\r\n\r\n',
  ]) {
    const { outcome } = await sendTo(t, answering(header + tail), { bodyTimeMs: 100 })
    assert.equal(reasonOf(outcome), 'answered 200', JSON.stringify(tail))
  }
})

test('O3: no bytes at all can make the sender throw or hang', async (t) => {
  let bytes = Buffer.alloc(0)
  const receiver = await startRawReceiver(t, (socket) => {
    socket.on('data', () => socket.end(bytes))
  })
  const client = startClient(t)
  const pieces = [
    'HTTP/1.1 200 OK',
    'HTTP/1.1 103 x',
    '\r\n',
    '\r\n\r\n',
    'Content-Length: 3',
    'abc',
    '\n',
    '0',
  ]
  const piece = fc.oneof(
    fc.constantFrom(...pieces, 'Transfer-Encoding: chunked', 'Connection: close').map(Buffer.from),
    fc.uint8Array({ maxLength: 6 }).map((array) => Buffer.from(array)),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 8 }), async (parts) => {
      bytes = Buffer.concat(parts)
      const { outcome } = await client.send(requestTo(receiver.port))
      assert.ok(outcome.kind === 'answered' || outcome.kind === 'unreachable')
      // The receiver has closed: that is not to be waited out.
      assert.notEqual(reasonOf(outcome), 'timeout')
    }),
    { numRuns: 200 },
  )
})

test('F13: a reset before a whole header fails the attempt, after it the answer stands', async (t) => {
  const onData = (act: (socket: Socket) => void): Behaviour => {
    return (socket) => socket.on('data', () => act(socket))
  }
  const cases: [string, Behaviour, string][] = [
    ['on accept', (socket) => socket.resetAndDestroy(), 'connection-reset'],
    ['before headers', onData((socket) => socket.resetAndDestroy()), 'connection-reset'],
    ['closed before headers', onData((socket) => socket.end()), 'connection-reset'],
    [
      'mid-headers',
      onData((socket) => socket.write('HTTP/1.1 200 OK\r\nX: ', () => socket.resetAndDestroy())),
      'connection-reset',
    ],
    [
      'half-close in the header',
      onData((socket) => socket.end('HTTP/1.1 200 OK\r\n')),
      'connection-reset',
    ],
    [
      'half-close in the body',
      onData((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab')),
      'answered 200',
    ],
    [
      'a whole answer, then closed',
      onData((socket) => socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nab')),
      'answered 200',
    ],
  ]
  for (const [name, behave, expected] of cases) {
    const { outcome, receiver, client } = await sendTo(t, behave)
    assert.equal(reasonOf(outcome), expected, name)
    await receiver.until(() => receiver.connectionCount === 1)
    assert.equal(client.socketCount <= 1, true)
  }
})

test('F13: a reset in the middle of a 200 body is a success', async (t) => {
  let reset = () => {}
  const receiver = await startRawReceiver(t, (socket) => {
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab'))
    reset = () => socket.resetAndDestroy()
  })
  // The clock is read when the header is in: only then is the socket reset.
  let readings = 0
  const monotonicMs = () => {
    readings += 1
    if (receiver.receivedBytes > 0) setImmediate(reset)
    return readings
  }
  const client = startClient(t, { monotonicMs, deadlineMs: 1e9, bodyTimeMs: 1e9 })
  const { outcome } = await client.send(requestTo(receiver.port))
  assert.equal(reasonOf(outcome), 'answered 200')
})

test('a port without a listener is a connect-error', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  const client = startClient(t)
  const { outcome } = await client.send(requestTo(port))
  assert.equal(reasonOf(outcome), 'connect-error')
  assert.equal(client.socketCount, 0)
})

/** Sends from a process that has no file descriptor left; tells what came of it. */
async function sendWithoutDescriptors(url: string): Promise<string> {
  const program = `
    import { openSync } from 'node:fs'
    import { CallbackClient } from '${new URL('./callback-client.ts', import.meta.url)}'
    const policy = { loopbackAllowed: true, allowedNetworks: [] }
    const client = new CallbackClient({ policy, idleMsMax: 1 })
    const request = { clientKey: 1, headers: [], body: [] }
    // Whatever is loaded at the first use is loaded while that is possible.
    await client.send({ ...request, url: 'http://127.0.0.1:1/' })
    process.stdout.write('.')
    const open = []
    try { for (;;) open.push(openSync('/dev/null')) } catch {}
    await client.send({ ...request, url: ${JSON.stringify(url)} }).then(
      ({ outcome }) => process.stdout.write(JSON.stringify(outcome)),
      (error) => process.stdout.write('rejects with ' + error.code),
    )
    process.exit()`
  const command = `ulimit -n 80; exec "$0" --input-type=module -e "$1"`
  const child = spawn('sh', ['-c', command, process.execPath, program])
  const errors = child.stderr.toArray()
  const printed = String(Buffer.concat(await child.stdout.toArray()))
  assert.ok(printed.startsWith('.'), String(Buffer.concat(await errors)))
  return printed.slice(1)
}

test('regression: our own lack of sockets is no attempt, whatever the address', async (t) => {
  if (process.platform === 'win32') return t.skip('no limit to set')
  const receiver = await startRawReceiver(t, answering(OK))
  for (const url of [
    `http://127.0.0.1:${receiver.port}/`,
    `http://localhost:${receiver.port}/`,
    // With no socket for its question the resolver says that the name server refused it.
    'https://a-name.example.com/',
  ]) {
    assert.equal(await sendWithoutDescriptors(url), 'rejects with overloaded', url)
  }
  assert.equal(receiver.connectionCount, 0)
})

test('H5: a header that cannot be sent is an outcome, and others flow', async (t) => {
  const receiver = await startRawReceiver(t, answering(OK))
  const client = startClient(t)
  const damaged = [
    ['x-a', 'a\r\nX: 1'],
    ['x-a', 'a\0b'],
    ['x-a', '\u010a'],
    ['x a', 'b'],
    ['', 'b'],
    ['x-a'],
    ['transfer-encoding', 'chunked'],
    ['content-length', '3', 'content-length', '4'],
    ['expect', '100-continue'],
    [7 as unknown as string, 'b'],
    ['x-a', {} as unknown as string],
  ]
  for (const headers of damaged) {
    const { outcome } = await client.send(requestTo(receiver.port, { headers }))
    const expected = { kind: 'unsendable', reason: 'invalid-header' }
    assert.deepEqual(outcome, expected, JSON.stringify(headers))
  }
  assert.equal(receiver.receivedBytes, 0)
  assert.equal(reasonOf((await client.send(requestTo(receiver.port))).outcome), 'answered 200')
})

test('an answer that comes before a large body is through is still the answer, and the last on its socket', async (t) => {
  const receiver = await startRawReceiver(t, (socket) => {
    socket.once('data', () => {
      socket.pause()
      socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno')
    })
  })
  const body = [Buffer.alloc(6_000_000, 'x'), Buffer.alloc(6_000_000, 'y')]
  const client = startClient(t)
  for (const parts of [body, body.slice(0, 1)]) {
    const { outcome } = await client.send(requestTo(receiver.port, { body: parts }))
    assert.equal(reasonOf(outcome), 'answered 413')
  }
  assert.equal(receiver.connectionCount, 2)
})

test('a receiver that never reads a large body ends at the deadline', async (t) => {
  const receiver = await startRawReceiver(t, (socket) => socket.pause())
  const body = [Buffer.alloc(6_000_000, 'x'), Buffer.alloc(6_000_000, 'y')]
  for (const parts of [body, body.slice(0, 1)]) {
    const { outcome } = await startClient(t, SHORT).send(requestTo(receiver.port, { body: parts }))
    assert.equal(reasonOf(outcome), 'timeout')
  }
})

test('regression: F3, a process that was frozen before the first byte sends nothing after its deadline', async (t) => {
  const receiver = await startRawReceiver(t, answering(OK))
  let frozenMs = 0
  const client = startClient(t, { monotonicMs: () => performance.now() + frozenMs })
  assert.equal(reasonOf((await client.send(requestTo(receiver.port))).outcome), 'answered 200')
  const bytes = receiver.receivedBytes
  // The wire looks at a socket that was idle for one round of the event loop; when it is over, the clock
  // has gone on, and no timer has run yet.
  const sending = client.send(requestTo(receiver.port))
  frozenMs = 2 * PATIENT.deadlineMs
  assert.equal(reasonOf((await sending).outcome), 'timeout')
  await receiver.until(() => receiver.closedCount === receiver.connectionCount)
  assert.equal(receiver.receivedBytes, bytes)
})

test('regression: F3, a process that was frozen before it began to send sends nothing under a lease that may end', async (t) => {
  const receiver = await startRawReceiver(t, answering(OK))
  const client = startClient(t, { cautiousMs: () => 10_000 })
  const late = requestTo(receiver.port, { beginByMs: 10_000 })
  await assert.rejects(client.send(late), /the lease may end/)
  assert.equal(client.socketCount, 0)
  const timely = requestTo(receiver.port, { beginByMs: 10_001 })
  assert.equal(reasonOf((await client.send(timely)).outcome), 'answered 200')
  assert.equal(receiver.connectionCount, 1)
})

test('regression: a machine that slept before the first byte sends nothing when it wakes up', async (t) => {
  const receiver = await startRawReceiver(t, answering(OK))
  let sleptMs = 0
  // The monotonic clock stood still during the sleep: only the cautious one knows.
  const client = startClient(t, { cautiousMs: () => performance.now() + sleptMs })
  assert.equal(reasonOf((await client.send(requestTo(receiver.port))).outcome), 'answered 200')
  const bytes = receiver.receivedBytes
  const sending = client.send(requestTo(receiver.port))
  sleptMs = 2 * PATIENT.deadlineMs
  assert.equal(reasonOf((await sending).outcome), 'timeout')
  await receiver.until(() => receiver.closedCount === receiver.connectionCount)
  assert.equal(receiver.receivedBytes, bytes)
})

test('what has left when a clock jumps ahead is waited for: the wall clock may merely have been set', async (t) => {
  let jumpedMs = 0
  const receiver = await startRawReceiver(t, answering(OK))
  const client = startClient(t, { cautiousMs: () => performance.now() + jumpedMs })
  const sending = client.send(requestTo(receiver.port))
  await receiver.until(() => receiver.receivedBytes > 0)
  jumpedMs = 3_600_000
  assert.equal(reasonOf((await sending).outcome), 'answered 200')
})
