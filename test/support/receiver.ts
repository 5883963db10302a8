// A real receiver on loopback whose behaviour can change: it answers what a test sets, remembers every
// request byte for byte, and lets a test wait for a fact instead of a time.

import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TlsOptions } from 'node:tls'
import { limitOf, PATIENCE_MS } from './busy-machine.ts'
import type { Owner } from './owner.ts'

export interface Received {
  path: string
  headers: IncomingHttpHeaders
  rawHeaders: readonly string[]
  body: Buffer
  /** What was answered; 0 when the connection was dropped or left hanging. */
  status: number
  atMs: number
}

/** A status, or what to do with the request instead. */
export type Answer = number | 'hang' | 'reset'

/** Looks at the request and says what to answer, or answers by itself and returns nothing. */
export type Decide = (received: Received, response: ServerResponse) => Answer | undefined

export class Receiver {
  /** Asked for each request; a test may replace it at any moment. */
  answer: Answer | Decide = 200
  readonly received: Received[] = []
  readonly #server: Server
  readonly #waiters = new Set<() => void>()

  readonly #scheme: 'http' | 'https'

  constructor(tls?: TlsOptions) {
    const take = (request: IncomingMessage, response: ServerResponse) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const received: Received = {
          path: request.url ?? '',
          headers: request.headers,
          rawHeaders: request.rawHeaders,
          body: Buffer.concat(chunks),
          status: 0,
          atMs: Date.now(),
        }
        this.#respond(received, response)
        this.received.push(received)
        for (const check of [...this.#waiters]) check()
      })
      request.on('error', () => {})
    }
    this.#scheme = tls ? 'https' : 'http'
    this.#server = tls ? createTlsServer(tls, take) : createServer(take)
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  url(path = '/hook'): string {
    return `${this.#scheme}://127.0.0.1:${this.port}${path}`
  }

  /** Requests that were answered 200, in order. */
  get accepted(): readonly Received[] {
    return this.received.filter(({ status }) => status === 200)
  }

  sequences(of: readonly Received[] = this.accepted): readonly number[] {
    return of.map(({ headers }) => Number(headers['x-paybell-sequence']))
  }

  async listen(port = 0): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve))
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** Waits until the condition holds; looks again with every request. */
  hasSeen(condition: (receiver: Receiver) => boolean, limitMs = PATIENCE_MS): Promise<void> {
    if (condition(this)) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiters.delete(check)
        reject(new Error(`not seen within ${limitMs} ms; requests so far: ${this.received.length}`))
      }, limitOf(limitMs))
      const check = () => {
        if (!condition(this)) return
        clearTimeout(timer)
        this.#waiters.delete(check)
        resolve()
      }
      this.#waiters.add(check)
    })
  }

  #respond(received: Received, response: ServerResponse): void {
    const { answer } = this
    const decided = typeof answer === 'function' ? answer(received, response) : answer
    if (decided === undefined) received.status = response.statusCode
    else if (decided === 'reset') response.socket?.resetAndDestroy()
    else if (decided !== 'hang') {
      received.status = decided
      response.writeHead(decided).end()
    }
  }
}

export async function startReceiver(t: Owner, tls?: TlsOptions): Promise<Receiver> {
  const receiver = new Receiver(tls)
  await receiver.listen()
  t.after(() => receiver.close())
  return receiver
}
