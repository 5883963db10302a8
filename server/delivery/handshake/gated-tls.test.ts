// Connections whose handshake has passed the gate, over real sockets: what goes to and fro, and how they end.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer as createTcpServer, Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createSecureContext, createServer, type TLSSocket } from 'node:tls'
import { issue } from '../../../test/support/issue-certificate.ts'
import { until } from '../../../test/support/until.ts'
import { connectGated, HandshakeRefused } from './gated-tls.ts'

const root = issue({ subject: 'CN=root', isAuthority: true })
const own = issue({ subject: 'CN=receiver', by: root, addresses: ['127.0.0.1'] })
const secureContext = createSecureContext({ ca: root.pem })
/** More than the buffers of both sides. */
const LARGE = Buffer.alloc(20 * 1024 * 1024, 'paybell ')

function call(port: number) {
  const parts: Buffer[] = []
  const costs: number[] = []
  const tcp = new Socket({
    onread: {
      buffer: Buffer.alloc(64 * 1024),
      callback: (size, buffer) => {
        take(Buffer.from(buffer.subarray(0, size)))
        return true
      },
    },
  })
  const tls = { host: '127.0.0.1', secureContext }
  const { socket, take } = connectGated(tcp, tls, (ms) => costs.push(ms))
  socket.on('data', (bytes) => parts.push(bytes))
  tcp.connect(port, '127.0.0.1')
  let error: NodeJS.ErrnoException | null = null
  let isEnded = false
  socket.on('error', (failure) => {
    error = failure
  })
  socket.on('end', () => {
    isEnded = true
  })
  const { promise: closed, resolve } = Promise.withResolvers<{
    error: NodeJS.ErrnoException | null
    isEnded: boolean
  }>()
  socket.on('close', () => resolve({ error, isEnded }))
  return { socket, tcp, costs, closed, received: () => Buffer.concat(parts) }
}

test('what is sent and answered arrives whole', async (t) => {
  const port = await serve(t, (socket) => socket.pipe(socket))
  const { socket, tcp, costs, received, closed } = call(port)
  socket.write(LARGE)
  await until('all has come back', () => received().length >= LARGE.length)
  assert.ok(received().equals(LARGE))
  assert.equal(tcp.remoteAddress, '127.0.0.1')
  assert.equal(costs.length, 1)
  assert.ok((costs[0] ?? 0) > 0)
  socket.destroy()
  assert.equal((await closed).error, null)
})

test('a receiver that stops reading holds the writer up, and no more', async (t) => {
  const sockets: TLSSocket[] = []
  const port = await serve(t, (socket) => sockets.push(socket.pause()))
  const { socket, received } = call(port)
  assert.equal(socket.write(LARGE), false)
  await until('it is connected', () => sockets.length > 0)
  assert.ok(socket.writableLength > 0)
  sockets[0]?.write('early')
  await until('it is heard meanwhile', () => received().toString() === 'early')
  sockets[0]?.resume()
  await once(socket, 'drain')
  socket.destroy()
})

test('the end of what a receiver sends is told', async (t) => {
  const port = await serve(t, (socket) => socket.end('the last'))
  const { received, closed, socket } = call(port)
  await once(socket, 'end')
  socket.destroy()
  assert.ok((await closed).isEnded)
  assert.equal(received().toString(), 'the last')
})

test('a connection that breaks without an end of TLS is told', async (t) => {
  const beneath: Socket[] = []
  const port = await serve(t, (socket) => socket.write('first'), beneath)
  const ended = call(port)
  await until('it is heard', () => ended.received().length > 0)
  beneath[0]?.end()
  await once(ended.socket, 'end')
  ended.socket.destroy()
  await ended.closed

  const reset = call(port)
  await until('it is heard', () => reset.received().length > 0)
  beneath[1]?.resetAndDestroy()
  const { error } = await reset.closed
  assert.equal(error?.code, 'ECONNRESET')
})

test('a receiver that hangs up before TLS is up, and one that speaks something else', async (t) => {
  const port = await serveTcp(t, (socket) => socket.end())
  const { error } = await call(port).closed
  assert.equal(error?.code, 'ECONNRESET')

  const http = await serveTcp(t, (socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'))
  const other = await call(http).closed
  assert.ok(other.error instanceof HandshakeRefused)
  const refused = await call(1).closed
  assert.equal((refused.error as NodeJS.ErrnoException | null)?.code, 'ECONNREFUSED')
})

test('a hundred connections that are given up half-way leave no descriptor', async (t) => {
  const open = new Set<Socket>()
  const port = await serveTcp(t, (socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
  })
  for (let n = 0; n < 100; n++) {
    const { socket, closed } = call(port)
    if (n % 2 === 0) await once(socket, 'connect')
    socket.destroy()
    await closed
  }
  await until('the receiver has seen each go', () => open.size === 0)
  const sockets = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap')
  assert.ok(sockets.length < 10, `${sockets.length} sockets`)
})

async function serve(
  t: TestContext,
  onConnection: (socket: TLSSocket) => void,
  beneath: Socket[] = [],
): Promise<number> {
  const server = createServer({ key: own.keyPem, cert: own.pem }, (socket) => {
    socket.on('error', () => {})
    onConnection(socket)
  })
  server.on('connection', (socket) => {
    socket.on('error', () => {})
    beneath.push(socket)
  })
  return listen(t, server)
}

async function serveTcp(t: TestContext, onConnection: (socket: Socket) => void): Promise<number> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {}).resume()
    onConnection(socket)
  })
  return listen(t, server)
}

async function listen(t: TestContext, server: ReturnType<typeof createTcpServer>): Promise<number> {
  const open = new Set<Socket>()
  server.on('connection', (socket) => open.add(socket))
  t.after(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
