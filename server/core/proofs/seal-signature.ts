// Checks the signatures of seals and drops with nothing but public keys: for the service, for the command line and for
// an export that lies in a file.

import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import type { DROP_TYPE, SEAL_TYPE } from './audit-seal.ts'
import { readKeyId } from './token.ts'

const SEAL_BYTES_MAX = 8_192

/** By key id. */
export type SealKeys = ReadonlyMap<string, KeyObject>

/** Of a JWKS, as /.well-known/webhook-keys.json has it: `retired` ones have signed older seals. */
export function readSealKeys(jwks: unknown): SealKeys {
  const { keys, retired } = (jwks ?? {}) as { keys?: unknown; retired?: unknown }
  const found = new Map<string, KeyObject>()
  for (const jwk of [keys, retired].flat()) {
    const { kid, kty, crv, x } = (jwk ?? {}) as Record<string, unknown>
    if (typeof kid !== 'string' || kty !== 'OKP' || crv !== 'Ed25519') continue
    found.set(kid, createPublicKey({ key: { kty, crv, x: String(x) }, format: 'jwk' }))
  }
  return found
}

export type ReadSeal =
  | { kind: 'valid'; claims: Readonly<Record<string, unknown>> }
  | { kind: 'unknown-key'; keyId: string }
  | { kind: 'invalid' }

export function readSeal(
  jws: string,
  typ: typeof SEAL_TYPE | typeof DROP_TYPE,
  keys: SealKeys,
): ReadSeal {
  const keyId = readKeyId(jws, { typ, bytesMax: SEAL_BYTES_MAX })
  if (keyId === null) return { kind: 'invalid' }
  const key = keys.get(keyId)
  if (key === undefined) return { kind: 'unknown-key', keyId }
  const [header, payload, signature] = jws.split('.') as [string, string, string]
  const signed = Buffer.from(`${header}.${payload}`)
  if (!verify(null, signed, key, Buffer.from(signature, 'base64url'))) return { kind: 'invalid' }
  return { kind: 'valid', claims: JSON.parse(Buffer.from(payload, 'base64url').toString()) }
}
