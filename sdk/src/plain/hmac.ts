// HMAC-SHA-256 with Web Crypto, and a comparison that takes the same time wherever two texts differ.

const utf8 = new TextEncoder()

export type Bytes = Uint8Array<ArrayBuffer>

export type RawBytes = string | ArrayBufferView | ArrayBuffer

/** Checks the tag, not the class: bytes may come from another realm, as they do under Jest. */
export function isRawBytes(data: unknown): data is RawBytes {
  return (
    typeof data === 'string' || ArrayBuffer.isView(data) || tagOf(data) === '[object ArrayBuffer]'
  )
}

/** Bytes for Web Crypto, which takes no view of shared memory. */
export function toBytes(data: RawBytes): Bytes {
  if (typeof data === 'string') return utf8.encode(data)
  if (!ArrayBuffer.isView(data)) return new Uint8Array(data)
  const view = new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  return tagOf(data.buffer) === '[object ArrayBuffer]' ? (view as Bytes) : new Uint8Array(view)
}

function tagOf(data: unknown): string {
  return Object.prototype.toString.call(data)
}

export function concat(parts: readonly Uint8Array[]): Bytes {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

export async function hmacSha256(key: string | Uint8Array, data: Bytes): Promise<Bytes> {
  const imported = await crypto.subtle.importKey(
    'raw',
    toBytes(key),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  )
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, data))
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

export function toBase64(bytes: Uint8Array): string {
  let binary = ''
  // In slices, because arguments go on the stack.
  for (let at = 0; at < bytes.length; at += 8_192) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 8_192))
  }
  return btoa(binary)
}

/** The bytes of base64; null for what was not spelled as everyone spells it. */
export function fromBase64(text: string): Bytes | null {
  try {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
    return toBase64(bytes) === text ? bytes : null
  } catch {
    return null
  }
}

/** The same of base64url without padding, as JWS and JWK have it (RFC 7515 §2): in this spelling and no other. */
export function fromBase64Url(text: string): Bytes | null {
  if (!/^[\w-]*$/.test(text)) return null
  const base64 = text.replaceAll('-', '+').replaceAll('_', '/')
  return fromBase64(base64.padEnd(Math.ceil(base64.length / 4) * 4, '='))
}

/** The value of `X-Paybell-Hmac`. */
export async function hmacSignature(key: string, body: Bytes): Promise<string> {
  return toHex(await hmacSha256(key, body))
}

/** One entry of `webhook-signature` (Standard Webhooks), over `id.timestamp.body`. */
export async function standardSignature(
  key: string,
  id: string,
  timestamp: string,
  body: Bytes,
): Promise<string> {
  return `v1,${toBase64(await hmacSha256(key, concat([toBytes(`${id}.${timestamp}.`), body])))}`
}

/**
 * Compares texts, not decoded bytes: capital hex digits and respelled base64 are refused, because
 * Paybell never writes them. The time depends on the length alone, which is no secret.
 */
export function isEqual(given: string, expected: string): boolean {
  if (given.length !== expected.length) return false
  let difference = 0
  for (let at = 0; at < expected.length; at++) {
    difference |= given.charCodeAt(at) ^ expected.charCodeAt(at)
  }
  return difference === 0
}
