// The key by which the service proves itself for one client to that client's bank: ECDSA on P-256 (ES256), which profiles of
// open banking ask for. It is made of bytes that the master key yields for the client, so there is nothing to store.

import { createECDH, createHash, createPrivateKey, type KeyObject } from 'node:crypto'

/** More than the 32 of a number below the order of the curve: what is left after the division is even (FIPS 186-5, A.2.1). */
export const ASSERTION_KEY_BYTES = 48
const ORDER = 0xffffffff_00000000_ffffffff_ffffffff_bce6faad_a7179e84_f3b9cac2_fc632551n
const COORDINATE_BYTES = 32

/** The public half (RFC 7517). */
export interface AssertionJwk {
  kty: 'EC'
  crv: 'P-256'
  x: string
  y: string
}

export interface AssertionKey {
  /** The thumbprint of the public half (RFC 7638). */
  kid: string
  key: KeyObject
  jwk: AssertionJwk
}

export function toAssertionKey(bytes: Uint8Array): AssertionKey {
  const number = (BigInt(`0x${Buffer.from(bytes).toString('hex')}`) % (ORDER - 1n)) + 1n
  const scalar = Buffer.from(number.toString(16).padStart(2 * COORDINATE_BYTES, '0'), 'hex')
  const curve = createECDH('prime256v1')
  curve.setPrivateKey(scalar)
  const point = curve.getPublicKey()
  const x = point.toString('base64url', 1, 1 + COORDINATE_BYTES)
  const y = point.toString('base64url', 1 + COORDINATE_BYTES)
  const jwk = { kty: 'EC', crv: 'P-256', x, y } as const
  const key = createPrivateKey({
    key: { ...jwk, d: scalar.toString('base64url') },
    format: 'jwk',
  })
  const members = JSON.stringify({ crv: jwk.crv, kty: jwk.kty, x, y })
  return { kid: createHash('sha256').update(members).digest('base64url'), key, jwk }
}
