// A receiver below HTTP: it is handed each socket and may answer, drip, lie, hang or reset. For what
// an HTTP server would never do. It counts what reached it, and tests wait for those facts.

import { EventEmitter, once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { limitOf, PATIENCE_MS } from './busy-machine.ts'

export type Behaviour = (socket: Socket, connectionNumber: number) => void

export class RawReceiver {
  readonly #changes = new EventEmitter()
  readonly #sockets = new Set<Socket>()
  port = 0
  connectionCount = 0
  closedCount = 0
  receivedBytes = 0
  /** The first bytes of what came in, over all connections. */
  received = ''

  get openCount(): number {
    return this.#sockets.size
  }

  /** Waits for a fact about this receiver; the test fails when it does not come true. */
  async until(isTrue: () => boolean): Promise<void> {
    const signal = AbortSignal.timeout(limitOf(PATIENCE_MS))
    while (!isTrue()) await once(this.#changes, 'change', { signal })
  }

  admit(socket: Socket, behave: Behaviour): void {
    this.connectionCount += 1
    this.#sockets.add(socket)
    socket.on('error', () => {}) // Being reset is part of the game.
    socket.on('data', (chunk) => {
      this.receivedBytes += chunk.length
      if (this.received.length < 100_000) this.received += chunk.toString('latin1')
      this.#changes.emit('change')
    })
    socket.on('close', () => {
      this.closedCount += 1
      this.#sockets.delete(socket)
      this.#changes.emit('change')
    })
    behave(socket, this.connectionCount)
    this.#changes.emit('change')
  }

  destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy()
  }
}

export async function startRawReceiver(
  t: TestContext,
  behave: Behaviour,
  options: { host?: string; port?: number; tls?: TlsOptions } = {},
): Promise<RawReceiver> {
  const receiver = new RawReceiver()
  const admit = (socket: Socket) => receiver.admit(socket, behave)
  const server: Server = options.tls
    ? createTlsServer(options.tls, admit).on('tlsClientError', () => {})
    : createServer(admit)
  server.listen(options.port ?? 0, options.host ?? '127.0.0.1')
  await once(server, 'listening')
  receiver.port = (server.address() as AddressInfo).port
  t.after(() => {
    receiver.destroyAll()
    server.close()
  })
  return receiver
}

/** Answers every request on a connection with these bytes, once its header is through. */
export function answering(bytes: string | Buffer): Behaviour {
  return (socket) => {
    socket.on('data', (chunk) => {
      if (chunk.includes('\r\n\r\n')) socket.write(bytes)
    })
  }
}

export const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

/** A certificate, or a key, of test/support/certificates. */
export function readCertificate(name: string): string {
  return readFileSync(new URL(`./certificates/${name}`, import.meta.url), 'utf8')
}
