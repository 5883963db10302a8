// /operator/v1/payments as they are read: lists by cursor, one as it is now, and what became of each of
// its events. Writing them is operator-payments.ts.

import { SEARCH_CHARACTERS_MAX } from '../../../core/asking/delivery-filter.ts'
import { DELIVERY_STATES } from '../../../core/delivery/delivery.ts'
import { PAYMENT_STATES, TEXT_CHARACTERS_MAX } from '../../../core/payments/payment.ts'
import {
  type EventWithDeliveries,
  type NamedPayment,
  viewPayment,
  viewPaymentEvents,
  viewPayments,
} from '../../../operations/payments/view-payments.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { EventItem, eventText } from '../../answers/event-text.ts'
import { sendJsonText } from '../../answers/stored-json.ts'
import { CursorQuery, cursorText, toCursorRequest } from '../../basics/cursor.ts'
import { readPeriod } from '../../basics/period.ts'
import { IntegerOrNull, TextOrNull, Uuid } from '../../basics/scalars.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { ABOUT_CLIENT, answer, forOperators } from '../../schemas/calls.ts'
import { CursorPageOf } from '../../schemas/delivery-schema.ts'
import { PaymentSchema } from '../../schemas/payment-schema.ts'
import { IdParams, readId } from '../../schemas/schemas.ts'

const tags = ['Payments in']

export const ListQuery = Type.Object({
  ...CursorQuery,
  clientId: Type.Optional(Uuid),
  accountId: Type.Optional(Uuid),
  state: Type.Optional(Type.Enum([...PAYMENT_STATES])),
  from: Type.Optional(
    Type.String({ format: 'date-time', description: 'First written at this instant or later.' }),
  ),
  to: Type.Optional(
    Type.String({ format: 'date-time', description: 'First written before this instant.' }),
  ),
  externalId: Type.Optional(
    Type.String({
      format: 'text',
      maxLength: TEXT_CHARACTERS_MAX,
      description: 'Exactly this one.',
    }),
  ),
  q: Type.Optional(
    Type.String({
      format: 'text',
      maxLength: SEARCH_CHARACTERS_MAX,
      description: 'The id of a payment, or its externalId.',
    }),
  ),
})

/** The payment, and what only the operator sees of it. */
export const OperatorPayment = Type.Object({
  accountId: Uuid,
  accountName: TextOrNull(),
  clientId: Uuid,
  clientName: Type.String(),
  version: IntegerOrNull('The highest number that the source has sent.'),
  sequence: Type.Integer({ description: 'How many events it has had.' }),
  ...PaymentSchema.properties,
})

export const EventWithDeliveriesItem = Type.Object({
  deliveries: Type.Array(
    Type.Object({
      id: Uuid,
      endpointId: Uuid,
      endpointUrl: Type.String(),
      state: Type.Enum([...DELIVERY_STATES]),
    }),
  ),
  ...EventItem.properties,
})

export function operatorPaymentViewRoutes(deps: Deps): Routes {
  return (app) => {
    app.route({
      method: 'GET',
      url: '/payments',
      ...forOperators('viewer', {
        operationId: 'listPayments',
        tags,
        summary: 'List payments, newest first',
        description:
          'By their first write. A rare match among very many may come as a short page with a cursor: read on until `next` is null.',
        querystring: ListQuery,
        answers: { 200: CursorPageOf(OperatorPayment) },
        problems: ABOUT_CLIENT,
      }),
      handler: async (request, reply) => {
        const { query } = request
        const filter = {
          clientId: query.clientId ?? null,
          accountId: query.accountId ?? null,
          state: query.state ?? null,
          ...readPeriod(query),
          externalId: query.externalId ?? null,
          search: query.q ?? null,
        }
        const page = await viewPayments(deps, filter, toCursorRequest(query))
        return sendJsonText(reply, cursorText(page, paymentText))
      },
    })

    app.route({
      method: 'GET',
      url: '/payments/:id',
      ...forOperators('viewer', {
        operationId: 'getPayment',
        tags,
        summary: 'See a payment as it is now',
        description:
          'With its account, its client, its version and the sequence of its last event.',
        params: IdParams,
        answers: { 200: answer('The payment; its document without the file.', OperatorPayment) },
        problems: ['payload-expired'],
      }),
      handler: async (request, reply) => {
        const payment = await viewPayment(deps, readId(request.params.id))
        return sendJsonText(reply, paymentText(payment))
      },
    })

    app.route({
      method: 'GET',
      url: '/payments/:id/events',
      ...forOperators('viewer', {
        operationId: 'listPaymentEvents',
        tags,
        summary: "List a payment's events, newest first, each with its deliveries",
        description:
          'Each event with its deliveries: which endpoint it went to, and how that ended.',
        params: IdParams,
        querystring: Type.Object(CursorQuery),
        answers: { 200: CursorPageOf(EventWithDeliveriesItem) },
      }),
      handler: async (request, reply) => {
        const cursor = toCursorRequest(request.query)
        const page = await viewPaymentEvents(deps, readId(request.params.id), cursor)
        return sendJsonText(reply, cursorText(page, eventWithDeliveriesText))
      },
    })
  }
}

// The texts begin with "{": our members go in front, so that the exact amount stays untouched.
function paymentText(payment: NamedPayment): string {
  const { accountId, accountName, clientId, clientName, version, sequence } = payment
  const names = { accountId, accountName, clientId, clientName }
  const added = JSON.stringify({ ...names, version, sequence })
  return `${added.slice(0, -1)},${payment.text.slice(1)}`
}

function eventWithDeliveriesText(event: EventWithDeliveries): string {
  const deliveries = event.deliveries.map(({ id, endpointId, endpointUrl, state }) => ({
    id,
    endpointId,
    endpointUrl,
    state,
  }))
  return `{"deliveries":${JSON.stringify(deliveries)},${eventText(event).slice(1)}`
}
