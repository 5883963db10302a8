// /operator/v1/keys: who else may act for the operator. A key is shown once, in the answer that makes it.

import { toPageRequest } from '../../../core/asking/numbered-pages.ts'
import { ROLES } from '../../../core/plain/operator.ts'
import { createOperatorKey } from '../../../operations/access/create-operator-key.ts'
import type { OperatorKeys } from '../../../operations/access/live-operator-keys.ts'
import { revokeOperatorKey } from '../../../operations/access/revoke-operator-key.ts'
import {
  type OperatorKey,
  viewOperatorKeys,
} from '../../../operations/access/view-operator-keys.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { auditOf } from '../../answers/audit.ts'
import { Instant, InstantOrNull, Uuid } from '../../basics/scalars.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { answer, forOperators } from '../../schemas/calls.ts'
import { pagesOf, toPageBody } from '../../schemas/page.ts'
import { EMPTY_BODY, IdParams, readId } from '../../schemas/schemas.ts'

export const RoleSchema = Type.Enum([...ROLES], {
  description:
    '`admin` may do everything, `ingest` only write payments, `viewer` only read, and reads everything, `auditor` only read the audit, and its reads are audited.',
})

const KeyRequest = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: 100, format: 'text' }), role: RoleSchema },
  { examples: [{ name: 'payments-core', role: 'ingest' }] },
)

export const NewKey = Type.Object({
  id: Uuid,
  name: Type.String(),
  role: RoleSchema,
  key: Type.String({ description: 'Shown now and never again.' }),
})

export const KeyItem = Type.Object({
  id: Uuid,
  name: Type.String(),
  role: RoleSchema,
  createdAt: Instant,
  revokedAt: InstantOrNull(),
  lastUsedAt: InstantOrNull(),
})

export function operatorKeyRoutes(deps: Deps, keys: OperatorKeys): Routes {
  return (app) => {
    app.route({
      method: 'POST',
      url: '/keys',
      ...forOperators('admin', {
        operationId: 'createOperatorKey',
        summary: 'Make an operator’s key',
        description:
          'The audit names the actor by it; a name belongs to one live key. At most 100 live keys.',
        body: KeyRequest,
        answers: { 201: answer('The key, shown this once.', NewKey) },
        problems: ['key-name-taken', 'too-many-keys'],
      }),
      handler: async (request, reply) => {
        const made = await createOperatorKey(
          deps,
          request.body,
          auditOf(deps, request, 'key.create'),
        )
        keys.forget()
        reply.code(201).header('cache-control', 'no-store')
        return made
      },
    })

    app.route({
      method: 'GET',
      url: '/keys',
      ...forOperators('viewer', {
        operationId: 'listOperatorKeys',
        summary: 'List operator’s keys',
        description:
          'Oldest first, revoked ones too. `lastUsedAt` is exact to about a minute. The key of PAYBELL_OPERATOR_KEY is not among them.',
        ...pagesOf(KeyItem),
      }),
      handler: async (request) =>
        toPageBody(await viewOperatorKeys(deps, toPageRequest(request.query)), toKeyItem),
    })

    app.route({
      method: 'DELETE',
      url: '/keys/:id',
      ...forOperators('admin', {
        operationId: 'revokeOperatorKey',
        summary: 'Revoke an operator’s key',
        description: 'It stops working within 5 seconds in every process, and stays in the list.',
        params: IdParams,
        answers: { 204: answer('Revoked.', EMPTY_BODY) },
      }),
      handler: async (request, reply) => {
        const audit = auditOf(deps, request, 'key.revoke')
        await revokeOperatorKey(deps, readId(request.params.id), audit)
        keys.forget()
        return reply.code(204).send(undefined)
      },
    })
  }
}

function toKeyItem(key: OperatorKey) {
  return {
    ...key,
    createdAt: key.createdAt.toISOString(),
    revokedAt: key.revokedAt?.toISOString() ?? null,
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
  }
}
