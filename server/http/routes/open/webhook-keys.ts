// GET /.well-known/webhook-keys.json: the service's own public keys, for `v1a` signatures and statements.

import type { PublishedKey, WebhookKeys } from '../../../operations/access/webhook-keys.ts'
import { Instant } from '../../basics/scalars.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { answer, forAnyone } from '../../schemas/calls.ts'

const KEY_MEMBERS = {
  kty: Type.Literal('OKP'),
  crv: Type.Literal('Ed25519'),
  x: Type.String({ description: 'The 32 bytes of the key, in base64url (RFC 8037).' }),
  kid: Type.String({ description: 'The id that `X-Paybell-Key-Id` and the header of a JWS name.' }),
  use: Type.Literal('sig'),
  alg: Type.Literal('EdDSA'),
  whpk: Type.String({ description: 'The same key in the form of Standard Webhooks.' }),
}

const KEY = {
  kty: 'OKP',
  crv: 'Ed25519',
  x: '6jAKYcYhAFRd3nElAJxgEL7eP8eDWnZs8hvHO-0v6bM',
  kid: '019a8f6e-1c2d-7a3b-8c4d-5e6f70819204',
  use: 'sig',
  alg: 'EdDSA',
  whpk: 'whpk_6jAKYcYhAFRd3nElAJxgEL7eP8eDWnZs8hvHO+0v6bM=',
} as const

const WebhookKeySet = Type.Object(
  {
    keys: Type.Array(Type.Object(KEY_MEMBERS), {
      description:
        'Those that sign: the newest first, and for 7 days after a rotation the one before.',
    }),
    retired: Type.Array(Type.Object({ ...KEY_MEMBERS, retiredAt: Instant }), {
      description:
        'Those that sign no more, for statements and receipts of their time. Accept no callback under them.',
    }),
    revoked: Type.Array(Type.Object({ kid: KEY_MEMBERS.kid, revokedAt: Instant }), {
      description:
        'Those that were revoked, because they may have leaked: nothing that they signed can be verified any more.',
    }),
  },
  { examples: [{ keys: [KEY], retired: [], revoked: [] }] },
)

export function webhookKeyRoutes(keys: Pick<WebhookKeys, 'published'>): Routes {
  return (app) => {
    app.route({
      method: 'GET',
      url: '/.well-known/webhook-keys.json',
      ...forAnyone({
        operationId: 'listWebhookKeys',
        tags: ['Webhook endpoints'],
        summary: 'Public keys of callbacks and statements (RFC 7517)',
        description:
          'For receivers that verify `v1a` signatures, and for readers of statements and receipts. The keys are Paybell’s own and replaced by themselves, with 7 days of overlap: when `X-Paybell-Key-Id` names a key that you do not have, ask again.',
        answers: {
          200: answer(
            'The public keys, as a JSON Web Key Set, those that sign no more, and the ids of those that were revoked.',
            WebhookKeySet,
          ),
        },
      }),
      handler: async (_request, reply) => {
        const { keys: signing, retired, revoked } = await keys.published()
        // Short compared with 7 days of overlap; a receiver that meets an unknown kid asks again anyway.
        reply.header('cache-control', 'public, max-age=300')
        return {
          keys: signing.map(toWire),
          retired: retired.map((key) => ({
            ...toWire(key),
            retiredAt: key.retiredAt.toISOString(),
          })),
          revoked: revoked.map(({ kid, revokedAt }) => ({
            kid,
            revokedAt: revokedAt.toISOString(),
          })),
        }
      },
    })
  }
}

/** All our keys are of one kind; only what tells them apart is stored. */
function toWire({ x, kid, whpk }: PublishedKey) {
  const { kty, crv, use, alg } = KEY
  return { kty, crv, x: x as string, kid, use, alg, whpk }
}
