// /v1/deliveries and /v1/payments: a client's callbacks, and its payments as they are now. AccountId narrows;
// what belongs to another client is a 404, as if it did not exist.

import type { FastifyRequest } from 'fastify'
import { parseDeliveryFilter } from '../../core/delivery-filter.ts'
import type { Deps } from '../../operations/parts/deps.ts'
import {
  type DeliveryReader,
  viewDeliveries,
  viewDelivery,
} from '../../operations/view-deliveries.ts'
import { viewOwnPayment } from '../../operations/view-payments.ts'
import { callerOf } from '../authenticate.ts'
import { toCursorRequest } from '../cursor.ts'
import {
  CursorPageOf,
  DeliveryDetailSchema,
  DeliveryListQuery,
  DeliverySchema,
  toAttempt,
  toDelivery,
  toExplanation,
} from '../delivery-schema.ts'
import { PaymentSchema } from '../payment-schema.ts'
import {
  CLIENT_PROBLEMS,
  IdParams,
  OptionalAccountHeader,
  problemResponses,
  readId,
} from '../schemas.ts'
import type { Routes } from '../typed.ts'

const tags = ['Deliveries']

export function deliveryRoutes(deps: Deps): Routes {
  return (app) => {
    app.route({
      method: 'GET',
      url: '/v1/deliveries',
      config: { account: 'optional' },
      schema: {
        operationId: 'listDeliveries',
        tags,
        summary: 'List your deliveries, newest first',
        description:
          'Pending and ended ones. A rare match among very many may come as a short page with a cursor: read on until `next` is null.',
        headers: OptionalAccountHeader,
        querystring: DeliveryListQuery,
        response: {
          200: CursorPageOf(DeliverySchema),
          ...problemResponses(...CLIENT_PROBLEMS, 'invalid-account', 'invalid-query'),
        },
      },
      handler: async (request) => {
        // Filters that only the operator has are ignored.
        const { state, endpointId, paymentId, from, to } = request.query
        const filter = parseDeliveryFilter({ state, endpointId, paymentId, from, to })
        const asked = toCursorRequest(request.query)
        const page = await viewDeliveries(deps, readerOf(request), filter, asked)
        return { items: page.items.map(toDelivery), next: page.next }
      },
    })

    app.route({
      method: 'GET',
      url: '/v1/deliveries/:id',
      config: { account: 'optional' },
      schema: {
        operationId: 'getDelivery',
        tags,
        summary: 'See one delivery, its attempts and its status in words',
        headers: OptionalAccountHeader,
        params: IdParams,
        response: {
          200: DeliveryDetailSchema,
          ...problemResponses(...CLIENT_PROBLEMS, 'invalid-account', 'not-found'),
        },
      },
      handler: async (request) => {
        const found = await viewDelivery(deps, readerOf(request), readId(request.params.id))
        return {
          ...toDelivery(found.delivery),
          attemptLog: found.attempts.map(toAttempt),
          ...toExplanation(found.explanation),
        }
      },
    })

    app.route({
      method: 'GET',
      url: '/v1/payments/:id',
      config: { account: 'optional' },
      schema: {
        operationId: 'getOwnPayment',
        tags: ['Payments'],
        summary: 'See one of your payments as it is now',
        description:
          'A document comes without its file: callbacks carry it, and `/v1/events/{id}`.',
        headers: OptionalAccountHeader,
        params: IdParams,
        response: {
          200: PaymentSchema,
          ...problemResponses(
            ...CLIENT_PROBLEMS,
            'invalid-account',
            'not-found',
            'payload-expired',
          ),
        },
      },
      handler: async (request, reply) => {
        const { clientKey } = callerOf(request)
        const of = { clientKey, accountId: request.accountId }
        const payment = await viewOwnPayment(deps, of, readId(request.params.id))
        // The stored text, unparsed: parsing would lose the digits of the amount.
        return reply.type('application/json; charset=utf-8').send(payment.text as never)
      },
    })
  }
}

function readerOf(request: FastifyRequest): DeliveryReader {
  const { clientKey } = callerOf(request)
  return { kind: 'client', clientKey, accountId: request.accountId }
}
