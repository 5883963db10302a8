// Checks that a callback comes from Paybell. Two dialects: `webhook-signature` covers id, time and body, by an HMAC
// (`v1`), by a key of Paybell's own (`v1a`) or by both; `X-Paybell-Hmac` the body alone. The body is not parsed
// before its signature holds.

import { entryHolds, signedContent } from '../plain/ed25519.ts'
import { SignatureError } from '../plain/errors.ts'
import { type HeadersLike, readHeader } from '../plain/headers.ts'
import {
  type Bytes,
  hmacSignature,
  isEqual,
  isRawBytes,
  standardSignature,
  toBytes,
} from '../plain/hmac.ts'
import { parseExact } from '../plain/money.ts'
import type { EventKind, Payment } from '../wire/types.ts'
import { findPublicKeys, type PublicKeys } from './public-keys.ts'
import { type ReceivedPayment, withBytes } from './received-document.ts'

/** One key, or during a rotation several: the callback has to be signed with one of them. */
export type SharedKeys = string | readonly string[]

export interface VerifyOptions {
  /** How far the time of the attempt may be from `now`: 300 by default. */
  toleranceSeconds?: number | undefined
  now?: Date | undefined
  /**
   * `standard`, the default, needs `webhook-signature`, and where `X-Paybell-Hmac` is there too, that
   * must hold as well. `hmac` needs `X-Paybell-Hmac` alone: it knows no time, so a recorded callback
   * can be sent again. The callback never chooses the dialect: otherwise leaving a header out would
   * weaken the check.
   */
  dialect?: 'standard' | 'hmac' | undefined
  /** The `hmacHeaderName` of the endpoint, where it is not `X-Paybell-Hmac`. */
  hmacHeaderName?: string | undefined
  /** The keys of `v1a`, for endpoints with `signatures: ["hmac", "ed25519"]`. */
  publicKeys?: PublicKeys | undefined
  /**
   * What `webhook-signature` must hold: `v1`, made with the shared key; `v1a`, made with a key of Paybell's own; `both`;
   * or `either`, for the time in which an endpoint changes over. By default all that you have given keys for. As
   * with the dialect, the callback never chooses.
   */
  signatures?: 'v1' | 'v1a' | 'both' | 'either' | undefined
}

/** A callback whose signature holds. */
export interface Callback {
  /** Id of the event, the same on every retry and replay: deduplicate by it. */
  id: string
  event: EventKind | undefined
  /** Number of the event within its payment: 1, 2, 3 … */
  sequence: number | undefined
  /** 1, 2, 3 … */
  attempt: number | undefined
  /** Time of this attempt. */
  sentAt: Date | undefined
  /** A test send: the payment is a specimen. */
  isTest: boolean
  /** True when this delivery was replayed: a person or a program asked to send the event again. */
  isReplay: boolean
  payment: ReceivedPayment
}

/**
 * Throws a SignatureError unless the callback is signed with one of the keys, over these very bytes. `sharedKeys` may be
 * null where `publicKeys` are given: then `v1a` alone is checked.
 *
 * ```js
 * import { signForTest, verify } from '@paybell/sdk'
 *
 * const sharedKey = 'a-long-random-text-that-only-we-two-know'
 * const { body, headers } = await signForTest({ sharedKey })
 * const { event, payment } = await verify(body, headers, sharedKey)
 * console.log(event, payment.amount.amount) // payment.created 1250.50
 * ```
 */
export async function verify(
  rawBody: string | Uint8Array | ArrayBuffer,
  headers: HeadersLike,
  sharedKeys: SharedKeys | null,
  options: VerifyOptions = {},
): Promise<Callback> {
  const { body, id, sentAt } = await verifySignature(rawBody, headers, sharedKeys, options)
  return {
    id,
    event: readHeader(headers, 'X-Paybell-Event') as EventKind | undefined,
    sequence: readCount(headers, 'X-Paybell-Sequence'),
    attempt: readCount(headers, 'X-Paybell-Attempt'),
    sentAt,
    isTest: readHeader(headers, 'X-Paybell-Test') === 'true',
    isReplay: readHeader(headers, 'X-Paybell-Replay') === 'true',
    payment: withBytes(parsePayment(body)),
  }
}

/**
 * The same, without parsing the body.
 *
 * ```js
 * import { signForTest, verifySignature } from '@paybell/sdk'
 *
 * const sharedKey = 'a-long-random-text-that-only-we-two-know'
 * const signed = await signForTest({ sharedKey, id: '019c0b8e-3c00-7000-8000-000000000002' })
 * const { id } = await verifySignature(signed.body, signed.headers, sharedKey)
 * console.log(id) // 019c0b8e-3c00-7000-8000-000000000002
 * ```
 */
export async function verifySignature(
  rawBody: string | Uint8Array | ArrayBuffer,
  headers: HeadersLike,
  sharedKeys: SharedKeys | null,
  options: VerifyOptions = {},
): Promise<{ body: Bytes; id: string; sentAt: Date | undefined }> {
  const body = readRawBody(rawBody)
  const wanted = readWanted(sharedKeys, options)
  const keys = wanted === 'v1a' ? [] : readKeys(sharedKeys)
  const tolerance = options.toleranceSeconds ?? 300
  const hmacHeader = options.hmacHeaderName ?? 'X-Paybell-Hmac'
  if (!(tolerance >= 0)) throw new TypeError('toleranceSeconds must not be negative.')

  if (options.dialect === 'hmac') {
    if (wanted !== 'v1') throw new TypeError('v1a is part of the dialect standard, not of hmac.')
    const hmac = need(headers, hmacHeader)
    await checkHmac(headers, keys, body, hmacHeader)
    const timestamp = readCount(headers, 'webhook-timestamp')
    return {
      body,
      // Paybell always sends the id; should it be missing, the HMAC identifies the body.
      id: readHeader(headers, 'webhook-id') ?? hmac,
      sentAt: timestamp === undefined ? undefined : new Date(timestamp * 1_000),
    }
  }

  const id = need(headers, 'webhook-id')
  const timestamp = need(headers, 'webhook-timestamp')
  const given = need(headers, 'webhook-signature').split(' ')
  if (!/^\d{1,12}$/.test(timestamp)) {
    throw new SignatureError('malformed-header', 'webhook-timestamp is not a number of seconds.')
  }
  const checkShared = async () => {
    const made = await Promise.all(keys.map((key) => standardSignature(key, id, timestamp, body)))
    if (!hasMatch(given, made)) throw mismatch('webhook-signature', keys)
    if (readHeader(headers, hmacHeader)) await checkHmac(headers, keys, body, hmacHeader)
  }
  const checkPublic = () =>
    checkAsymmetric(headers, given, options.publicKeys, signedContent(id, timestamp, body))
  if (wanted === 'either') {
    await checkShared().catch((error) => (hasAsymmetric(given) ? checkPublic() : raise(error)))
  } else {
    if (wanted !== 'v1a') await checkShared()
    if (wanted !== 'v1') await checkPublic()
  }
  // Last, so that "too old" is only ever said of a callback that was signed with the right key.
  const now = options.now ?? new Date()
  checkTime(Number(timestamp), now.getTime() / 1_000, tolerance)
  return { body, id, sentAt: new Date(Number(timestamp) * 1_000) }
}

/** What has to hold, as the author of the receiver says it: by an option, or by the keys that are given. */
function readWanted(sharedKeys: unknown, { signatures, publicKeys }: VerifyOptions) {
  if (publicKeys === undefined) {
    if (signatures !== undefined && signatures !== 'v1') {
      throw new TypeError('publicKeys is missing: v1a cannot be checked without.')
    }
    return 'v1'
  }
  return signatures ?? (sharedKeys === null ? 'v1a' : 'both')
}

/** Each try costs some 100 µs: what a stranger sends must not cost seconds. */
const ENTRIES_MAX = 8

function hasAsymmetric(given: readonly string[]): boolean {
  return given.some((entry) => entry.startsWith('v1a,'))
}

async function checkAsymmetric(
  headers: HeadersLike,
  given: readonly string[],
  publicKeys: PublicKeys | undefined,
  content: Bytes,
): Promise<void> {
  if (!hasAsymmetric(given)) {
    throw new SignatureError(
      'signature-missing',
      'webhook-signature holds no v1a. Set signatures of this endpoint to ["hmac", "ed25519"].',
    )
  }
  const entries = given.filter((entry) => entry.startsWith('v1a,')).slice(0, ENTRIES_MAX)
  const kid = readHeader(headers, 'X-Paybell-Key-Id')
  const keys = await findPublicKeys(publicKeys as PublicKeys, kid)
  for (const { key } of keys) {
    for (const entry of entries) if (await entryHolds(entry, key, content)) return
  }
  if (kid === undefined || keys.some((key) => key.kid === kid)) {
    throw new SignatureError(
      'signature-mismatch',
      'v1a of webhook-signature was not made with a public key over these bytes. Check that the body is raw: not parsed and written again.',
    )
  }
  throw new SignatureError(
    'unknown-key',
    'X-Paybell-Key-Id names a key that is not among your public keys, and no signature fits those. Take the keys of /.well-known/webhook-keys.json.',
  )
}

function raise(error: unknown): never {
  throw error
}

async function checkHmac(
  headers: HeadersLike,
  keys: readonly string[],
  body: Bytes,
  hmacHeader: string,
) {
  // For 24 h after a rotation the second header carries the HMAC under the old key.
  const given = [hmacHeader, 'X-Paybell-Hmac-Previous'].flatMap(
    (name) => readHeader(headers, name) ?? [],
  )
  const expected = await Promise.all(keys.map((key) => hmacSignature(key, body)))
  if (!hasMatch(given, expected)) throw mismatch(hmacHeader, keys)
}

/** Compares all with all, so that the time does not reveal which one matched. */
function hasMatch(given: readonly string[], expected: readonly string[]): boolean {
  let matches = 0
  for (const each of given) {
    for (const other of expected) matches += isEqual(each, other) ? 1 : 0
  }
  return matches > 0
}

function mismatch(header: string, keys: readonly string[]): SignatureError {
  const which = keys.length === 1 ? 'the shared key' : `any of the ${keys.length} shared keys`
  return new SignatureError(
    'signature-mismatch',
    `${header} was not made with ${which} over these bytes. Check the key, and that the body is raw: not parsed and written again.`,
  )
}

function checkTime(sentAt: number, now: number, tolerance: number): void {
  if (Math.abs(now - sentAt) <= tolerance) return
  const at = (seconds: number) => new Date(seconds * 1_000).toISOString()
  const [code, word] =
    now > sentAt
      ? (['timestamp-too-old', 'ago'] as const)
      : (['timestamp-too-new', 'ahead'] as const)
  const apart = Math.round(Math.abs(now - sentAt))
  throw new SignatureError(
    code,
    `Signed at ${at(sentAt)}, ${apart} s ${word}: it is ${at(now)} here, and ${tolerance} s are allowed. Check the clock of this machine.`,
  )
}

function need(headers: HeadersLike, name: string): string {
  const value = readHeader(headers, name)
  if (value === undefined) {
    throw new SignatureError('missing-header', `The header ${name} is not there.`)
  }
  return value
}

function readCount(headers: HeadersLike, name: string): number | undefined {
  const text = readHeader(headers, name)
  return text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : undefined
}

function readRawBody(rawBody: unknown): Bytes {
  if (!isRawBytes(rawBody)) {
    throw new TypeError(
      'Give the raw body, as text or bytes. A body that was parsed is no longer what was signed.',
    )
  }
  return toBytes(rawBody)
}

function readKeys(sharedKeys: SharedKeys | null): readonly string[] {
  const keys = typeof sharedKeys === 'string' ? [sharedKeys] : sharedKeys
  const areKeys =
    Array.isArray(keys) && keys.length > 0 && keys.every((key) => typeof key === 'string' && key)
  if (!areKeys) throw new TypeError('sharedKey is missing: a text that is not empty, or several.')
  return keys
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function parsePayment(body: Bytes): Payment {
  let payment: unknown
  try {
    payment = parseExact(utf8.decode(body))
  } catch {
    // Without the parser's message: it quotes the text that it refuses.
  }
  if (typeof (payment as Payment | null | undefined)?.id !== 'string') {
    throw new SignatureError('malformed-body', 'The signature holds, but the body is no payment.')
  }
  return payment as Payment
}
