// The receiver process: answers 200 at once, over kept-alive connections, and knows of every payment
// whether and when it arrived. On request it lets some paths hang, or fail.

import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { answerCalls } from './answer-calls.ts'
import { monotonicMs } from './monotonic.ts'
import { NUMBER_AT, NUMBER_LENGTH } from './payments.ts'

/** `slow` answers after a quarter of a second; `uncounted` answers and forgets. */
export type Behaviour = 'hang' | 'fail' | 'slow' | 'uncounted' | 'ok'

export interface Arrivals {
  unique: number
  duplicates: number
  /** Requests that carried no payment of ours. */
  strangers: number
  /** By number of the payment, on the monotonic clock; 0 where it has not arrived. */
  atMs: Float64Array
}

const TELL_EVERY_MS = 5
const SLOW_MS = 250

let atMs = new Float64Array(1 << 20)
let unique = 0
let duplicates = 0
let strangers = 0
let toldUnique = 0
const behaviours = new Map<string, Behaviour>()

function answer(request: IncomingMessage, response: ServerResponse, first: Buffer | null): void {
  const behaviour = behaviours.size === 0 ? 'ok' : (behaviours.get(request.url ?? '') ?? 'ok')
  if (behaviour === 'hang') return
  if (behaviour === 'fail') {
    response.writeHead(500, { 'content-length': 0 }).end()
    return
  }
  if (behaviour !== 'uncounted') note(first)
  const end = () => response.writeHead(200, { 'content-length': 0 }).end()
  if (behaviour === 'slow') setTimeout(end, SLOW_MS)
  else end()
}

function note(first: Buffer | null): void {
  const number = numberOf(first)
  if (Number.isNaN(number) || number > 1e9) {
    strangers++
    return
  }
  if (number >= atMs.length) {
    const more = new Float64Array(Math.max(number + 1, atMs.length * 2))
    more.set(atMs)
    atMs = more
  }
  if (atMs[number] !== 0) {
    duplicates++
    return
  }
  atMs[number] = monotonicMs()
  unique++
}

/** Some peers write the members in an order of their own. */
const ID = /"id":\s?"[\da-f-]{24}([\da-f]{12})"/

function numberOf(first: Buffer | null): number {
  const text = first?.toString('latin1', NUMBER_AT, NUMBER_AT + NUMBER_LENGTH) ?? ''
  if (/^[\da-f]{12}$/.test(text)) return Number.parseInt(text, 16)
  return Number.parseInt(ID.exec(first?.toString('latin1') ?? '')?.[1] ?? '', 16)
}

function receive(request: IncomingMessage, response: ServerResponse): void {
  let first: Buffer | null = null
  request.on('data', (chunk: Buffer) => {
    first ??= chunk
  })
  request.on('end', () => answer(request, response, first))
  request.on('error', () => {})
}

setInterval(() => {
  if (unique === toldUnique) return
  toldUnique = unique
  process.send?.({ event: 'arrived', unique })
}, TELL_EVERY_MS)

answerCalls({
  /** One more origin; with certificate and key, one that speaks TLS. */
  async listen(tls?: { certificate: string; key: string }) {
    const server = tls
      ? createTlsServer(
          { cert: readFileSync(tls.certificate), key: readFileSync(tls.key) },
          receive,
        )
      : createServer(receive)
    server.keepAliveTimeout = 60_000
    server.requestTimeout = 0
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  },
  forget() {
    atMs = new Float64Array(1 << 20)
    unique = duplicates = strangers = toldUnique = 0
  },
  behave(paths: readonly string[], behaviour: Behaviour) {
    for (const path of paths) {
      if (behaviour === 'ok') behaviours.delete(path)
      else behaviours.set(path, behaviour)
    }
  },
  counts() {
    return { unique, duplicates, strangers }
  },
  arrivals(upTo: number): Arrivals {
    return { unique, duplicates, strangers, atMs: atMs.slice(0, upTo) }
  },
})
