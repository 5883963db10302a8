// /v1/payments as a list: a client's payments by the names that it gave them, and how their deliveries stand.

import { DELIVERY_STATES, type DeliveryState } from '../../../core/delivery/delivery.ts'
import { WHY_OWED_CODES } from '../../../core/delivery/why-owed.ts'
import { PAYMENT_STATES, TEXT_CHARACTERS_MAX } from '../../../core/payments/payment.ts'
import { moneyText } from '../../../core/payments/payment-summary.ts'
import {
  type OwnPayment,
  viewOwnPayments,
  worstOf,
} from '../../../operations/payments/view-own-payments.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { CursorQuery, cursorText, toCursorRequest } from '../../basics/cursor.ts'
import { readPeriod } from '../../basics/period.ts'
import { Instant, Uuid } from '../../basics/scalars.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { callerOf } from '../../requests/authenticate.ts'
import { forClients } from '../../schemas/calls.ts'
import { CursorPageOf } from '../../schemas/delivery-schema.ts'
import { PaymentSchema } from '../../schemas/payment-schema.ts'

const { externalId, amount, status, complete, createdAt } = PaymentSchema.properties

export const PaymentDeliveries = Type.Object(
  {
    pending: Type.Integer(),
    delivered: Type.Integer(),
    exhausted: Type.Integer(),
    superseded: Type.Integer(),
    cancelled: Type.Integer(),
  },
  { description: 'How many of its deliveries are in which state, over its newest 100 events.' },
)

export const OwnPaymentSchema = Type.Object({
  id: Uuid,
  accountId: Uuid,
  externalId,
  amount,
  status,
  complete,
  createdAt,
  changedAt: Instant,
  sequence: Type.Integer({ description: 'How many events it has had.' }),
  deliveries: PaymentDeliveries,
  deliveryState: Type.Unsafe<DeliveryState | null>({
    type: ['string', 'null'],
    enum: [...DELIVERY_STATES, null],
    description:
      'The worst of them: EXHAUSTED before PENDING, CANCELLED, DELIVERED and SUPERSEDED. Null when the payment has no deliveries.',
  }),
})

export const EndpointOfPaymentSchema = Type.Object({
  endpointId: Uuid,
  endpointUrl: Type.String(),
  deliveryId: Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'uuid' }),
  state: Type.Unsafe<DeliveryState | null>({
    type: ['string', 'null'],
    enum: [...DELIVERY_STATES, null],
    description: 'Of the delivery of the newest update. Null when there is none.',
  }),
  code: Type.Enum([...WHY_OWED_CODES]),
  explanation: Type.String({ description: 'Why it gets the update, or why not: one sentence.' }),
})

export const OwnPaymentDetail = Type.Object({
  ...PaymentSchema.properties,
  endpoints: Type.Array(EndpointOfPaymentSchema, {
    description: 'Each endpoint of its account, and whether it gets the newest update.',
  }),
})

export function ownPaymentRoutes(deps: Deps): Routes {
  return (app) => {
    app.route({
      method: 'GET',
      url: '/v1/payments',
      ...forClients({
        operationId: 'listOwnPayments',
        tags: ['Payments'],
        summary: 'List your payments, newest first, and how their deliveries stand',
        description:
          'By their first write, without documents. A rare match among very many may come as a short page with a cursor: read on until `next` is null.',
        querystring: Type.Object({
          ...CursorQuery,
          externalId: Type.Optional(
            Type.String({
              format: 'text',
              maxLength: TEXT_CHARACTERS_MAX,
              description: 'Exactly this one.',
            }),
          ),
          state: Type.Optional(Type.Enum([...PAYMENT_STATES])),
          from: Type.Optional(
            Type.String({ format: 'date-time', description: 'First written then or later.' }),
          ),
          to: Type.Optional(
            Type.String({ format: 'date-time', description: 'First written before then.' }),
          ),
        }),
        answers: { 200: CursorPageOf(OwnPaymentSchema) },
      }),
      handler: async (request, reply) => {
        const { query } = request
        const filter = {
          accountId: request.accountId,
          state: query.state ?? null,
          externalId: query.externalId ?? null,
          ...readPeriod(query),
        }
        const page = await viewOwnPayments(deps, callerOf(request), filter, toCursorRequest(query))
        return reply
          .type('application/json; charset=utf-8')
          .send(cursorText(page, ownPaymentText) as never)
      },
    })
  }
}

/** Written by hand for the amount, whose digits stay as they were written. */
function ownPaymentText({ payment, summary, deliveries }: OwnPayment): string {
  const head = { id: payment.id, accountId: payment.accountId, externalId: summary.externalId }
  const rest = {
    status: summary.status,
    complete: summary.complete,
    createdAt: summary.createdAt,
    changedAt: payment.changedAt.toISOString(),
    sequence: payment.sequence,
    deliveries: {
      pending: deliveries.PENDING ?? 0,
      delivered: deliveries.DELIVERED ?? 0,
      exhausted: deliveries.EXHAUSTED ?? 0,
      superseded: deliveries.SUPERSEDED ?? 0,
      cancelled: deliveries.CANCELLED ?? 0,
    },
    deliveryState: worstOf(deliveries),
  }
  const amount = moneyText(summary.amount)
  return `${JSON.stringify(head).slice(0, -1)},"amount":${amount},${JSON.stringify(rest).slice(1)}`
}
