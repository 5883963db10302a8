// What a client assertion (RFC 7523) must look like before its signature is checked, and after. Pure: operations/ verifies.

import { isUuid } from '../plain/uuid.ts'
import { ASSERTION_ALGORITHMS, type AssertionAlgorithm } from './client-jwk.ts'
import { isCanonicalBase64Url, readJwtPart } from './token.ts'

export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const ASSERTION_BYTES_MAX = 4_096
/** Clocks may be a minute apart. */
export const ASSERTION_LEEWAY_SECONDS = 60
const ASSERTION_SECONDS_MAX = 300
const JTI_CHARACTERS_MAX = 256

export interface Assertion {
  clientId: string
  alg: AssertionAlgorithm
  /** Null where its maker names none: then every key of the client is tried. */
  kid: string | null
}

/** What it claims, unverified; null for one that no client can have made for us. */
export function readAssertion(text: string): Assertion | null {
  if (text.length > ASSERTION_BYTES_MAX) return null
  const [head, payload, signature, ...more] = text.split('.')
  if (!head || !payload || !signature || more.length > 0) return null
  // Respelt, it is another text with the same signature: forged, as it is for tokens.
  if (![head, payload, signature].every(isCanonicalBase64Url)) return null
  const header = readJwtPart(head) ?? {}
  const claims = readJwtPart(payload) ?? {}
  // RFC 9864 gives EdDSA with this curve a name of its own, which some libraries use.
  const named = header.alg === 'Ed25519' ? 'EdDSA' : header.alg
  const alg = ASSERTION_ALGORITHMS.find((one) => one === named)
  const { kid = null } = header
  if (alg === undefined || 'crit' in header || (kid !== null && typeof kid !== 'string'))
    return null
  const { sub } = claims
  if (typeof sub !== 'string' || !isUuid(sub)) return null
  return { clientId: sub, alg, kid }
}

/** What is wrong with the claims of one whose signature holds; null when nothing is. */
export function findAssertionFault(
  { iss, sub, aud, exp, iat, jti }: Readonly<Record<string, unknown>>,
  { clientId, audiences, nowMs }: { clientId: string; audiences: readonly string[]; nowMs: number },
): string | null {
  for (const [name, value] of Object.entries({ iss, sub })) {
    // Capitals make no other id.
    if (typeof value !== 'string' || value.toLowerCase() !== clientId)
      return `${name} must be your clientId.`
  }
  // Who else it is meant for could use it here, too (RFC 7523 §3, as draft-ietf-oauth-rfc7523bis updates it).
  const named = [aud].flat()
  if (named.length === 0 || !named.every((one) => audiences.some((ours) => ours === one)))
    return `aud must be ${audiences.join(' or ')}, and nothing else.`
  const latest = nowMs / 1_000 + ASSERTION_LEEWAY_SECONDS
  if (typeof exp !== 'number' || exp > latest + ASSERTION_SECONDS_MAX) {
    return `exp must be at most ${ASSERTION_SECONDS_MAX} seconds ahead.`
  }
  if (iat !== undefined && (typeof iat !== 'number' || iat > latest))
    return 'iat must not be in the future.'
  if (typeof iat === 'number' && exp - iat > ASSERTION_SECONDS_MAX)
    return `exp must be at most ${ASSERTION_SECONDS_MAX} seconds after iat.`
  if (typeof jti !== 'string' || jti === '' || jti.length > JTI_CHARACTERS_MAX) {
    return `jti must be a text of 1 to ${JTI_CHARACTERS_MAX} characters.`
  }
  return null
}
