// /operator/v1/deliveries and the bytes of events: what was owed to whom, what was sent, what came back.

import { parseDeliveryFilter } from '../../../core/asking/delivery-filter.ts'
import { viewSentBody } from '../../../operations/deliveries/sent-body.ts'
import { viewDeliveries, viewDelivery } from '../../../operations/deliveries/view-deliveries.ts'
import { viewAnyEventBody } from '../../../operations/deliveries/view-event-body.ts'
import { viewSentRequest } from '../../../operations/deliveries/view-sent-request.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { cursorText, toCursorRequest } from '../../basics/cursor.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { ABOUT_CLIENT, answer, forOperators } from '../../schemas/calls.ts'
import {
  CursorPageOf,
  deliveryText,
  OperatorDeliveryDetailSchema,
  OperatorDeliveryListQuery,
  OperatorDeliverySchema,
  toExcerpt,
  toExplanation,
  toOperatorAttempt,
  toOperatorDelivery,
  toSentRequest,
} from '../../schemas/delivery-schema.ts'
import { IdParams, readId } from '../../schemas/schemas.ts'

const JSON_TYPE = 'application/json; charset=utf-8'
const ANY_CLIENT = { clientKey: null, accountId: null }

export function operatorDeliveryRoutes(deps: Deps): Routes {
  return (app) => {
    app.route({
      method: 'GET',
      url: '/deliveries',
      ...forOperators('viewer', {
        operationId: 'listAllDeliveries',
        summary: 'List deliveries, newest first',
        description:
          'Pending and ended ones. A rare match among very many may come as a short page with a cursor: read on until `next` is null.',
        querystring: OperatorDeliveryListQuery,
        answers: { 200: CursorPageOf(OperatorDeliverySchema) },
        problems: ABOUT_CLIENT,
      }),
      handler: async (request, reply) => {
        const filter = parseDeliveryFilter(request.query)
        const asked = toCursorRequest(request.query)
        const page = await viewDeliveries(deps, { kind: 'operator' }, filter, asked)
        const text = cursorText(page, (item) => deliveryText(toOperatorDelivery(item), item))
        return reply.type(JSON_TYPE).send(text as never)
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
        const id = readId(request.params.id)
        const { delivery, attempts, explanation } = await viewDelivery(
          deps,
          { kind: 'operator' },
          id,
        )
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
        return reply.type(JSON_TYPE).send(deliveryText(body, delivery) as never)
      },
    })

    app.route({
      method: 'GET',
      url: '/deliveries/:id/body',
      ...forOperators('viewer', {
        operationId: 'getAnyDeliveryBody',
        summary: 'Get the exact bytes that the callbacks of a delivery carry',
        description:
          'Byte for byte what its signatures are made over: with the file of a document, a link in its place, or neither, as its endpoint gets documents.',
        params: IdParams,
        answers: {
          200: answer(
            'The body, byte for byte.',
            Type.Unsafe<unknown>({ type: 'object', description: 'The payment.' }),
          ),
        },
        problems: ['payload-expired'],
      }),
      handler: async (request, reply) => {
        const body = await viewSentBody(deps, ANY_CLIENT, readId(request.params.id))
        // As bytes, because the framework would add a charset to text.
        return reply
          .headers({ 'content-type': 'application/json' })
          .send(Buffer.concat(body) as never)
      },
    })

    app.route({
      method: 'GET',
      url: '/events/:id/body',
      ...forOperators('viewer', {
        operationId: 'getEventBody',
        summary: 'Get the exact bytes of an event’s callback body',
        description:
          'Byte for byte what callbacks carry, the file of a document included. An endpoint that gets a link in its place, or neither, has other bytes: `/deliveries/{id}/body`.',
        params: IdParams,
        answers: {
          200: answer(
            'The body, byte for byte.',
            Type.Unsafe<unknown>({ type: 'object', description: 'The payment.' }),
          ),
        },
        problems: ['payload-expired'],
      }),
      handler: async (request, reply) => {
        const body = await viewAnyEventBody(deps, readId(request.params.id))
        // As bytes, because the framework would add a charset to text.
        return reply
          .headers({ 'content-type': 'application/json' })
          .send(Buffer.concat(body) as never)
      },
    })
  }
}
