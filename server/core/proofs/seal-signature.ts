// Checks the signatures of seals and drops with nothing but public keys: for the service, for the command line and for
// an export that lies in a file.

import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import type { DROP_TYPE, SEAL_TYPE } from './audit-seal.ts'
import { readKeyId } from './token.ts'

const SEAL_BYTES_MAX = 8_192

/** By key id. */
export interface SealKeys {
  trusted: ReadonlyMap<string, KeyObject>
  /** When each was revoked, in text. */
  revoked: ReadonlyMap<string, string>
}

/** Of a JWKS, as /.well-known/webhook-keys.json has it: `retired` ones have signed older seals. */
export function readSealKeys(jwks: unknown): SealKeys {
  const { keys, retired, revoked } = (jwks ?? {}) as Readonly<Record<string, unknown>>
  const found = new Map<string, KeyObject>()
  for (const jwk of [keys, retired].flat()) {
    const { kid, kty, crv, x } = (jwk ?? {}) as Record<string, unknown>
    if (typeof kid !== 'string' || kty !== 'OKP' || crv !== 'Ed25519') continue
    found.set(kid, createPublicKey({ key: { kty, crv, x: String(x) }, format: 'jwk' }))
  }
  return { trusted: found, revoked: readRevoked(revoked) }
}

function readRevoked(listed: unknown): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const each of Array.isArray(listed) ? listed : []) {
    const { kid, revokedAt } = (each ?? {}) as Record<string, unknown>
    const atMs = Date.parse(String(revokedAt))
    if (typeof kid === 'string' && !Number.isNaN(atMs)) found.set(kid, new Date(atMs).toISOString())
  }
  return found
}

export type ReadSeal =
  | { kind: 'valid'; claims: Readonly<Record<string, unknown>> }
  | { kind: 'unknown-key'; keyId: string }
  | { kind: 'revoked-key'; keyId: string; revokedAt: string }
  | { kind: 'invalid' }

export function readSeal(
  jws: string,
  typ: typeof SEAL_TYPE | typeof DROP_TYPE,
  keys: SealKeys,
): ReadSeal {
  const keyId = readKeyId(jws, { typ, bytesMax: SEAL_BYTES_MAX })
  if (keyId === null) return { kind: 'invalid' }
  const key = keys.trusted.get(keyId)
  if (key === undefined) {
    const revokedAt = keys.revoked.get(keyId)
    if (revokedAt === undefined) return { kind: 'unknown-key', keyId }
    return { kind: 'revoked-key', keyId, revokedAt }
  }
  const [header, payload, signature] = jws.split('.') as [string, string, string]
  const signed = Buffer.from(`${header}.${payload}`)
  if (!verify(null, signed, key, Buffer.from(signature, 'base64url'))) return { kind: 'invalid' }
  return { kind: 'valid', claims: JSON.parse(Buffer.from(payload, 'base64url').toString()) }
}
