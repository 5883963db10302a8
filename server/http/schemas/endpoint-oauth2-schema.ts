// The token that an endpoint's receiver asks for, as callers give and see it: all but the secret is shown.

import { CALLBACK_URL_CHARACTERS_MAX } from '../../core/network/callback-url.ts'
import type { FieldError } from '../../core/plain/errors.ts'
import {
  type EndpointOauth2,
  type GivenOauth2,
  OAUTH_CLIENT_ID_CHARACTERS_MAX,
  OAUTH_TEXT_CHARACTERS_MAX,
  TOKEN_AUTHENTICATIONS,
  type TokenAuthentication,
} from '../../core/tokens/endpoint-oauth2.ts'
import { TextOrNull } from '../basics/scalars.ts'
import { Type } from '../basics/type.ts'

const ABOUT_URL =
  'The token endpoint. The same addresses are allowed as for callbacks, the `tls` settings hold for it too, and redirects are not followed.'
const ABOUT_CLIENT = 'As whom the service asks for a token.'
const ABOUT_SECRET =
  'The secret of that client, unless privateKeyJwt or authentication `tls` is given. It is never shown again; it may be left out while tokenUrl and clientId stay as they are.'
const ABOUT_KEY =
  'True: the service proves itself with an assertion (RFC 7523) instead of a secret. Its public keys are at `/.well-known/clients/{clientId}/jwks.json`, with the id of your client at Paybell, and no other client’s.'
const ABOUT_SCOPE = 'Sent with the request for a token. Null: nothing is.'
const ABOUT_AUTHENTICATION =
  'Where the secret stands: `basic`, in the header, which is the default; or `post`, in the body. An assertion is always in the body. `tls`: there is no secret, the client certificate of `tls.clientCertificate` alone proves who asks (RFC 8705).'

interface Oauth2Body {
  tokenUrl: string
  clientId: string
  clientSecret?: string
  privateKeyJwt?: boolean
  scope?: string | null
  audience?: string | null
  authentication?: TokenAuthentication
}

/** Null takes it back. */
export const Oauth2Request = Type.Unsafe<Oauth2Body>({
  type: 'object',
  isTolerant: false,
  required: ['tokenUrl', 'clientId'],
  properties: {
    tokenUrl: {
      type: 'string',
      format: 'callback-url',
      maxLength: CALLBACK_URL_CHARACTERS_MAX,
      description: ABOUT_URL,
    },
    clientId: {
      type: 'string',
      format: 'oauth-text',
      maxLength: OAUTH_CLIENT_ID_CHARACTERS_MAX,
      description: ABOUT_CLIENT,
    },
    clientSecret: {
      type: 'string',
      format: 'oauth-text',
      maxLength: OAUTH_TEXT_CHARACTERS_MAX,
      description: ABOUT_SECRET,
    },
    privateKeyJwt: { type: 'boolean', description: ABOUT_KEY },
    scope: {
      type: ['string', 'null'],
      format: 'oauth-scope',
      maxLength: OAUTH_TEXT_CHARACTERS_MAX,
      description: ABOUT_SCOPE,
    },
    audience: {
      type: ['string', 'null'],
      format: 'oauth-text',
      maxLength: OAUTH_TEXT_CHARACTERS_MAX,
      description: ABOUT_SCOPE,
    },
    authentication: {
      type: 'string',
      enum: [...TOKEN_AUTHENTICATIONS],
      description: ABOUT_AUTHENTICATION,
    },
  },
  description:
    'For receivers that ask for a token: callbacks carry `Authorization: Bearer …` from this token endpoint (OAuth 2.0, client credentials).',
})
export const Oauth2Fields = Type.Unsafe<Oauth2Body | null>({
  ...Oauth2Request,
  type: ['object', 'null'],
})

export const Oauth2Shown = Type.Object(
  {
    tokenUrl: Type.String({ description: ABOUT_URL }),
    clientId: Type.String({ description: ABOUT_CLIENT }),
    privateKeyJwt: Type.Boolean({ description: ABOUT_KEY }),
    scope: TextOrNull(ABOUT_SCOPE),
    audience: TextOrNull(ABOUT_SCOPE),
    authentication: Type.Enum([...TOKEN_AUTHENTICATIONS], { description: ABOUT_AUTHENTICATION }),
  },
  { description: 'Only where it was given, and without the secret.' },
)

export function toOauth2Shown({ sealedSecret: _secret, ...shown }: EndpointOauth2) {
  return shown
}

export function readOauth2(body: Oauth2Body): GivenOauth2 {
  const { tokenUrl, clientId, clientSecret = null, privateKeyJwt = false } = body
  const { scope = null, audience = null } = body
  const authentication = body.authentication ?? (privateKeyJwt ? 'post' : 'basic')
  return { tokenUrl, clientId, clientSecret, privateKeyJwt, authentication, scope, audience }
}

/** What contradicts itself. */
export function oauth2Faults(given: GivenOauth2): FieldError[] {
  if (given.authentication === 'tls') return tlsFaults(given)
  if (!given.privateKeyJwt) return []
  const faults: FieldError[] = []
  if (given.clientSecret !== null) {
    faults.push({
      pointer: '/oauth2/clientSecret',
      code: 'contradictory',
      detail: 'Give clientSecret or privateKeyJwt, not both: with a key there is no secret.',
    })
  }
  if (given.authentication === 'basic') {
    faults.push({
      pointer: '/oauth2/authentication',
      code: 'contradictory',
      detail: 'An assertion stands in the body: give "post" with privateKeyJwt, or leave it out.',
    })
  }
  return faults
}

function tlsFaults({ clientSecret, privateKeyJwt }: GivenOauth2): FieldError[] {
  const names = [
    ...(clientSecret === null ? [] : ['clientSecret']),
    ...(privateKeyJwt ? ['privateKeyJwt'] : []),
  ]
  return names.map((name) => ({
    pointer: `/oauth2/${name}`,
    code: 'contradictory',
    detail: `With authentication "tls" the client certificate alone proves who asks: leave ${name} out.`,
  }))
}
