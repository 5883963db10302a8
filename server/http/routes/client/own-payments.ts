// /v1/payments: a client's payments as they are now, by the names that it gave them, and how their deliveries stand.

import { DELIVERY_STATES } from '../../../core/delivery/delivery.ts'
import { WHY_OWED_CODES } from '../../../core/delivery/why-owed.ts'
import { PAYMENT_STATES, TEXT_CHARACTERS_MAX } from '../../../core/payments/payment.ts'
import { moneyText } from '../../../core/payments/payment-summary.ts'
import { viewOwnPayment } from '../../../operations/payments/view-own-payment.ts'
import {
  type OwnPayment,
  viewOwnPayments,
  worstOf,
} from '../../../operations/payments/view-own-payments.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { sendJsonText } from '../../answers/stored-json.ts'
import { CursorQuery, cursorText, toCursorRequest } from '../../basics/cursor.ts'
import { readPeriod } from '../../basics/period.ts'
import { Instant, Uuid, UuidOrNull, WordOrNull } from '../../basics/scalars.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { callerOf, ownerOf } from '../../requests/authenticate.ts'
import { answer, forClients } from '../../schemas/calls.ts'
import { CursorPageOf } from '../../schemas/delivery-schema.ts'
import { PaymentSchema } from '../../schemas/payment-schema.ts'
import { IdParams, readId } from '../../schemas/schemas.ts'

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
  deliveryState: WordOrNull(
    DELIVERY_STATES,
    'The worst of them: EXHAUSTED before PENDING, CANCELLED, DELIVERED and SUPERSEDED. Null when the payment has no deliveries.',
  ),
})

export const EndpointOfPaymentSchema = Type.Object({
  endpointId: Uuid,
  endpointUrl: Type.String(),
  deliveryId: UuidOrNull(),
  state: WordOrNull(
    DELIVERY_STATES,
    'Of the delivery of the newest update. Null when there is none.',
  ),
  code: Type.Enum([...WHY_OWED_CODES]),
  explanation: Type.String({ description: 'Why it gets the update, or why not: one sentence.' }),
})

export const OwnPaymentDetail = Type.Object({
  ...PaymentSchema.properties,
  endpoints: Type.Array(EndpointOfPaymentSchema, {
    description: 'Each endpoint of its account, and whether it gets the newest update.',
  }),
})

const tags = ['Payments']

export function ownPaymentRoutes(deps: Deps): Routes {
  return (app) => {
    app.route({
      method: 'GET',
      url: '/v1/payments/:id',
      ...forClients({
        operationId: 'getOwnPayment',
        tags,
        summary: 'See one of your payments as it is now, and which endpoints get it',
        description:
          'A document comes without its file: callbacks carry it, and `/v1/events/{id}`. `endpoints` says for each of your endpoints why it gets the newest update of the payment, or why it does not.',
        params: IdParams,
        answers: { 200: answer('The payment.', OwnPaymentDetail) },
        problems: ['payload-expired'],
      }),
      handler: async (request, reply) => {
        const id = readId(request.params.id)
        const { payment, endpoints } = await viewOwnPayment(deps, ownerOf(request), id)
        const text = `${payment.text.slice(0, -1)},"endpoints":${JSON.stringify(endpoints)}}`
        return sendJsonText(reply, text)
      },
    })

    app.route({
      method: 'GET',
      url: '/v1/payments',
      ...forClients({
        operationId: 'listOwnPayments',
        tags,
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
        return sendJsonText(reply, cursorText(page, ownPaymentText))
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
