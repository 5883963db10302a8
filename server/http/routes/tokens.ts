// POST /auth/token: credentials for an access token. GET /.well-known/jwks.json: the keys it is
// verified with.

import { Type } from 'typebox'
import { issueToken } from '../../operations/issue-token.ts'
import type { Deps } from '../../operations/parts/deps.ts'
import type { Keyring } from '../../operations/parts/keyring.ts'
import type { Logins } from '../../operations/parts/logins.ts'
import { BODY_PROBLEMS, problemResponses } from '../schemas.ts'
import type { Routes } from '../typed.ts'

const TOKEN_BODY_BYTES_MAX = 8 * 1_024

const Credentials = Type.Object(
  {
    clientId: Type.String({ minLength: 1 }),
    clientSecret: Type.String({ minLength: 1 }),
  },
  {
    examples: [
      {
        clientId: '019a8f6e-1c2d-7a3b-8c4d-5e6f70819203',
        clientSecret: 'pbs_the-secret-from-onboarding',
      },
    ],
  },
)

const Token = Type.Object(
  {
    access_token: Type.String(),
    expires_in: Type.Integer({ description: 'Lifetime in seconds.' }),
    token_type: Type.String(),
  },
  { examples: [{ access_token: 'eyJhbGciOiJFZERTQSIs…', expires_in: 3600, token_type: 'Bearer' }] },
)

export function tokenRoutes(deps: Deps, keyring: Keyring, logins: Logins): Routes {
  return (app) => {
    app.route({
      method: 'POST',
      url: '/auth/token',
      bodyLimit: TOKEN_BODY_BYTES_MAX,
      config: { isTokenRequest: true },
      schema: {
        operationId: 'issueToken',
        tags: ['Tokens'],
        summary: 'Obtain an access token',
        security: [],
        body: Credentials,
        response: {
          200: Token,
          ...problemResponses(...BODY_PROBLEMS, 'invalid-credentials', 'too-many-requests'),
        },
      },
      handler: async (request, reply) => {
        const login = { ...request.body, address: request.ip }
        const { token, lifetimeSeconds } = await issueToken(deps, { keyring, logins }, login)
        reply.header('cache-control', 'no-store')
        return { access_token: token, expires_in: lifetimeSeconds, token_type: 'Bearer' }
      },
    })

    app.route({
      method: 'GET',
      url: '/.well-known/jwks.json',
      schema: {
        operationId: 'listTokenKeys',
        tags: ['Tokens'],
        summary: 'Public keys of access tokens (RFC 7517)',
        security: [],
        response: {
          200: Type.Object({ keys: Type.Array(Type.Object({}, { additionalProperties: true })) }),
          ...problemResponses(),
        },
      },
      handler: async (_request, reply) => {
        const keys = await keyring.publicKeys()
        // Short compared with a token's hour; a verifier that meets an unknown kid asks again anyway.
        reply.header('cache-control', 'public, max-age=300')
        return { keys: keys.map((key) => ({ ...key })) }
      },
    })
  }
}
