// Receivers inside the sandbox itself, for developers who have none yet: each answers by a script and remembers
// what came. In memory and bounded on every side: names, requests per name, bytes per request.

import { timingSafeEqual } from 'node:crypto'
import { BoundedMap } from '../core/bounded-map.ts'
import { HMAC_HEADER } from '../core/callback-headers.ts'
import { hmacHex, toSigningKey } from '../core/signature.ts'

export interface ReceiverScript {
  /** Statuses in turn; the last one goes on. */
  script: readonly number[]
  delayMs: number
  /** What is answered besides the status. */
  body: string
  /** Sent as `Location`. */
  redirectTo: string | null
  /** What signatures are checked with; null: with the one before, and if there is none they are not. */
  sharedKey: string | null
}

export interface ReceivedRequest {
  at: Date
  status: number
  headers: Readonly<Record<string, string>>
  /** The beginning, as text. */
  body: string
  bodyBytes: number
  /** Null where there is no key to check it with. */
  signatureValid: boolean | null
}

export interface ReceiverView extends Omit<ReceiverScript, 'sharedKey'> {
  name: string
  /** All that ever came. */
  count: number
  /** The latest ones, newest first. */
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

/** Ours, and what says what the body is; a client's own header may be a secret. */
const SHOWN_HEADER = /^(x-paybell-|webhook-|content-type$|content-length$|user-agent$|traceparent$)/

interface DemoReceiver {
  script: ReceiverScript
  count: number
  /** Where the script stands: it begins again when it is written. */
  step: number
  received: ReceivedRequest[]
}

export class DemoReceivers {
  /** The one used last is at the end. */
  readonly #byName = new BoundedMap<string, DemoReceiver>(RECEIVERS_MAX)

  write(name: string, script: ReceiverScript): ReceiverView {
    const receiver = this.#use(name)
    // A caller that only changes what is answered need not know the key.
    receiver.script = { ...script, sharedKey: script.sharedKey ?? receiver.script.sharedKey }
    receiver.step = 0
    return toView(name, receiver)
  }

  /** Remembers the request and says how to answer it. */
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

  /** None is refused for want of room: the one that was not used for longest goes. */
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
    signatureValid:
      sharedKey === null ? null : isSigned(headers[HMAC_HEADER.toLowerCase()], sharedKey, body),
  }
}

function isSigned(
  given: string | string[] | undefined,
  sharedKey: string,
  body: Uint8Array,
): boolean {
  const expected = Buffer.from(hmacHex(toSigningKey(sharedKey), [body]))
  const actual = Buffer.from([given].flat().join())
  return actual.length === expected.length && timingSafeEqual(actual, expected)
}
