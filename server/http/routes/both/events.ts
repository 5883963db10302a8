// /v1/events: the events of callbacks, to be pulled, for reconciliation and for clients that cannot be called; and the
// bytes of one event, for the operator too.

import { viewAnyEventBody } from '../../../operations/deliveries/view-event-body.ts'
import { viewEventBody, viewEvents } from '../../../operations/deliveries/view-events.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { EventItem, eventText } from '../../answers/event-text.ts'
import { sendExactBytes, sendJsonText } from '../../answers/stored-json.ts'
import { CursorQuery, cursorText, toCursorRequest } from '../../basics/cursor.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { callerOf, ownerOf } from '../../requests/authenticate.ts'
import { answer, forClients, forOperators } from '../../schemas/calls.ts'
import { CallbackSchema } from '../../schemas/payment-schema.ts'
import { IdParams, readId } from '../../schemas/schemas.ts'

export const FeedPage = Type.Object({
  items: Type.Array(EventItem),
  next: Type.String({ description: 'Where to go on; also at the end, to come back with.' }),
})

const tags = ['Events']

export function eventRoutes(deps: Deps): Routes {
  return (app) => {
    app.route({
      method: 'GET',
      url: '/v1/events',
      ...forClients({
        operationId: 'listEvents',
        tags,
        summary: 'Read the events of your payments, oldest first',
        description:
          'One order for every reader, each event exactly once, while new ones are being written. Documents come without their file. An empty page is the end for now: come back with `next`.',
        querystring: Type.Object(CursorQuery),
        answers: {
          200: answer('Events, and a cursor to come back with; it is never null.', FeedPage),
        },
        problems: ['cursor-expired'],
      }),
      handler: async (request, reply) => {
        const cursor = toCursorRequest(request.query)
        const page = await viewEvents(deps, callerOf(request), request.accountId, cursor)
        return sendJsonText(reply, cursorText(page, eventText))
      },
    })

    app.route({
      method: 'GET',
      url: '/v1/events/:id',
      ...forClients({
        operationId: 'getEvent',
        tags,
        summary: 'Get the exact bytes of an event’s callback body',
        description:
          'Byte for byte what callbacks carry, the file of a document included: what a signature is made over. An endpoint that gets a link in its place, or neither, has other bytes: `/v1/deliveries/{id}/body`.',
        params: IdParams,
        answers: { 200: answer('The body, byte for byte.', CallbackSchema) },
        problems: ['payload-expired'],
      }),
      handler: async (request, reply) => {
        const id = readId(request.params.id)
        const { kind, sequence, body } = await viewEventBody(deps, ownerOf(request), id)
        return sendExactBytes(reply, body, {
          'x-paybell-event': kind,
          'x-paybell-sequence': String(sequence),
        })
      },
    })
  }
}

export function operatorEventRoutes(deps: Deps): Routes {
  return (app) => {
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
      handler: async (request, reply) =>
        sendExactBytes(reply, await viewAnyEventBody(deps, readId(request.params.id))),
    })
  }
}
