// The token that an endpoint's receiver asks for (decisions, Reaching a receiver that asks who calls): where the service
// fetches it, and how it proves itself there. The secret is sealed wherever it is kept, and never shown.

import { createHash } from 'node:crypto'

export const TOKEN_AUTHENTICATIONS = ['basic', 'post', 'tls'] as const
export type TokenAuthentication = (typeof TOKEN_AUTHENTICATIONS)[number]

export const OAUTH_CLIENT_ID_CHARACTERS_MAX = 256
export const OAUTH_TEXT_CHARACTERS_MAX = 1024
// Printable ASCII (RFC 6749, appendix A), without a space that was only pasted along.
export const OAUTH_TEXT_PATTERN = '^[\\x21-\\x7e](?:[\\x20-\\x7e]*[\\x21-\\x7e])?$'
/** RFC 6749 §3.3. */
export const OAUTH_SCOPE_PATTERN =
  '^[\\x21\\x23-\\x5b\\x5d-\\x7e]+(?: [\\x21\\x23-\\x5b\\x5d-\\x7e]+)*$'
const TEXT = new RegExp(OAUTH_TEXT_PATTERN)
const SCOPE = new RegExp(OAUTH_SCOPE_PATTERN)

interface TokenClient {
  tokenUrl: string
  clientId: string
  /** The service proves itself with a key of its own. False: with the secret, or its certificate. */
  privateKeyJwt: boolean
  /** Where the secret stands: in a header, or in the body. An assertion is always in the body. With `tls` there is neither:
   *  the client certificate of the connection is the proof (RFC 8705 §2). */
  authentication: TokenAuthentication
  scope: string | null
  audience: string | null
}

/** As it is kept. */
export interface EndpointOauth2 extends TokenClient {
  /** An empty one where there is none; null as well where the version before may read it. */
  sealedSecret: Buffer | null
}

/** As its owner gives it. */
export interface GivenOauth2 extends TokenClient {
  /** Null: none was given. */
  clientSecret: string | null
}

/** As a token is fetched with it. */
export interface CallbackOauth2 extends GivenOauth2 {
  /** Tokens are each endpoint's own. */
  endpointId: string
}

/** True when the service proves itself with a secret. */
export function takesSecret({ privateKeyJwt, authentication }: TokenClient): boolean {
  return !privateKeyJwt && authentication !== 'tls'
}

/** True when what was sealed before stays where no secret is given: only for the same place, as the same client. */
export function keepsSecret(
  before: EndpointOauth2 | null,
  given: GivenOauth2,
): before is EndpointOauth2 & { sealedSecret: Buffer } {
  if (before === null || before.sealedSecret === null) return false
  if (takesSecret(before) !== takesSecret(given)) return false
  return before.tokenUrl === given.tokenUrl && before.clientId === given.clientId
}

/** One line, for the trail and for messages. Another secret has another digest, which is that of its sealed form. */
export function oauth2Text(oauth2: EndpointOauth2 | null): string {
  if (oauth2 === null) return ''
  const { tokenUrl, clientId, authentication, scope, audience, sealedSecret } = oauth2
  const parts = [
    `${clientId} at ${tokenUrl}`,
    sealedSecret === null || !takesSecret(oauth2)
      ? toMethod(oauth2)
      : `${authentication} with secret ${createHash('sha256').update(sealedSecret).digest('hex').slice(0, 16)}`,
    scope === null ? '' : `scope ${scope}`,
    audience === null ? '' : `audience ${audience}`,
  ]
  return parts.filter((part) => part !== '').join(', ')
}

/** By its name in RFC 7591 and RFC 8705: a certificate may be signed by an authority or by itself. */
function toMethod({ privateKeyJwt }: TokenClient): string {
  return privateKeyJwt ? 'private_key_jwt' : 'tls_client_auth'
}

/** Null when it is one. The detail never repeats it: it may be a secret. */
export function checkOauthText(text: string): { code: string; detail: string } | null {
  if (TEXT.test(text)) return null
  const detail = 'Use printable ASCII characters, at least one, with no space at either end.'
  return { code: 'invalid-text', detail }
}

export function checkOauthScope(text: string): { code: string; detail: string } | null {
  if (SCOPE.test(text)) return null
  return {
    code: 'invalid-text',
    detail:
      'Give names of printable ASCII characters, without quotation marks and backslashes, and one space between two of them.',
  }
}
