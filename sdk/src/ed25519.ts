// Ed25519 with Web Crypto: the `v1a` entries of `webhook-signature`, and the public keys that verify them.

import { type Bytes, concat, toBase64, toBytes } from './hmac.ts'

/** A public key of Paybell: `whpk_…`, the form of Standard Webhooks. */
export type Whpk = `whpk_${string}`

/** A key as Web Crypto holds it. Runtimes name the type differently, or not at all. */
export type ImportedKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

const PREFIX = 'whpk_'
const KEY_BYTES = 32
const SIGNATURE_BYTES = 64

/** The bytes of base64; null for what was not spelled as everyone spells it. */
function fromBase64(text: string, length: number): Bytes | null {
  try {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
    return bytes.length === length && toBase64(bytes) === text ? bytes : null
  } catch {
    return null
  }
}

/** Null for what is not a key. */
export async function importWhpk(whpk: unknown): Promise<ImportedKey | null> {
  if (typeof whpk !== 'string' || !whpk.startsWith(PREFIX)) return null
  const bytes = fromBase64(whpk.slice(PREFIX.length), KEY_BYTES)
  if (bytes === null) return null
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
  const signature = fromBase64(entry.slice(4), SIGNATURE_BYTES)
  return signature !== null && crypto.subtle.verify('Ed25519', key, signature, content)
}

export async function signEntry(privateKey: ImportedKey, content: Bytes): Promise<string> {
  const signature = await crypto.subtle.sign('Ed25519', privateKey, content)
  return `v1a,${toBase64(new Uint8Array(signature))}`
}

export async function exportWhpk(publicKey: ImportedKey): Promise<Whpk> {
  const raw = await crypto.subtle.exportKey('raw', publicKey)
  return `${PREFIX}${toBase64(new Uint8Array(raw))}`
}
