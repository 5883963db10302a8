// /operator/v1/clients/{id}/keys: the public keys with which a client proves who it is, instead of a secret.

import { toPageRequest } from '../../../core/asking/numbered-pages.ts'
import { ASSERTION_ALGORITHMS, KID_PATTERN } from '../../../core/proofs/client-jwk.ts'
import {
  addClientKey,
  type ClientKey,
  removeClientKey,
  viewClientKeys,
} from '../../../operations/clients/manage-client-keys.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { auditOf } from '../../answers/audit.ts'
import { Instant } from '../../basics/scalars.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { ABOUT_CLIENT, answer, forOperators } from '../../schemas/calls.ts'
import { pagesOf, toPageBody } from '../../schemas/page.ts'
import { EMPTY_BODY, IdParams, readId } from '../../schemas/schemas.ts'

const Member = Type.Optional(Type.String())

const Jwk = Type.Object(
  {
    kty: Type.Enum(['OKP', 'EC', 'RSA']),
    crv: Member,
    x: Member,
    y: Member,
    n: Member,
    e: Member,
    alg: Member,
    use: Member,
    kid: Member,
  },
  {
    additionalProperties: true,
    description:
      'A public JWK (RFC 7517): Ed25519, P-256, or RSA of 2048 to 8192 bits. Without `kid` it is named by its thumbprint (RFC 7638).',
  },
)

const EXAMPLE = {
  kty: 'OKP',
  crv: 'Ed25519',
  x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
  kid: 'payments-2026',
}

const KeyRequest = Type.Object({ jwk: Jwk }, { examples: [{ jwk: EXAMPLE }] })

export const ClientKeyItem = Type.Object({
  kid: Type.String({ pattern: KID_PATTERN }),
  alg: Type.Enum([...ASSERTION_ALGORITHMS], { description: 'What assertions are signed with.' }),
  jwk: Jwk,
  createdAt: Instant,
})

const KeyParams = Type.Object({ id: Type.String(), kid: Type.String() })

export function operatorClientKeyRoutes(deps: Deps): Routes {
  return (app) => {
    app.route({
      method: 'POST',
      url: '/clients/:id/keys',
      ...forOperators('admin', {
        operationId: 'createClientKey',
        summary: 'Add a public key of a client',
        description:
          'With it the client gets tokens by `private_key_jwt`: an assertion that it signs with the private part, which no one else has. At most 5.',
        params: IdParams,
        body: KeyRequest,
        answers: { 201: answer('The key.', ClientKeyItem) },
        problems: [...ABOUT_CLIENT, 'too-many-client-keys', 'client-key-taken'],
      }),
      handler: async (request, reply) => {
        const id = readId(request.params.id)
        const audit = auditOf(deps, request, 'client-key.create')
        const key = await addClientKey(deps, id, request.body.jwk as Record<string, unknown>, audit)
        reply.code(201).header('location', `/operator/v1/clients/${id}/keys/${key.kid}`)
        return toItem(key)
      },
    })

    app.route({
      method: 'GET',
      url: '/clients/:id/keys',
      ...forOperators('viewer', {
        operationId: 'listClientKeys',
        summary: 'List the public keys of a client',
        description: 'Oldest first.',
        params: IdParams,
        ...pagesOf(ClientKeyItem),
        problems: ABOUT_CLIENT,
      }),
      handler: async (request) => {
        const page = toPageRequest(request.query)
        const keys = await viewClientKeys(deps, readId(request.params.id))
        const from = page.number * page.size
        const items = keys.slice(from, from + page.size)
        return toPageBody({ ...page, items, total: keys.length }, toItem)
      },
    })

    app.route({
      method: 'DELETE',
      url: '/clients/:id/keys/:kid',
      ...forOperators('admin', {
        operationId: 'deleteClientKey',
        summary: 'Delete a public key of a client',
        description:
          'It gets no token any more. Tokens that it got before stay good until they expire.',
        params: KeyParams,
        answers: { 204: answer('Deleted.', EMPTY_BODY) },
        problems: ABOUT_CLIENT,
      }),
      handler: async (request, reply) => {
        const { id, kid } = request.params
        const audit = auditOf(deps, request, 'client-key.delete')
        await removeClientKey(deps, readId(id), kid, audit)
        return reply.code(204).send(undefined)
      },
    })
  }
}

function toItem({ kid, jwk, createdAt }: ClientKey) {
  const alg = jwk.alg as (typeof ASSERTION_ALGORITHMS)[number]
  return { kid, alg, jwk: { ...jwk, kid }, createdAt: createdAt.toISOString() }
}
