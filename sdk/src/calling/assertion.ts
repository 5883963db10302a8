// How a client with a key of its own asks for a token (RFC 7523): a JWT about itself that it signs, good for one token.

import { toBase64, toBytes } from '../plain/hmac.ts'
import { type SigningKey, signWith } from '../plain/private-key.ts'

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
/** Clocks may be a minute apart, and the way takes its time. */
const ASSERTION_SECONDS = 120

export interface AssertionClaims {
  clientId: string
  /** The token endpoint, as the service names itself. */
  audience: string
  nowMs: number
}

/** The form of one request: an assertion is taken once, so another try needs another. */
export async function makeTokenForm(key: SigningKey, claims: AssertionClaims): Promise<string> {
  return new URLSearchParams({
    grant_type: 'client_credentials',
    client_assertion_type: ASSERTION_TYPE,
    client_assertion: await signAssertion(key, claims),
  }).toString()
}

async function signAssertion(
  key: SigningKey,
  { clientId, audience, nowMs }: AssertionClaims,
): Promise<string> {
  const iat = Math.floor(nowMs / 1_000)
  // Without `kid`: the service tries the client's few keys, and a name that it does not have would match none.
  const content = [
    { alg: key.alg, typ: 'JWT' },
    {
      iss: clientId,
      sub: clientId,
      aud: audience,
      iat,
      exp: iat + ASSERTION_SECONDS,
      jti: crypto.randomUUID(),
    },
  ]
    .map((part) => toBase64Url(toBytes(JSON.stringify(part))))
    .join('.')
  return `${content}.${toBase64Url(await signWith(key, toBytes(content)))}`
}

function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
