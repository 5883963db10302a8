// A receiver on this machine that shows callbacks as they arrive: it checks the signature over the raw
// bytes, and can be made to fail.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { HMAC_HEADER } from '../../server/core/signatures/callback-headers.ts'
import { checkSignature } from './signature.ts'

export interface ReceivedCallback {
  at: Date
  path: string
  event: string | null
  eventId: string | null
  sequence: number | null
  attempt: number | null
  isReplay: boolean
  isTest: boolean
  /** Null when no key was given to check it with. */
  signature: 'holds' | 'wrong' | 'missing' | null
  /** What there is to say of it, in a sentence: what is wrong, or that the key was replaced. */
  finding: string | null
  /** The header X-Paybell-Hmac, or the one that the endpoint has chosen. */
  hmac: string | null
  answered: number
  body: Buffer
}

export interface ReceiverOptions {
  port: number
  status: number
  /** So many callbacks are answered 500 first. */
  failFirst: number
  delayMs: number
  sharedKey: string | null
  hmacHeaderName?: string | undefined
  onCallback: (callback: ReceivedCallback) => void
}

/** A payment with the largest document, and no more. */
const BODY_BYTES_MAX = 16 * 1024 * 1024

export class CallbackReceiver {
  readonly #options: ReceiverOptions
  readonly #server: Server
  /** In lower case, as Node has the names. */
  readonly #hmacHeader: string
  #failuresLeft: number

  constructor(options: ReceiverOptions) {
    this.#options = options
    this.#failuresLeft = options.failFirst
    this.#hmacHeader = (options.hmacHeaderName ?? HMAC_HEADER).toLowerCase()
    this.#server = createServer((request, response) => {
      this.#take(request, response).catch(() => response.destroy())
    })
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error: NodeJS.ErrnoException) =>
        reject(
          error.code === 'EADDRINUSE'
            ? new Error(`port ${this.#options.port} is taken. Give another with --port.`)
            : error,
        ),
      )
      this.#server.listen(this.#options.port, '127.0.0.1', resolve)
    })
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request)
    if (body === null) {
      response.writeHead(413, { connection: 'close' }).end()
      return
    }
    const { signature, finding } = this.#check(request, body)
    const answered = this.#decide(signature)
    if (this.#options.delayMs > 0) await delay(this.#options.delayMs)
    await new Promise<void>((resolve) => {
      response.writeHead(answered).end(resolve)
    })
    this.#options.onCallback({
      at: new Date(),
      path: request.url ?? '/',
      event: header(request, 'x-paybell-event'),
      eventId: header(request, 'webhook-id'),
      sequence: numberOf(header(request, 'x-paybell-sequence')),
      attempt: numberOf(header(request, 'x-paybell-attempt')),
      isReplay: header(request, 'x-paybell-replay') === 'true',
      isTest: header(request, 'x-paybell-test') === 'true',
      signature,
      finding,
      hmac: header(request, this.#hmacHeader),
      answered,
      body,
    })
  }

  #check(request: IncomingMessage, body: Buffer): Pick<ReceivedCallback, 'signature' | 'finding'> {
    const { sharedKey, hmacHeaderName } = this.#options
    if (sharedKey === null) return { signature: null, finding: null }
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    )
    const given = { headers, body, sharedKey, hmacHeaderName, nowMs: Date.now() }
    const { valid, findings } = checkSignature(given)
    const finding = findings[0]?.detail ?? null
    // It may hold with something to say: that this key was replaced.
    if (valid) return { signature: 'holds', finding }
    return { signature: headers[this.#hmacHeader] === undefined ? 'missing' : 'wrong', finding }
  }

  #decide(signature: ReceivedCallback['signature']): number {
    if (signature === 'wrong' || signature === 'missing') return 401
    if (this.#failuresLeft <= 0) return this.#options.status
    this.#failuresLeft--
    return 500
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request) {
    length += chunk.length
    if (length > BODY_BYTES_MAX) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function header(request: IncomingMessage, name: string): string | null {
  const value = request.headers[name]
  return typeof value === 'string' ? value : null
}

function numberOf(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null
}
