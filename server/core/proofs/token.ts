// What an access token says, and what it must look like before and after its signature is checked
// (RFC 8725, RFC 9068). Pure: operations/ signs and verifies. One token has one
// spelling: base64url decoders let 16 spellings of an Ed25519 signature pass, so every part must re-encode
// to itself.

import { parseBaseUrl } from '../network/base-url.ts'
import { isUuid } from '../plain/uuid.ts'

export const TOKEN_ALGORITHM = 'EdDSA'
export const TOKEN_TYPE = 'at+jwt'
export const TOKEN_BYTES_MAX = 4_096
/** Machines disagree a little about when a token begins; about its end there is no leeway. */
export const TOKEN_LEEWAY_SECONDS = 5

export interface TokenParty {
  /** Null where each process has an address of its own: then that of any is taken, and that of the version before. */
  issuer: string | null
  audience: string
}

/** What tokens named in place of an address, where none was set. */
export const ISSUER_BEFORE = 'paybell'

export interface TokenClaims {
  clientId: string
  expiresAtMs: number
}

/** What a JWS must be before its signature is looked at. */
export interface JwsKind {
  typ: string
  bytesMax: number
}

const TOKEN_KIND: JwsKind = { typ: TOKEN_TYPE, bytesMax: TOKEN_BYTES_MAX }

/** The key id of a token that is worth verifying; null for one that is refused unread. */
export function readKeyId(token: string, { typ, bytesMax } = TOKEN_KIND): string | null {
  if (token.length > bytesMax) return null
  const parts = token.split('.')
  if (parts.length !== 3 || !parts.every(isCanonicalBase64Url)) return null
  const header = readJwtPart(parts[0] as string)
  // `jku`, `jwk`, `x5u` and `x5c` may be there and are not read. `crit` asks to be understood.
  if (header === null || header.alg !== TOKEN_ALGORITHM || header.typ !== typ) return null
  if ('crit' in header || typeof header.kid !== 'string') return null
  return header.kid
}

/** The claims of a token whose signature holds; null when one is missing, foreign or not yet good. Its end may be past. */
export function readClaims(
  payload: Readonly<Record<string, unknown>>,
  party: TokenParty,
  nowMs: number,
): TokenClaims | null {
  const { iss, aud, sub, iat, nbf, exp, jti } = payload
  if (!isIssuer(iss, party) || aud !== party.audience) return null
  if (typeof sub !== 'string' || !isUuid(sub)) return null
  if (typeof jti !== 'string' || jti === '') return null
  if (!isSeconds(iat) || !isSeconds(nbf) || !isSeconds(exp)) return null
  const latestBeginMs = nowMs + TOKEN_LEEWAY_SECONDS * 1_000
  if (iat * 1_000 > latestBeginMs || nbf * 1_000 > latestBeginMs) return null
  return { clientId: sub, expiresAtMs: exp * 1_000 }
}

function isIssuer(iss: unknown, { issuer }: TokenParty): boolean {
  if (issuer !== null) return iss === issuer
  return typeof iss === 'string' && (iss === ISSUER_BEFORE || parseBaseUrl(iss) === iss)
}

function isSeconds(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value)
}

export function isCanonicalBase64Url(text: string): boolean {
  return text !== '' && Buffer.from(text, 'base64url').toString('base64url') === text
}

/** The object that a part holds; null where it holds none. */
export function readJwtPart(part: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString())
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
