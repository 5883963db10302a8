// A compact JWS (RFC 7515 §3.1, EdDSA), for access tokens and for statements. `typ` says what it is, so that one
// kind is never taken for another.

import { sign } from 'node:crypto'
import { TOKEN_ALGORITHM } from '../../core/proofs/token.ts'
import type { SigningPair } from '../../core/signatures/asymmetric-signature.ts'

/** At once: handing an Ed25519 signature over so few bytes to another thread costs more than making it. */
export function signJws({ kid, key }: SigningPair, typ: string, claims: object): string {
  const header = { alg: TOKEN_ALGORITHM, typ, kid }
  const signed = `${toBase64Url(header)}.${toBase64Url(claims)}`
  return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`
}

function toBase64Url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
