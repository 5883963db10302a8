// What Paybell has signed, checked with its public keys: receipts and statements, compact JWS (RFC 7515) under EdDSA.

import { importJwkX, signatureHolds } from '../plain/ed25519.ts'
import { PaybellError } from '../plain/errors.ts'
import { fromBase64Url, toBytes } from '../plain/hmac.ts'
import type { Receipt, Statement } from '../wire/types.ts'

/** `/.well-known/webhook-keys.json`, as it was fetched. */
export interface KeySet {
  keys: readonly SignedKey[]
  /** Those that sign no more; what they have signed is still good. */
  retired?: readonly SignedKey[] | undefined
  /** Those that were revoked: nothing that they have signed can be verified any more. */
  revoked?: readonly { kid: string; revokedAt: string }[] | undefined
}

export interface SignedKey {
  kid: string
  x: string
}

/**
 * What a receipt says, when a key of the set has signed it; a `PaybellError` with the code `not-genuine` otherwise, and with
 * `key-revoked` when it names a key that was revoked: then it may be genuine or forged, and no one can tell.
 *
 * ```js
 * import { verifyReceipt } from '@paybell/sdk'
 *
 * const keys = { keys: [], retired: [] } // from https://paybell.example.com/.well-known/webhook-keys.json
 * await verifyReceipt('eyJhbGciOi…', keys).catch((error) => console.log(error.code)) // not-genuine
 * ```
 */
export function verifyReceipt(jws: string, keys: KeySet): Promise<Receipt> {
  return verifySigned<Receipt>(jws, keys, 'paybell-receipt+jws')
}

/**
 * What a statement says, from its member `jws`, when a key of the set has signed it.
 *
 * ```js
 * import { verifyStatement } from '@paybell/sdk'
 *
 * const keys = { keys: [], retired: [] } // from https://paybell.example.com/.well-known/webhook-keys.json
 * await verifyStatement('eyJhbGciOi…', keys).catch((error) => console.log(error.code)) // not-genuine
 * ```
 */
export function verifyStatement(jws: string, keys: KeySet): Promise<Omit<Statement, 'jws'>> {
  return verifySigned<Omit<Statement, 'jws'>>(jws, keys, 'paybell-statement+jws')
}

/** What a JWS of this kind says, when a key of the set has signed it. */
export async function verifySigned<Claims>(jws: string, set: KeySet, typ: string): Promise<Claims> {
  if (!Array.isArray(set?.keys) || !Array.isArray(set.retired ?? [])) {
    throw notGenuine('There are no keys to check it with.')
  }
  // An answer may hold anything in its place.
  const [head = '', body = '', signature = '', ...more] = String(jws).trim().split('.')
  const header = readJson(head) as { alg?: unknown; typ?: unknown; kid?: unknown } | null
  if (more.length > 0 || header === null) throw notGenuine('It is not a compact JWS.')
  if (header.alg !== 'EdDSA' || header.typ !== typ) throw notGenuine(`It is not a ${typ}.`)
  const found = [...set.keys, ...(set.retired ?? [])].find(({ kid }) => kid === header.kid)
  if (found === undefined) throw notVerified(set, header.kid)
  const key = await importJwkX(found.x)
  if (key === null) throw notGenuine('The key with its key id is not an Ed25519 key.')
  const holds = await signatureHolds(fromBase64Url(signature), key, toBytes(`${head}.${body}`))
  if (!holds) throw notGenuine('The signature does not hold.')
  return readJson(body) as Claims
}

function notVerified({ revoked }: KeySet, kid: unknown): PaybellError {
  const key = Array.isArray(revoked) ? revoked.find((one) => one?.kid === kid) : undefined
  if (key === undefined) return notGenuine('None of the keys has its key id.')
  return new PaybellError(
    `It names the key ${key.kid}, which was revoked at ${key.revokedAt}: whether that key made it before then cannot be verified.`,
    { code: 'key-revoked' },
  )
}

function notGenuine(message: string): PaybellError {
  return new PaybellError(message, { code: 'not-genuine' })
}

/** Null for what is not JSON. */
function readJson(text: string): unknown {
  try {
    const bytes = fromBase64Url(text) ?? new Uint8Array()
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return null
  }
}
