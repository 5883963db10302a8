// Ed25519 with Web Crypto: the `v1a` entries of `webhook-signature`, the signatures of receipts and statements, and the
// public keys that verify them.

import { type Bytes, concat, fromBase64, fromBase64Url, toBase64, toBytes } from './hmac.ts'

/** A public key of Paybell: `whpk_…`, the form of Standard Webhooks. */
export type Whpk = `whpk_${string}`

/** A key as Web Crypto holds it. Runtimes name the type differently, or not at all. */
export type ImportedKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

const PREFIX = 'whpk_'
const KEY_BYTES = 32
const SIGNATURE_BYTES = 64

/** Null for what is not a key. */
export async function importWhpk(whpk: unknown): Promise<ImportedKey | null> {
  if (typeof whpk !== 'string' || !whpk.startsWith(PREFIX)) return null
  return importRaw(fromBase64(whpk.slice(PREFIX.length)))
}

/** The member `x` of a JWK. Null for what is not a key. */
export function importJwkX(x: string): Promise<ImportedKey | null> {
  return importRaw(fromBase64Url(x))
}

async function importRaw(bytes: Bytes | null): Promise<ImportedKey | null> {
  if (bytes === null || bytes.length !== KEY_BYTES) return null
  return crypto.subtle.importKey('raw', bytes, 'Ed25519', true, ['verify'])
}

/** What is signed (Standard Webhooks): `id.timestamp.body`. */
export function signedContent(id: string, timestamp: string, body: Bytes): Bytes {
  return concat([toBytes(`${id}.${timestamp}.`), body])
}

/** True when `entry`, such as `v1a,<base64>`, was made with this key over this content. */
export async function entryHolds(
  entry: string,
  key: ImportedKey,
  content: Bytes,
): Promise<boolean> {
  return signatureHolds(fromBase64(entry.slice(4)), key, content)
}

/** False, too, for a signature that could not be read. */
export async function signatureHolds(
  signature: Bytes | null,
  key: ImportedKey,
  content: Bytes,
): Promise<boolean> {
  if (signature === null || signature.length !== SIGNATURE_BYTES) return false
  return crypto.subtle.verify('Ed25519', key, signature, content)
}

export async function signEntry(privateKey: ImportedKey, content: Bytes): Promise<string> {
  const signature = await crypto.subtle.sign('Ed25519', privateKey, content)
  return `v1a,${toBase64(new Uint8Array(signature))}`
}

export async function exportWhpk(publicKey: ImportedKey): Promise<Whpk> {
  const raw = await crypto.subtle.exportKey('raw', publicKey)
  return `${PREFIX}${toBase64(new Uint8Array(raw))}`
}
