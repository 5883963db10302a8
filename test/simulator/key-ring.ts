// Signing keys by name. Made once for all seeds: a key object costs more than what it signs here.

import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'

const keys = new Map<string, KeyObject>()

export function keyOf(name: string): KeyObject {
  let key = keys.get(name)
  if (!key) {
    key = createSecretKey(Buffer.from(`shared key ${name}`))
    keys.set(name, key)
  }
  return key
}

/** A second reading of the recipe: the receiver's, not the sender's own code. */
export function bodySignature(name: string, body: Uint8Array): string {
  return createHmac('sha256', keyOf(name)).update(body).digest('hex')
}

export function standardSignature(
  name: string,
  id: string,
  timestamp: string,
  body: Uint8Array,
): string {
  const hmac = createHmac('sha256', keyOf(name)).update(`${id}.${timestamp}.`).update(body)
  return `v1,${hmac.digest('base64')}`
}
