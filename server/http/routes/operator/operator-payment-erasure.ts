// POST /operator/v1/payments/{id}/erase: removes a payment's personal data for good.

import { erasePayment } from '../../../operations/payments/erase-payment.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { auditOf } from '../../answers/audit.ts'
import { Instant, Uuid } from '../../basics/scalars.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { ABOUT_CLIENT, answer, forOperators } from '../../schemas/calls.ts'
import { IdParams, readId } from '../../schemas/schemas.ts'

export const ErasedSchema = Type.Object(
  {
    id: Uuid,
    erasedAt: Instant,
    events: Type.Integer({ description: 'Its events that are kept: without their payment now.' }),
    documents: Type.Integer({ description: 'Files that nothing else named, and are deleted.' }),
    cancelled: Type.Integer({ description: 'Deliveries that were pending, and are cancelled.' }),
  },
  {
    examples: [
      {
        id: '7c0d0a5e-54c8-4b56-9f0e-2a4f5d1c9b11',
        erasedAt: '2026-11-17T09:30:00.000Z',
        events: 3,
        documents: 1,
        cancelled: 0,
      },
    ],
  },
)

export function operatorPaymentErasureRoutes(deps: Deps): Routes {
  return (app) => {
    app.route({
      method: 'POST',
      url: '/payments/:id/erase',
      ...forOperators('admin', {
        operationId: 'erasePayment',
        tags: ['Payments in'],
        summary: 'Erase what a payment tells of people',
        description:
          'From the payment, its events, its files and what receivers answered. Pending deliveries of it are cancelled. Ids, states and times stay, and a later write goes on with the next sequence. May be repeated.',
        params: IdParams,
        answers: { 200: answer('What was erased.', ErasedSchema) },
        problems: ABOUT_CLIENT,
      }),
      handler: async (request) => {
        const audit = auditOf(deps, request, 'payment.erase')
        const erased = await erasePayment(deps, readId(request.params.id), audit)
        return { ...erased, erasedAt: erased.erasedAt.toISOString() }
      },
    })
  }
}
