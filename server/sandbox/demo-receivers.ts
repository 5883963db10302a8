// Receivers inside the sandbox, for developers who have none yet: each answers by a script and remembers its
// requests. In memory, with limits on names, requests per name and bytes per request.

import { timingSafeEqual } from 'node:crypto'
import { BoundedMap } from '../core/plain/bounded-map.ts'
import { hmacHex, toSigningKey } from '../core/signatures/signature.ts'

export interface ReceiverScript {
  /** Statuses in order; the last one repeats. */
  script: readonly number[]
  delayMs: number
  /** The rest of the answer. */
  body: string
  /** Sent as `Location`. */
  redirectTo: string | null
  /** Checks signatures; null keeps the key before, and without one they are not checked. */
  sharedKey: string | null
}

export interface ReceivedRequest {
  at: Date
  status: number
  headers: Readonly<Record<string, string>>
  /** The beginning of the body, as text. */
  body: string
  bodyBytes: number
  /** Null without a key to check it with. */
  signatureValid: boolean | null
}

export interface ReceiverView extends Omit<ReceiverScript, 'sharedKey'> {
  name: string
  /** The number of all requests so far. */
  count: number
  /** The latest requests, newest first. */
  received: readonly ReceivedRequest[]
}

export interface IncomingRequest {
  headers: Readonly<Record<string, string | string[] | undefined>>
  body: Uint8Array
}

export const RECEIVERS_MAX = 100
export const RECEIVED_MAX = 100
export const RECEIVED_BODY_BYTES_MAX = 8 * 1_024

export const DEFAULT_SCRIPT: ReceiverScript = {
  script: [200],
  delayMs: 0,
  body: '',
  redirectTo: null,
  sharedKey: null,
}

/** Our own headers and those that describe the body; a client's own header may be a secret. */
const SHOWN_HEADER = /^(x-paybell-|webhook-|content-type$|content-length$|user-agent$|traceparent$)/

interface DemoReceiver {
  script: ReceiverScript
  count: number
  /** The position in the script; writing a script resets it. */
  step: number
  received: ReceivedRequest[]
}

export class DemoReceivers {
  /** The most recently used is at the end. */
  readonly #byName = new BoundedMap<string, DemoReceiver>(RECEIVERS_MAX)

  write(name: string, script: ReceiverScript): ReceiverView {
    const receiver = this.#use(name)
    // A caller that only changes the answers need not know the key.
    receiver.script = { ...script, sharedKey: script.sharedKey ?? receiver.script.sharedKey }
    receiver.step = 0
    return toView(name, receiver)
  }

  /** Remembers the request and returns its answer. */
  receive(
    name: string,
    request: IncomingRequest,
    nowMs: number,
  ): ReceiverScript & { status: number } {
    const receiver = this.#use(name)
    const { script } = receiver
    const status = script.script[Math.min(receiver.step++, script.script.length - 1)] ?? 200
    receiver.count++
    receiver.received.unshift(toReceived(request, script, status, nowMs))
    receiver.received.length = Math.min(receiver.received.length, RECEIVED_MAX)
    return { ...script, status }
  }

  view(name: string): ReceiverView {
    const receiver = this.#byName.get(name)
    return toView(name, receiver ?? newReceiver())
  }

  reset(name: string): void {
    this.#byName.delete(name)
  }

  /** Never refuses a new name: the least recently used one is evicted. */
  #use(name: string): DemoReceiver {
    const receiver = this.#byName.get(name) ?? newReceiver()
    this.#byName.set(name, receiver)
    return receiver
  }
}

function newReceiver(): DemoReceiver {
  return { script: DEFAULT_SCRIPT, count: 0, step: 0, received: [] }
}

function toView(name: string, { script, count, received }: DemoReceiver): ReceiverView {
  const { sharedKey, ...open } = script
  return { name, ...open, count, received: [...received] }
}

function toReceived(
  { headers, body }: IncomingRequest,
  { sharedKey }: ReceiverScript,
  status: number,
  nowMs: number,
): ReceivedRequest {
  const shown = Object.entries(headers).filter(([name]) => SHOWN_HEADER.test(name))
  const begin = body.subarray(0, RECEIVED_BODY_BYTES_MAX)
  return {
    at: new Date(nowMs),
    status,
    headers: Object.fromEntries(shown.map(([name, value]) => [name, [value].flat().join(', ')])),
    body: Buffer.from(begin).toString('utf8'),
    bodyBytes: body.length,
    signatureValid: sharedKey === null ? null : isSigned(headers, sharedKey, body),
  }
}

/** In whichever header the HMAC comes: an endpoint chooses its name. */
function isSigned(
  headers: IncomingRequest['headers'],
  sharedKey: string,
  body: Uint8Array,
): boolean {
  const expected = Buffer.from(hmacHex(toSigningKey(sharedKey), [body]))
  return Object.values(headers).some((given) => {
    const actual = Buffer.from([given].flat().join())
    return actual.length === expected.length && timingSafeEqual(actual, expected)
  })
}
