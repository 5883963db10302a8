// /v1/deliveries and /operator/v1/deliveries: what was owed to whom, what was sent, what came back. For clients AccountId
// narrows; what belongs to another client is a 404, as if it did not exist.

import type { FastifyRequest } from 'fastify'
import { CLIENTS_QUERY, parseDeliveryFilter } from '../../../core/asking/delivery-filter.ts'
import { viewSentBody } from '../../../operations/deliveries/sent-body.ts'
import {
  type DeliveryReader,
  viewDeliveries,
  viewDelivery,
} from '../../../operations/deliveries/view-deliveries.ts'
import { viewSentRequest } from '../../../operations/deliveries/view-sent-request.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { sendExactBytes, sendJsonText } from '../../answers/stored-json.ts'
import { cursorText, toCursorRequest } from '../../basics/cursor.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { ownerOf } from '../../requests/authenticate.ts'
import { ABOUT_CLIENT, answer, forClients, forOperators } from '../../schemas/calls.ts'
import {
  CursorPageOf,
  DeliveryDetailSchema,
  DeliveryListQuery,
  DeliverySchema,
  deliveryText,
  OperatorDeliveryDetailSchema,
  OperatorDeliveryListQuery,
  OperatorDeliverySchema,
  toAttempt,
  toDelivery,
  toExcerpt,
  toExplanation,
  toOperatorAttempt,
  toOperatorDelivery,
  toSentRequest,
} from '../../schemas/delivery-schema.ts'
import { SentBodySchema } from '../../schemas/payment-schema.ts'
import { IdParams, readId } from '../../schemas/schemas.ts'
import { ANY_CLIENT } from './delivery-actions.ts'

const tags = ['Deliveries']

const ABOUT_LIST =
  'Pending and ended ones. A rare match among very many may come as a short page with a cursor: read on until `next` is null.'

const BODY = {
  summary: 'Get the exact bytes that the callbacks of a delivery carry',
  description:
    'Byte for byte what its signatures are made over: with the file of a document, a link in its place, or neither, as its endpoint gets documents.',
  params: IdParams,
  problems: ['payload-expired'],
} as const

export function deliveryRoutes(deps: Deps): Routes {
  return (app) => {
    app.route({
      method: 'GET',
      url: '/v1/deliveries',
      ...forClients({
        operationId: 'listDeliveries',
        tags,
        summary: 'List your deliveries, newest first',
        description: ABOUT_LIST,
        querystring: DeliveryListQuery,
        answers: { 200: CursorPageOf(DeliverySchema) },
      }),
      handler: async (request, reply) => {
        // Filters that only the operator has are ignored.
        const { state, endpointId, paymentId, externalId, outcome, from, to } = request.query
        const written = { state, endpointId, paymentId, externalId, outcome, from, to }
        const filter = parseDeliveryFilter(written, CLIENTS_QUERY)
        const cursor = toCursorRequest(request.query)
        const page = await viewDeliveries(deps, readerOf(request), filter, cursor)
        return sendJsonText(
          reply,
          cursorText(page, (item) => deliveryText(toDelivery(item), item)),
        )
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
        return sendJsonText(reply, deliveryText(body, delivery))
      },
    })

    app.route({
      method: 'GET',
      url: '/v1/deliveries/:id/body',
      ...forClients({
        operationId: 'getDeliveryBody',
        tags,
        ...BODY,
        answers: { 200: answer('The body, byte for byte.', SentBodySchema) },
      }),
      handler: async (request, reply) => {
        const id = readId(request.params.id)
        return sendExactBytes(reply, await viewSentBody(deps, ownerOf(request), id))
      },
    })
  }
}

export function operatorDeliveryRoutes(deps: Deps): Routes {
  const reader = { kind: 'operator' } as const
  return (app) => {
    app.route({
      method: 'GET',
      url: '/deliveries',
      ...forOperators('viewer', {
        operationId: 'listAllDeliveries',
        summary: 'List deliveries, newest first',
        description: ABOUT_LIST,
        querystring: OperatorDeliveryListQuery,
        answers: { 200: CursorPageOf(OperatorDeliverySchema) },
        problems: ABOUT_CLIENT,
      }),
      handler: async (request, reply) => {
        const filter = parseDeliveryFilter(request.query)
        const page = await viewDeliveries(deps, reader, filter, toCursorRequest(request.query))
        return sendJsonText(
          reply,
          cursorText(page, (item) => deliveryText(toOperatorDelivery(item), item)),
        )
      },
    })

    app.route({
      method: 'GET',
      url: '/deliveries/:id',
      ...forOperators('viewer', {
        operationId: 'getAnyDelivery',
        summary: 'See one delivery: request, signatures, answers, and its status in words',
        description:
          'The request is made again from what is stored, with the keys that signed at the time; of an attempt before the last two rotations with the oldest key that is kept, so that its signatures are not those that were sent.',
        params: IdParams,
        answers: {
          200: answer(
            'The delivery, with its request, its signatures and what was answered.',
            OperatorDeliveryDetailSchema,
          ),
        },
      }),
      handler: async (request, reply) => {
        const found = await viewDelivery(deps, reader, readId(request.params.id))
        const { delivery, attempts, explanation } = found
        const last = attempts.at(-1)
        const sent = await viewSentRequest(deps, delivery, last)
        const bodyUrl = `/operator/v1/deliveries/${delivery.id}/body`
        const body = {
          ...toOperatorDelivery(delivery),
          attemptLog: attempts.map(toOperatorAttempt),
          ...toExplanation(explanation),
          request: toSentRequest(sent.request, delivery, bodyUrl),
          signatureInputs: sent.signatureInputs,
          response: last === undefined ? null : { status: last.status, excerpt: toExcerpt(last) },
        }
        return sendJsonText(reply, deliveryText(body, delivery))
      },
    })

    app.route({
      method: 'GET',
      url: '/deliveries/:id/body',
      ...forOperators('viewer', {
        operationId: 'getAnyDeliveryBody',
        ...BODY,
        answers: {
          200: answer(
            'The body, byte for byte.',
            Type.Unsafe<unknown>({ type: 'object', description: 'The payment.' }),
          ),
        },
      }),
      handler: async (request, reply) =>
        sendExactBytes(reply, await viewSentBody(deps, ANY_CLIENT, readId(request.params.id))),
    })
  }
}

function readerOf(request: FastifyRequest): DeliveryReader {
  return { kind: 'client', ...ownerOf(request) }
}
