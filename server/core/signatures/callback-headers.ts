// The headers of one attempt (decisions, Callbacks). Signatures are made here, per attempt, with the
// keys of the moment; only the body is stored.

import type { KeyObject } from 'node:crypto'
import { type AsymmetricSignature, KEY_ID_HEADER } from './asymmetric-signature.ts'
import { hmacHex, standardSignature } from './signature.ts'

export const HMAC_HEADER = 'X-Paybell-Hmac'
export const USER_AGENT = 'Paybell/1'

/** The keys that sign for an endpoint; the previous one only for 24 h after a rotation. */
export interface SigningKeys {
  current: KeyObject
  previous: { key: KeyObject; untilMs: number } | null
}

export interface CallbackHead {
  eventId: string
  kind: string
  sequence: number
  attempt: number
  atMs: number
  mark: 'test' | 'replay' | null
  traceparent: string
  extraHeader: readonly [name: string, value: string] | null
  /** The header that carries the HMAC, where the endpoint has chosen one. */
  hmacHeaderName?: string
}

/**
 * W3C trace context where no tracing SDK runs: the trace is the event and the span the delivery, so that all
 * attempts and endpoints of one change join up. A test has no delivery: another id is its span.
 */
export function traceparentOf(eventId: string, deliveryId: string): string {
  copyDigits(eventId, 0, TRACE_FROM)
  copyDigits(deliveryId, LAST_16_DIGITS_FROM, SPAN_FROM)
  return traceparent.toString('latin1')
}

const traceparent = Buffer.from(`00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`)
const TRACE_FROM = 3
const SPAN_FROM = 36
/** Of a uuid's text. */
const LAST_16_DIGITS_FROM = 19
const HYPHEN = 0x2d

/** Character by character into one buffer, because this is made for every attempt: slices took six times the memory. */
function copyDigits(uuid: string, from: number, to: number): void {
  let at = to
  for (let index = from; index < uuid.length; index++) {
    const code = uuid.charCodeAt(index)
    if (code !== HYPHEN) traceparent[at++] = code
  }
}

/** A flat list of names and values, each name once. */
export function callbackHeaders(
  head: CallbackHead,
  keys: SigningKeys,
  body: readonly Uint8Array[],
  asymmetric: AsymmetricSignature | null = null,
): string[] {
  const timestamp = Math.floor(head.atMs / 1_000)
  const previous =
    keys.previous !== null && keys.previous.untilMs > head.atMs ? keys.previous : null
  let signatures = standardSignature(keys.current, head.eventId, timestamp, body)
  if (previous) {
    signatures += ` ${standardSignature(previous.key, head.eventId, timestamp, body)}`
  }
  if (asymmetric !== null) signatures += ` ${asymmetric.entries}`
  const headers = [
    'content-type',
    'application/json',
    'user-agent',
    USER_AGENT,
    head.hmacHeaderName ?? HMAC_HEADER,
    hmacHex(keys.current, body),
    'webhook-id',
    head.eventId,
    'webhook-timestamp',
    String(timestamp),
    'webhook-signature',
    signatures,
    'X-Paybell-Event',
    head.kind,
    'X-Paybell-Sequence',
    String(head.sequence),
    'X-Paybell-Attempt',
    String(head.attempt),
    'traceparent',
    head.traceparent,
  ]
  if (previous) headers.push('X-Paybell-Hmac-Previous', hmacHex(previous.key, body))
  if (asymmetric !== null) headers.push(KEY_ID_HEADER, asymmetric.keyId)
  if (head.mark === 'test') headers.push('X-Paybell-Test', 'true')
  if (head.mark === 'replay') headers.push('X-Paybell-Replay', 'true')
  if (head.extraHeader) headers.push(...head.extraHeader)
  return headers
}
