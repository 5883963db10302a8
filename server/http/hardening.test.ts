// Requests that no HTTP library sends, over real sockets (reliability O7, P1).

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import test, { type TestContext } from 'node:test'
import { cloneDatabase } from '../../test/support/database.ts'
import {
  BASE_URL,
  onboard,
  serveHttp,
  type TestServer,
} from '../../test/support/injected-server.ts'

const { pool } = await cloneDatabase()

interface RawAnswer {
  status: number
  headers: Map<string, string>
  body: string
  text: string
}

async function listen(t: TestContext): Promise<TestServer & { port: number }> {
  const server = await serveHttp(t, pool)
  await server.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = server.app.server.address() as AddressInfo
  return Object.assign(server, { port })
}

/** Sends the bytes as they are and reads until the server closes. */
async function send(port: number, bytes: string | Buffer): Promise<RawAnswer> {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.on('error', () => {})
  socket.write(bytes)
  await once(socket, 'close')
  return parse(Buffer.concat(chunks).toString())
}

function parse(text: string): RawAnswer {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = new Map(
    lines.map((line) => {
      const at = line.indexOf(':')
      return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()] as const
    }),
  )
  return { status: Number(statusLine.split(' ')[1]), headers, body: rest.join('\r\n\r\n'), text }
}

function assertRawProblem(answer: RawAnswer, status: number, code: string): void {
  assert.equal(answer.status, status, answer.text)
  assert.equal(answer.headers.get('content-type'), 'application/problem+json')
  assert.equal(answer.headers.get('connection'), 'close')
  const problem = JSON.parse(answer.body)
  assert.equal(problem.code, code)
  assert.equal(problem.type, `${BASE_URL}/problems/${code}`)
  assert.equal(problem.instance, `urn:request:${answer.headers.get('x-request-id')}`)
}

const POST = 'POST /auth/token HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n'

test('O7: requests that two readers could read differently are 400, and the connection closes', async (t) => {
  const { port } = await listen(t)
  for (const [name, bytes] of Object.entries({
    'length and chunked': `${POST}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    'two lengths': `${POST}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
    'unknown coding': `${POST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
    'chunked not last': `${POST}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`,
    'folded line': `${POST}X-A: b\r\n c\r\nContent-Length: 2\r\n\r\n{}`,
    'bare line feed': 'GET /livez HTTP/1.1\nHost: a\n\n',
    'space before colon': 'GET /livez HTTP/1.1\r\nHost : a\r\n\r\n',
    'bad length': `${POST}Content-Length: 2x\r\n\r\n{}`,
    'negative length': `${POST}Content-Length: -2\r\n\r\n{}`,
    'NUL in a header': 'GET /livez HTTP/1.1\r\nHost: a\r\nX-A: \0\r\n\r\n',
    'unknown method': 'FOO /livez HTTP/1.1\r\nHost: a\r\n\r\n',
    'no HTTP at all': 'hello\r\n\r\n',
    'a TLS greeting': Buffer.from('16030100a50100', 'hex'),
  })) {
    const answer = await send(port, bytes)
    assert.equal(answer.status, 400, name)
    assertRawProblem(answer, 400, 'malformed-request')
  }
})

test('headers over 16 KiB and long addresses are 431 in the one shape', async (t) => {
  const { port } = await listen(t)
  const header = `GET /livez HTTP/1.1\r\nHost: a\r\nX-A: ${'x'.repeat(20_000)}\r\n\r\n`
  assertRawProblem(await send(port, header), 431, 'headers-too-large')
  const address = `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`
  assertRawProblem(await send(port, address), 431, 'headers-too-large')
})

test('O7: a sender that is slow with its headers gets 408 and is cut off', async (t) => {
  const server = await serveHttp(t, pool)
  assert.equal(server.app.server.headersTimeout, 10_000)
  assert.equal(server.app.server.requestTimeout, 30_000)
  // The same path, in less time: Node looks at its connections every 2 seconds.
  server.app.server.headersTimeout = 100
  server.app.server.requestTimeout = 200
  await server.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = server.app.server.address() as AddressInfo
  const [slowHead, slowBody] = await Promise.all([
    send(port, 'GET /livez HTTP/1.1\r\nHos'),
    send(port, `${POST}Content-Length: 20\r\n\r\n{`),
  ])
  assertRawProblem(slowHead, 408, 'request-timeout')
  assertRawProblem(slowBody, 408, 'request-timeout')
})

test('a request without a Host, or with one that names no host, is 400', async (t) => {
  const { port } = await listen(t)
  for (const host of [
    '',
    'Host: \r\n',
    'Host: a b\r\n',
    'Host: [::\r\n',
    'Host: a/../b\r\n',
    'Host: a:99999\r\n',
    'Host: a\r\nHost: b\r\n',
  ]) {
    const answer = await send(port, `GET /docs/ HTTP/1.1\r\n${host}Connection: close\r\n\r\n`)
    assertRawProblem(answer, 400, 'malformed-request')
  }
  for (const path of ['/livez', '/docs/']) {
    const old = await send(port, `GET ${path} HTTP/1.0\r\n\r\n`)
    assert.equal(old.status, 200)
  }
})

test('regression: CONNECT is answered, and the connection closes', async (t) => {
  const { port } = await listen(t)
  for (const target of ['example.com:443', '127.0.0.1:5432', '/livez']) {
    const answer = await send(port, `CONNECT ${target} HTTP/1.1\r\nHost: a\r\n\r\nGET /livez`)
    assertRawProblem(answer, 405, 'method-not-allowed')
    assert.match(answer.headers.get('allow') ?? '', /GET/)
    assert.equal(answer.text.match(/HTTP\/1\.1/g)?.length, 1)
  }
})

test('an unknown Expect is ignored, and 100-continue is answered', async (t) => {
  const { port } = await listen(t)
  const rest = 'Host: a\r\nConnection: close\r\n\r\n'
  const odd = await send(port, `GET /livez HTTP/1.1\r\nExpect: the-unexpected\r\n${rest}`)
  assert.equal(odd.status, 200)
})

test('P1: the body of a request without a token is not read', async (t) => {
  const { port } = await listen(t)
  const head =
    'POST /v1/webhooks/register HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n' +
    'Content-Length: 60000\r\nConnection: close\r\n\r\n'
  // The answer comes although the body is never sent.
  const socket = connect(port, '127.0.0.1')
  socket.write(head)
  const [chunk] = (await once(socket, 'data')) as [Buffer]
  assert.equal(parse(chunk.toString()).status, 401)
  socket.destroy()
})

test('P1: a body that grows past its limit chunk by chunk is 413 before it ends', async (t) => {
  const { port } = await listen(t)
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(`${POST}Transfer-Encoding: chunked\r\n\r\n`)
  for (let at = 0; at < 9; at++) socket.write(`400\r\n${'x'.repeat(1_024)}\r\n`)
  const [chunk] = (await once(socket, 'data')) as [Buffer]
  assertRawProblem(parse(chunk.toString()), 413, 'body-too-large')
  socket.destroy()
})

test('P1: an announced body over the limit is 413 before it is sent', async (t) => {
  const { port } = await listen(t)
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(`${POST}Content-Length: 8193\r\n\r\n`)
  const [chunk] = (await once(socket, 'data')) as [Buffer]
  assertRawProblem(parse(chunk.toString()), 413, 'body-too-large')
  socket.destroy()
})

test('regression: a client that is still sending a refused body gets the answer, not a reset', async (t) => {
  const { port } = await listen(t)
  const body = Buffer.alloc(8 * 1024 * 1024, 'x')
  for (const head of [
    `${POST}Content-Length: ${body.length}\r\n\r\n`,
    `${POST}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n`,
    `${POST}Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n`,
  ]) {
    for (let n = 0; n < 5; n++) {
      const answer = await send(port, Buffer.concat([Buffer.from(head), body]))
      assertRawProblem(answer, 413, 'body-too-large')
    }
  }
})

test('A8, T1: two Authorization or AccountId headers are refused on the wire too', async (t) => {
  const server = await listen(t)
  const client = await onboard(server)
  const ask = (...lines: string[]) =>
    send(
      server.port,
      ['GET /v1/webhooks/list HTTP/1.1', 'Host: a', 'Connection: close', ...lines, '', ''].join(
        '\r\n',
      ),
    )
  const authorization = `Authorization: Bearer ${client.token}`
  const account = `AccountId: ${client.accountId}`
  assert.equal((await ask(authorization, account)).status, 200)
  assert.equal(
    (await ask(authorization.toUpperCase().replace(/: .*/, `: bearer ${client.token}`), account))
      .status,
    200,
  )
  assertRawProblem(await ask(authorization, authorization, account), 401, 'invalid-token')
  assertRawProblem(await ask(authorization, 'authorization: x', account), 401, 'invalid-token')
  assertRawProblem(await ask(authorization, account, account), 403, 'invalid-account')
  assertRawProblem(await ask(authorization, account, 'ACCOUNTID: x'), 403, 'invalid-account')
})

test('a body that breaks off is no 500', async (t) => {
  const server = await listen(t)
  const answered = new Promise<void>((resolve) => {
    server.app.server.on('request', (_request, response) => response.on('close', resolve))
  })
  const socket = connect(server.port, '127.0.0.1')
  socket.write(`${POST}Content-Length: 100\r\n\r\n{`)
  await once(socket, 'connect')
  await once(server.app.server, 'request')
  socket.destroy()
  await answered
  assert.ok(!server.log.some((line) => line.includes('request.failed')))
  const alive = await send(
    server.port,
    'GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
  )
  assert.equal(alive.status, 200)
})

test('requests on one connection are answered one after the other, each with its own id', async (t) => {
  const { port } = await listen(t)
  const one = 'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n'
  const last = 'GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
  const { text } = await send(port, one + one + last)
  const ids = [...text.matchAll(/x-request-id: (\S+)/gi)].map((match) => match[1])
  assert.equal(new Set(ids).size, 3)
})
