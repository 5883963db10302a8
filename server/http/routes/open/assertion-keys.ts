// GET /.well-known/clients/{clientId}/jwks.json: the public keys by which the service proves itself for this client where a
// receiver's authorisation server asks (`oauth2.privateKeyJwt`). They are there for any id, so it does not tell which
// clients there are.

import { isUuid } from '../../../core/plain/uuid.ts'
import { PublishedAssertionKeys } from '../../../operations/endpoints/published-assertion-keys.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { notFound } from '../../../operations/shared/service-errors.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { answer, forAnyone } from '../../schemas/calls.ts'

const USE = { use: 'sig', alg: 'ES256' } as const

const AssertionKeySet = Type.Object(
  {
    keys: Type.Array(
      Type.Object({
        kty: Type.Literal('EC'),
        crv: Type.Literal('P-256'),
        x: Type.String({ description: 'In base64url, as `y` (RFC 7518).' }),
        y: Type.String(),
        kid: Type.String({ description: 'The thumbprint of the key (RFC 7638).' }),
        use: Type.Literal(USE.use),
        alg: Type.Literal(USE.alg),
      }),
      { description: 'One, and while the operator replaces the master key two.' },
    ),
  },
  {
    examples: [
      {
        keys: [
          {
            kty: 'EC',
            crv: 'P-256',
            x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
            y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
            kid: 'oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U',
            ...USE,
          },
        ],
      },
    ],
  },
)

export function assertionKeyRoutes(deps: Pick<Deps, 'sealer' | 'clock'>): Routes {
  const published = new PublishedAssertionKeys(deps)
  return (app) => {
    app.route({
      method: 'GET',
      url: '/.well-known/clients/:clientId/jwks.json',
      ...forAnyone({
        operationId: 'listAssertionKeys',
        tags: ['Webhook endpoints'],
        summary: 'Public keys of the assertions for one client (RFC 7517)',
        description:
          'For authorisation servers that trust `oauth2.privateKeyJwt` of this client’s endpoints: the `jwks_uri` to register there. No other client has these keys. When an assertion names a `kid` that you do not have, ask again.',
        params: Type.Object({ clientId: Type.String({ description: 'uuid' }) }),
        answers: { 200: answer('The public keys, as a JSON Web Key Set.', AssertionKeySet) },
        problems: ['too-many-requests'],
      }),
      handler: async ({ params: { clientId }, ip }, reply) => {
        if (!isUuid(clientId)) throw notFound()
        const keys = published.of(clientId, ip)
        reply.header('cache-control', 'public, max-age=3600')
        return { keys: keys.map((key) => ({ ...key, ...USE })) }
      },
    })
  }
}
