// /operator/v1/signing-keys and /webhook-keys: the keys that the service signs with. They are made and replaced by
// themselves; what an operator has to do, after a leak, is to end one.

import type { Access } from '../../../operations/access/access.ts'
import { TOKEN_KEYS } from '../../../operations/access/key-purposes.ts'
import { revokeSigningKey } from '../../../operations/access/keyring.ts'
import { WEBHOOK_KEYS, type WebhookKeys } from '../../../operations/access/webhook-keys.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { auditOf } from '../../answers/audit.ts'
import { Uuid, UuidOrNull } from '../../basics/scalars.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { answer, forOperators } from '../../schemas/calls.ts'
import { readId } from '../../schemas/schemas.ts'

export const RevokedKey = Type.Object({
  kid: Uuid,
  newKid: UuidOrNull('The key that signs instead, if the revoked one did; null otherwise.'),
})

const KeyParams = Type.Object({ kid: Type.String({ description: 'Its id in the published set.' }) })

interface KeyRoutesDeps extends Deps {
  access: Pick<Access, 'keyring'>
  webhookKeys: WebhookKeys
}

export function operatorSigningKeyRoutes(deps: KeyRoutesDeps): Routes {
  const kinds = [
    {
      path: 'signing-keys',
      purpose: TOKEN_KEYS,
      keys: deps.access.keyring,
      operationId: 'revokeSigningKey',
      summary: 'Revoke a key that signs access tokens',
      description:
        'Within 5 seconds no process accepts a token under it, and `/.well-known/jwks.json` does not show it: clients get a 401 and log in again. If it is the key that signs, a new one takes its place. Cells that share their keys each have their own copy.',
    },
    {
      path: 'webhook-keys',
      purpose: WEBHOOK_KEYS,
      keys: deps.webhookKeys,
      operationId: 'revokeWebhookKey',
      summary: 'Revoke a key that signs callbacks and statements',
      description:
        'Within 5 seconds no process signs or verifies with it, and `/.well-known/webhook-keys.json` has its id under `revoked` alone. Receipts and statements that it signed can no longer be verified; segments of the audit are proven by the next one that another key has signed. If it is the key that signs, a new one takes its place.',
    },
  ]
  return (app) => {
    for (const { path, purpose, keys, ...texts } of kinds) {
      app.route({
        method: 'POST',
        url: `/${path}/:kid/revoke`,
        ...forOperators('admin', {
          ...texts,
          params: KeyParams,
          answers: { 200: answer('Revoked.', RevokedKey) },
        }),
        handler: async (request) => {
          const kid = readId(request.params.kid)
          const audit = auditOf(deps, request, `${purpose.object}.revoke`)
          const newKid = await revokeSigningKey(deps, purpose, kid, audit)
          await keys.reload()
          return { kid, newKid }
        },
      })
    }
  }
}
