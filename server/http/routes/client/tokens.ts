// POST /auth/token: credentials for an access token. GET /.well-known/jwks.json: the keys it is
// verified with. GET /.well-known/oauth-authorization-server: both, for OAuth libraries to find.

import type { FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { ASSERTION_TYPE } from '../../../core/proofs/client-assertion.ts'
import { ASSERTION_ALGORITHMS } from '../../../core/proofs/client-jwk.ts'
import type { Access } from '../../../operations/access/access.ts'
import { issueToken } from '../../../operations/access/issue-token.ts'
import { checkLogin } from '../../../operations/access/move-checks.ts'
import { TokenIssuer } from '../../../operations/access/token-issuer.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { FORM_TYPE, GRANT_TYPE, readTokenForm } from '../../requests/token-form.ts'
import { answer, forAnyone } from '../../schemas/calls.ts'

const TOKEN_BODY_BYTES_MAX = 8 * 1_024

const CLIENT_ID_EXAMPLE = '019a8f6e-1c2d-7a3b-8c4d-5e6f70819203'
const SECRET_EXAMPLE = 'pbs_the-secret-from-onboarding'

const JsonCredentials = Type.Object(
  {
    clientId: Type.String({ minLength: 1 }),
    clientSecret: Type.String({ minLength: 1 }),
  },
  { examples: [{ clientId: CLIENT_ID_EXAMPLE, clientSecret: SECRET_EXAMPLE }] },
)

// For the published interface only; token-form.ts reads it, and hands on what a JSON body would have.
const FormCredentials = Type.Object(
  {
    grant_type: Type.Enum([GRANT_TYPE]),
    client_id: Type.Optional(Type.String({ description: 'Left out with HTTP Basic.' })),
    client_secret: Type.Optional(Type.String({ description: 'Left out with HTTP Basic.' })),
    client_assertion_type: Type.Optional(Type.Enum([ASSERTION_TYPE])),
    client_assertion: Type.Optional(
      Type.String({
        description:
          'A JWT that the client signs with a key of its own (RFC 7523): `iss` and `sub` its id, `aud` the token endpoint or the issuer, `exp` at most 5 minutes ahead, `jti` for once.',
      }),
    ),
    scope: Type.Optional(Type.String({ description: 'Ignored.' })),
  },
  {
    description:
      'Each parameter at most once. `client_id` and `client_secret` are required, unless they come as HTTP Basic or an assertion takes their place.',
    dependentRequired: {
      client_secret: ['client_id'],
      client_assertion: ['client_assertion_type'],
      client_assertion_type: ['client_assertion'],
    },
    examples: [
      {
        grant_type: GRANT_TYPE,
        client_id: CLIENT_ID_EXAMPLE,
        client_secret: SECRET_EXAMPLE,
      },
    ],
  },
)

const Credentials = {
  ...JsonCredentials,
  published: {
    content: {
      'application/json': { schema: JsonCredentials },
      [FORM_TYPE]: { schema: FormCredentials },
    },
  },
}

const Token = Type.Object(
  {
    access_token: Type.String(),
    expires_in: Type.Integer({ description: 'Lifetime in seconds.' }),
    token_type: Type.String(),
  },
  { examples: [{ access_token: 'eyJhbGciOiJFZERTQSIs…', expires_in: 3600, token_type: 'Bearer' }] },
)

const Metadata = Type.Object({
  issuer: Type.String({ format: 'uri' }),
  token_endpoint: Type.String({ format: 'uri' }),
  jwks_uri: Type.String({ format: 'uri' }),
  grant_types_supported: Type.Array(Type.String()),
  token_endpoint_auth_methods_supported: Type.Array(Type.String()),
  token_endpoint_auth_signing_alg_values_supported: Type.Array(Type.String()),
  response_types_supported: Type.Array(Type.String()),
  service_documentation: Type.String({ format: 'uri' }),
})

export function tokenRoutes(
  deps: Deps & { version: string; baseUrl(): string },
  {
    keyring,
    logins,
    assertions,
    moves,
  }: Pick<Access, 'keyring' | 'logins' | 'assertions' | 'moves'>,
): Routes {
  const issuer = new TokenIssuer(deps)
  const checkCaller = (request: FastifyRequest): Promise<{ clientId: string }> => {
    const { clientAssertion: assertion, ip: address } = request
    if (assertion === null) {
      return logins.check({ ...(request.body as Static<typeof JsonCredentials>), address })
    }
    const { token_endpoint, issuer } = toMetadata(deps.baseUrl())
    return assertions.check({ assertion, audiences: [token_endpoint, issuer], address })
  }
  return (app) => {
    const readForm = async (request: FastifyRequest, text: string) => readTokenForm(text, request)
    app.addContentTypeParser(FORM_TYPE, { parseAs: 'string' }, readForm)

    app.route({
      method: 'POST',
      url: '/auth/token',
      bodyLimit: TOKEN_BODY_BYTES_MAX,
      config: { isTokenRequest: true, takesForm: true },
      ...forAnyone({
        operationId: 'issueToken',
        isTolerant: true,
        tags: ['Tokens'],
        summary: 'Obtain an access token',
        description:
          'Exchange `clientId` and `clientSecret` for an access token, and send it with every other call as `Authorization: Bearer <token>`. Get a new one before it expires; asking for one per call is slower and counts against the limit.\n\nOAuth libraries send a form instead, with `grant_type=client_credentials` and the credentials in it or as HTTP Basic. A client that has a key of its own sends an assertion in place of a secret (`private_key_jwt`).',
        body: Credentials,
        answers: {
          200: answer('An access token, and how many seconds it lasts.', Token),
        },
        problems: [
          'unsupported-grant-type',
          'invalid-credentials',
          'keys-only',
          'too-many-requests',
          'client-moved',
        ],
      }),
      handler: async (request, reply) => {
        checkLogin(await moves.current(), request.body.clientId)
        const { clientId } = await checkCaller(request)
        const { token, lifetimeSeconds } = await issueToken(deps, { keyring, issuer }, clientId)
        reply.header('cache-control', 'no-store')
        return { access_token: token, expires_in: lifetimeSeconds, token_type: 'Bearer' }
      },
    })

    app.route({
      method: 'GET',
      url: '/.well-known/jwks.json',
      ...forAnyone({
        operationId: 'listTokenKeys',
        tags: ['Tokens'],
        summary: 'Public keys of access tokens (RFC 7517)',
        description: 'For those who verify access tokens themselves, which is optional.',
        answers: {
          200: answer(
            'The public keys, as a JSON Web Key Set.',
            Type.Object({ keys: Type.Array(Type.Object({}, { additionalProperties: true })) }),
          ),
        },
      }),
      handler: async (_request, reply) => {
        const keys = await keyring.publicKeys()
        // Short compared with a token's hour; a verifier that meets an unknown kid asks again anyway.
        reply.header('cache-control', 'public, max-age=300')
        return { keys: keys.map((key) => ({ ...key })) }
      },
    })

    app.route({
      method: 'GET',
      url: '/.well-known/oauth-authorization-server',
      ...forAnyone({
        operationId: 'getOauthMetadata',
        tags: ['Tokens'],
        summary: 'Where OAuth libraries find everything (RFC 8414)',
        description:
          'For OAuth libraries that discover a server: the address that gives tokens, how a client authenticates there, and the keys of the tokens.',
        answers: { 200: answer('The metadata.', Metadata) },
      }),
      handler: async (_request, reply) => {
        reply.header('cache-control', 'public, max-age=300')
        return toMetadata(deps.baseUrl())
      },
    })
  }
}

/** RFC 8414 §2. There is no authorization endpoint, so there are no response types. */
function toMetadata(issuer: string) {
  return {
    issuer,
    token_endpoint: `${issuer}/auth/token`,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    grant_types_supported: [GRANT_TYPE],
    token_endpoint_auth_methods_supported: [
      'client_secret_basic',
      'client_secret_post',
      'private_key_jwt',
    ],
    token_endpoint_auth_signing_alg_values_supported: [...ASSERTION_ALGORITHMS],
    response_types_supported: [],
    service_documentation: `${issuer}/guides/api`,
  }
}
