// /operator/v1/audit: who did what, and when. Read only.

import { type ListedAuditRow, viewAudit } from '../../../operations/proofs/view-audit.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { noteAuditorRead } from '../../answers/audit.ts'
import { CursorQuery, toCursorRequest } from '../../basics/cursor.ts'
import { readPeriod } from '../../basics/period.ts'
import { Instant, TextOrNull, Uuid } from '../../basics/scalars.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { answer, forOperators } from '../../schemas/calls.ts'

export const AuditChangeSchema = Type.Object({
  field: Type.String(),
  before: TextOrNull(),
  after: TextOrNull(),
})

export const AuditItem = Type.Object(
  {
    id: Uuid,
    at: Instant,
    actor: Type.String({ description: 'The name of the key, or `operator` for the first one.' }),
    action: Type.String(),
    object: Type.String(),
    requestId: Type.String({ format: 'uuid', description: '`X-Request-Id` of the call.' }),
    sealed: Type.Boolean({
      description:
        'false: it is in no segment, and nothing proves it. What was audited in the last minute is sealed next; a row that stays so is from before the audit was sealed, or was put there by someone else.',
    }),
    changes: Type.Optional(
      Type.Array(AuditChangeSchema, {
        description:
          'What the call changed, where that is small: a name, a status, a role, how many deliveries.',
      }),
    ),
  },
  {
    examples: [
      {
        id: '01a1dd3c-58b4-7000-83de-2166a587a47e',
        at: '2026-11-15T03:24:42.036Z',
        actor: 'operator',
        action: 'client.create',
        object: 'client:01a1dd3c-57d6-7001-9e6f-60de241483ec',
        requestId: '5b9d1f0a-2f5e-4f6c-9a43-6a0f2c7d8e11',
        sealed: true,
        changes: [{ field: 'name', before: null, after: 'Northwind Traders' }],
      },
    ],
  },
)

const Word = Type.String({ minLength: 1, maxLength: 200, format: 'text' })

export const AuditListQuery = Type.Object({
  ...CursorQuery,
  actor: Type.Optional(Word),
  action: Type.Optional(Word),
  object: Type.Optional(Word),
  from: Type.Optional(Instant),
  to: Type.Optional(Instant),
  paymentWrites: Type.Optional(
    Type.Boolean({
      default: true,
      description: 'false: without `payment.put` and `payment.batch`, which are nearly all rows.',
    }),
  ),
})

export function operatorAuditRoutes(deps: Deps): Routes {
  return (app) => {
    app.route({
      method: 'GET',
      url: '/audit',
      ...forOperators('auditor', {
        operationId: 'listAudit',
        summary: 'See who did what, newest first',
        description:
          'Every call that changed something leaves exactly one row; calls that failed, and dry runs, leave none. Reads with an auditor’s key leave one, too. `from` is included, `to` is not.',
        querystring: AuditListQuery,
        answers: {
          200: answer(
            'Items, and a cursor to read on with; the cursor is null at the end.',
            Type.Object({
              items: Type.Array(AuditItem),
              next: TextOrNull(),
            }),
          ),
        },
      }),
      handler: async (request) => {
        const { actor, action, object, paymentWrites } = request.query
        const { fromMs, toMs } = readPeriod(request.query)
        const period = { from: toInstant(fromMs), to: toInstant(toMs) }
        const filter = { actor, action, object, ...period, hasPaymentWrites: paymentWrites }
        await noteAuditorRead(deps, request, 'audit.list')
        const page = await viewAudit(deps, filter, toCursorRequest(request.query))
        return { items: page.items.map(toAuditItem), next: page.next }
      },
    })
  }
}

function toInstant(ms: number | null): Date | undefined {
  return ms === null ? undefined : new Date(ms)
}

function toAuditItem(row: ListedAuditRow) {
  const { id, at, actor, action, object, requestId, changes, isSealed } = row
  const item = { id, at: at.toISOString(), actor, action, object, requestId, sealed: isSealed }
  return changes === undefined ? item : { ...item, changes: [...changes] }
}
