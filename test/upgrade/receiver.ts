// The receivers of a rehearsal: one server over TLS, a path for each endpoint. It checks every signature, refuses
// some first attempts, so that what one version began the other goes on with, and remembers what came in order.

import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export interface Arrival {
  endpoint: string
  paymentId: string
  webhookId: string
  sequence: number
  status: number
  isSigned: boolean
  /** Of the body: the same for every attempt of an event. */
  digest: string
  /** Another update of this payment was still being answered here. */
  wasBesideAnother: boolean
}

const CERTIFICATES = new URL('../support/certificates/', import.meta.url)
export const CA_FILE = fileURLToPath(new URL('ca.pem', CERTIFICATES))

/** Of the first attempts at every third endpoint, one in so many is answered 500. */
const REFUSED_ONE_IN = 12
const ANSWER_MS_MAX = 20

export class Receivers {
  readonly arrivals: Arrival[] = []
  readonly #sharedKey: string
  readonly #busy = new Set<string>()
  readonly #server: Server
  #accepted = 0

  constructor(sharedKey: string) {
    this.#sharedKey = sharedKey
    const tls = {
      key: readFileSync(new URL('server.key', CERTIFICATES)),
      cert: readFileSync(new URL('good.pem', CERTIFICATES)),
    }
    this.#server = createServer(tls, async (request, response) => {
      response.writeHead(await this.#take(request)).end()
    })
  }

  /** How many were answered 200. */
  get accepted(): number {
    return this.#accepted
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  url(endpoint: number): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${endpoint}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #take(request: IncomingMessage): Promise<number> {
    const body = Buffer.concat(await request.toArray())
    const header = (name: string) => String(request.headers[name] ?? '')
    const { id: paymentId } = JSON.parse(body.toString()) as { id: string }
    const endpoint = request.url as string
    const strand = `${endpoint} ${paymentId}`
    const hmac = createHmac('sha256', this.#sharedKey).update(body).digest('hex')
    const arrival: Arrival = {
      endpoint,
      paymentId,
      webhookId: header('webhook-id'),
      sequence: Number(header('x-paybell-sequence')),
      status: this.#isRefused(endpoint, header('x-paybell-attempt')) ? 500 : 200,
      isSigned: header('x-paybell-hmac') === hmac,
      digest: hmac,
      wasBesideAnother: this.#busy.has(strand),
    }
    this.#busy.add(strand)
    this.arrivals.push(arrival)
    await delay(Math.random() * ANSWER_MS_MAX)
    this.#busy.delete(strand)
    if (arrival.status === 200) this.#accepted++
    return arrival.status
  }

  #isRefused(endpoint: string, attempt: string): boolean {
    const isFlaky = Number(endpoint.slice(1)) % 3 === 0
    return isFlaky && attempt === '1' && Math.random() < 1 / REFUSED_ONE_IN
  }
}
