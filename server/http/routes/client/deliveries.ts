// /v1/deliveries and /v1/payments: a client's callbacks, and its payments as they are now. AccountId narrows;
// what belongs to another client is a 404, as if it did not exist.

import type { FastifyRequest } from 'fastify'
import { CLIENTS_QUERY, parseDeliveryFilter } from '../../../core/asking/delivery-filter.ts'
import { viewSentBody } from '../../../operations/deliveries/sent-body.ts'
import {
  type DeliveryReader,
  viewDeliveries,
  viewDelivery,
} from '../../../operations/deliveries/view-deliveries.ts'
import { viewSentRequest } from '../../../operations/deliveries/view-sent-request.ts'
import { viewOwnPayment } from '../../../operations/payments/view-own-payment.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { cursorText, toCursorRequest } from '../../basics/cursor.ts'
import type { Routes } from '../../basics/typed.ts'
import { ownerOf } from '../../requests/authenticate.ts'
import { answer, forClients } from '../../schemas/calls.ts'
import {
  CursorPageOf,
  DeliveryDetailSchema,
  DeliveryListQuery,
  DeliverySchema,
  deliveryText,
  toAttempt,
  toDelivery,
  toExplanation,
  toSentRequest,
} from '../../schemas/delivery-schema.ts'
import { SentBodySchema } from '../../schemas/payment-schema.ts'
import { IdParams, readId } from '../../schemas/schemas.ts'
import { OwnPaymentDetail } from './own-payments.ts'

const tags = ['Deliveries']
const JSON_TYPE = 'application/json; charset=utf-8'

export function deliveryRoutes(deps: Deps): Routes {
  return (app) => {
    app.route({
      method: 'GET',
      url: '/v1/deliveries',
      ...forClients({
        operationId: 'listDeliveries',
        tags,
        summary: 'List your deliveries, newest first',
        description:
          'Pending and ended ones. A rare match among very many may come as a short page with a cursor: read on until `next` is null.',
        querystring: DeliveryListQuery,
        answers: { 200: CursorPageOf(DeliverySchema) },
      }),
      handler: async (request, reply) => {
        // Filters that only the operator has are ignored.
        const { state, endpointId, paymentId, externalId, outcome, from, to } = request.query
        const written = { state, endpointId, paymentId, externalId, outcome, from, to }
        const filter = parseDeliveryFilter(written, CLIENTS_QUERY)
        const asked = toCursorRequest(request.query)
        const page = await viewDeliveries(deps, readerOf(request), filter, asked)
        const text = cursorText(page, (item) => deliveryText(toDelivery(item), item))
        return reply.type(JSON_TYPE).send(text as never)
      },
    })

    app.route({
      method: 'GET',
      url: '/v1/deliveries/:id',
      ...forClients({
        operationId: 'getDelivery',
        tags,
        summary: 'See one delivery, what was sent, what came back, and its status in words',
        description:
          '`attemptLog` holds the beginning of what your receiver answered, `request` the headers of the last attempt with their signatures. With the bytes at `request.bodyUrl` they make the same request again. They are made from what is stored, with the keys that signed at the time; of an attempt before the last two rotations with the oldest key that is kept, so that its signatures are not those that were sent.',
        params: IdParams,
        answers: {
          200: answer('The delivery, its attempts and its explanation.', DeliveryDetailSchema),
        },
      }),
      handler: async (request, reply) => {
        const found = await viewDelivery(deps, readerOf(request), readId(request.params.id))
        const { delivery, attempts, explanation } = found
        const sent = await viewSentRequest(deps, delivery, attempts.at(-1))
        const body = {
          ...toDelivery(delivery),
          attemptLog: attempts.map(toAttempt),
          ...toExplanation(explanation),
          request: toSentRequest(sent.request, delivery, `/v1/deliveries/${delivery.id}/body`),
        }
        return reply.type(JSON_TYPE).send(deliveryText(body, delivery) as never)
      },
    })

    app.route({
      method: 'GET',
      url: '/v1/deliveries/:id/body',
      ...forClients({
        operationId: 'getDeliveryBody',
        tags,
        summary: 'Get the exact bytes that the callbacks of a delivery carry',
        description:
          'Byte for byte what its signatures are made over: with the file of a document, a link in its place, or neither, as its endpoint gets documents.',
        params: IdParams,
        answers: { 200: answer('The body, byte for byte.', SentBodySchema) },
        problems: ['payload-expired'],
      }),
      handler: async (request, reply) => {
        const body = await viewSentBody(deps, ownerOf(request), readId(request.params.id))
        // As bytes, because the framework would add a charset to text.
        return reply
          .headers({ 'content-type': 'application/json' })
          .send(Buffer.concat(body) as never)
      },
    })

    app.route({
      method: 'GET',
      url: '/v1/payments/:id',
      ...forClients({
        operationId: 'getOwnPayment',
        tags: ['Payments'],
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
        // The stored text, unparsed: parsing would lose the digits of the amount.
        const text = `${payment.text.slice(0, -1)},"endpoints":${JSON.stringify(endpoints)}}`
        return reply.type(JSON_TYPE).send(text as never)
      },
    })
  }
}

function readerOf(request: FastifyRequest): DeliveryReader {
  return { kind: 'client', ...ownerOf(request) }
}
