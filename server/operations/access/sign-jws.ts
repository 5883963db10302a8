// A compact JWS (RFC 7515 §3.1), for access tokens and statements (EdDSA), and for assertions (ES256). `typ` says what it is,
// so that one kind is never taken for another.

import { sign } from 'node:crypto'
import { TOKEN_ALGORITHM } from '../../core/proofs/token.ts'
import type { SigningPair } from '../../core/signatures/asymmetric-signature.ts'

const ASSERTION_ALGORITHM = 'ES256'

/** At once: handing an Ed25519 signature over so few bytes to another thread costs more than making it. */
export function signJws({ kid, key }: SigningPair, typ: string, claims: object): string {
  const isCurve = key.asymmetricKeyType === 'ec'
  const header = { alg: isCurve ? ASSERTION_ALGORITHM : TOKEN_ALGORITHM, typ, kid }
  const signed = `${toBase64Url(header)}.${toBase64Url(claims)}`
  const signature = isCurve
    ? sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' })
    : sign(null, Buffer.from(signed), key)
  return `${signed}.${signature.toString('base64url')}`
}

function toBase64Url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
