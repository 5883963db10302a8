// The two signatures of a callback. `X-Paybell-Hmac` is lower-case hex over the exact body bytes;
// `webhook-signature` is the Standard Webhooks form over `id.timestamp.body`, which a replayed body
// alone cannot forge. Both are keyed with the UTF-8 bytes of the shared key as it was given.

import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'

/** The key as the HMAC takes it: untrimmed, unnormalised UTF-8. */
export function toSigningKey(sharedKey: string | Uint8Array): KeyObject {
  // It copies what it is given.
  return createSecretKey(typeof sharedKey === 'string' ? Buffer.from(sharedKey, 'utf8') : sharedKey)
}

/** The value of `X-Paybell-Hmac`. */
export function hmacHex(key: KeyObject, body: readonly Uint8Array[]): string {
  const hmac = createHmac('sha256', key)
  for (const part of body) hmac.update(part)
  return hmac.digest('hex')
}

/** One entry of `webhook-signature` (standardwebhooks.com, "Signature scheme"). */
export function standardSignature(
  key: KeyObject,
  id: string,
  timestampSeconds: number,
  body: readonly Uint8Array[],
): string {
  const hmac = createHmac('sha256', key).update(`${id}.${timestampSeconds}.`)
  for (const part of body) hmac.update(part)
  return `v1,${hmac.digest('base64')}`
}
