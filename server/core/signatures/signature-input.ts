// What the signature doctor is shown, as it looks at it: a body, the headers that count, the keys of the
// endpoint.

import { createHmac, type KeyObject } from 'node:crypto'
import { KEY_ID_HEADER, type ServiceKey } from './asymmetric-signature.ts'
import { HMAC_HEADER, type SigningKeys } from './callback-headers.ts'

export interface SignatureInput {
  /** Names in any case. */
  headers: Readonly<Record<string, string>>
  body: Uint8Array
  keys: SigningKeys
  /** The service's own public keys, the newest first and those of before; left out where they are not known. */
  serviceKeys?: readonly ServiceKey[]
  nowMs: number
  /** The header in which this endpoint gets the HMAC, where it has chosen one. */
  hmacHeaderName?: string
  /** The real bytes of the event that `webhook-id` names, where it is one of the client's. */
  eventBody: Uint8Array | null
}

export interface Signed {
  /** The name of the header that holds the HMAC. */
  hmacHeader: string
  hmac: string | null
  id: string | null
  timestamp: string | null
  /** Entries of `webhook-signature` that were made with a shared key, and those made with the service's own. */
  signatures: readonly string[]
  asymmetric: readonly string[]
  keyId: string | null
  /** Other headers of ours are there, so that this one was not left out by choice. */
  hasLostHmac: boolean
}

export interface CompleteSigned extends Signed {
  id: string
  timestamp: string
}

const ASYMMETRIC = 'v1a,'
/** More of a kind are never sent; each costs a comparison with all that may have been signed. */
const ENTRIES_MAX = 8
/** Of both kinds, and of what is neither. */
const ENTRIES_READ_MAX = 64

/** Names that say: this is a callback, and not only the signature of one. */
function isOfEveryCallback(name: string): boolean {
  return name.startsWith('x-paybell-') && name !== KEY_ID_HEADER.toLowerCase()
}

export function readHeaders(
  headers: Readonly<Record<string, string>>,
  hmacHeader = HMAC_HEADER,
): Signed {
  const found = new Map(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.trim()]),
  )
  const read = (name: string) => found.get(name.toLowerCase()) || null
  // A receiver with the old key compares with the second of the two.
  const hmac = read(hmacHeader) ?? read(`${HMAC_HEADER}-Previous`)
  const entries = read('webhook-signature')?.split(/\s+/, ENTRIES_READ_MAX) ?? []
  const isAsymmetric = (entry: string) => entry.startsWith(ASYMMETRIC)
  return {
    hmacHeader,
    hmac,
    id: read('webhook-id'),
    timestamp: read('webhook-timestamp'),
    signatures: entries.filter((entry) => !isAsymmetric(entry)).slice(0, ENTRIES_MAX),
    asymmetric: entries.filter(isAsymmetric).slice(0, ENTRIES_MAX),
    keyId: read(KEY_ID_HEADER),
    hasLostHmac: hmac === null && [...found.keys()].some(isOfEveryCallback),
  }
}

export type KeyName = 'current' | 'previous'

/** The key that a signature fits, if any does. */
export type Verdict = KeyName | 'none'

export function knownKeys(keys: SigningKeys): [KeyName, KeyObject][] {
  const named: [KeyName, KeyObject][] = [['current', keys.current]]
  if (keys.previous !== null) named.push(['previous', keys.previous.key])
  return named
}

export function isPreviousAlive({ previous }: SigningKeys, nowMs: number): boolean {
  return previous !== null && previous.untilMs > nowMs
}

export function prefixOf({ id, timestamp }: CompleteSigned): Buffer {
  return Buffer.from(`${id}.${timestamp}.`)
}

export function mac(key: KeyObject, ...parts: readonly Uint8Array[]): Buffer {
  const hmac = createHmac('sha256', key)
  for (const part of parts) hmac.update(part)
  return hmac.digest()
}
