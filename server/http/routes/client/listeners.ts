// /v1/listeners: callbacks of one account that wait to be fetched, so that a receiver behind a firewall, or on
// a developer's own machine, gets them too. The program that asks for the next one forwards it and reports the
// outcome; all else is as for any endpoint.

import type { FastifyReply } from 'fastify'
import { toPageRequest } from '../../../core/asking/numbered-pages.ts'
import { POLL_SECONDS_DEFAULT } from '../../../core/delivery/listener.ts'
import { ServiceError } from '../../../core/plain/errors.ts'
import { isUuid } from '../../../core/plain/uuid.ts'
import {
  answerCallback,
  type ListenerDeps,
  takeNextCallback,
} from '../../../operations/endpoints/next-callback.ts'
import { registerListener } from '../../../operations/endpoints/register-listener.ts'
import { EndpointLists } from '../../../operations/endpoints/view-endpoints.ts'
import type { App, Routes } from '../../basics/typed.ts'
import { callerOf, scopeOf } from '../../requests/authenticate.ts'
import { answer, forClients } from '../../schemas/calls.ts'
import { LISTENERS } from '../../schemas/endpoint-doors.ts'
import {
  ListenerRegistration,
  ListenerSchema,
  OfferSchema,
  OutcomeBody,
  readAnswer,
  toListener,
  toOffer,
  WaitQuery,
} from '../../schemas/listener-schema.ts'
import { pagesOf, toPageBody } from '../../schemas/page.ts'
import { EMPTY_BODY, IdParams, readId } from '../../schemas/schemas.ts'
import { whenClosed } from '../../sockets/when-closed.ts'
import { addOneEndpointRoutes } from './one-endpoint.ts'

const { tags } = LISTENERS

export function listenerRoutes(deps: ListenerDeps): Routes {
  return (app) => {
    addRegistration(app, deps)
    addViews(app, deps)
    addOneEndpointRoutes(app, deps, LISTENERS, {
      item: ListenerSchema,
      toItem: toListener,
      hasNoSettings: true,
      seeing: '`health` says how much is pending for it, and what the last attempts came to.',
      pausing:
        'Pausing says that this listener has stopped, half a minute before it would be noticed. Asking for the next callback resumes it.',
      deleting:
        'Its pending deliveries are cancelled at once. One that was not used for 7 days is deleted automatically.',
    })
    addNext(app, deps)
    addOutcomes(app, deps)
  }
}

function addRegistration(app: App, deps: ListenerDeps): void {
  app.route({
    method: 'POST',
    url: '/v1/listeners',
    ...forClients(
      {
        operationId: 'registerListener',
        tags,
        summary: 'Make a listener, or find the one of this name',
        description:
          'It gets every callback of the account from now on, and is PAUSED until the next one is asked for. The same name again: the same listener, and another key replaces its key as a webhook’s.',
        body: ListenerRegistration,
        answers: {
          200: answer('The listener of this name was there already.', ListenerSchema),
          201: answer('The new listener.', ListenerSchema),
        },
        problems: ['too-many-endpoints', 'overloaded'],
      },
      'required',
    ),
    handler: async (request, reply) => {
      const { name, sharedKey } = request.body
      const { listener, isNew } = await registerListener(deps, callerOf(request), {
        accountId: request.accountId as string,
        name,
        sharedKey,
      })
      reply.code(isNew ? 201 : 200)
      if (isNew) reply.header('location', `/v1/listeners/${listener.id}`)
      return toListener(listener)
    },
  })
}

function addViews(app: App, deps: ListenerDeps): void {
  const lists = new EndpointLists(deps)
  app.route({
    method: 'GET',
    url: '/v1/listeners',
    ...forClients({
      operationId: 'listListeners',
      tags,
      summary: 'List the listeners of one account, or of all your accounts',
      description: 'Without `AccountId` it has the listeners of all your accounts.',
      ...pagesOf(ListenerSchema),
    }),
    handler: async (request) => {
      const page = await lists.view(scopeOf(request, LISTENERS), toPageRequest(request.query))
      return toPageBody(page, toListener)
    },
  })
}

function addNext(app: App, deps: ListenerDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/listeners/:id/next',
    // A HEAD would take a callback and drop it.
    exposeHeadRoute: false,
    ...forClients({
      operationId: 'nextCallback',
      tags,
      summary: 'Take the next callback of a listener',
      description:
        'Waits until there is one. It is an attempt like any other: forward it, then report its result at /outcomes within timeoutMs, or it counts as a timeout and is retried. Ask again at once, also while you forward: callbacks of different payments do not wait for each other. Asking makes the listener ACTIVE; half a minute without it pauses the listener.',
      params: IdParams,
      querystring: WaitQuery,
      answers: { 200: OfferSchema, 204: { ...EMPTY_BODY, description: 'None came. Ask again.' } },
      problems: ['overloaded'],
    }),
    handler: async (request, reply) => {
      const { wait = POLL_SECONDS_DEFAULT } = request.query
      const taken = await takeNextCallback(
        deps,
        scopeOf(request, LISTENERS),
        readId(request.params.id),
        {
          waitMs: wait * 1_000,
          signal: signalOf(reply),
        },
      )
      if (taken === null) return reply.code(204).send(undefined as never)
      reply.header('cache-control', 'no-store')
      return toOffer(taken)
    },
  })
}

function addOutcomes(app: App, deps: ListenerDeps): void {
  app.route({
    method: 'POST',
    url: '/v1/listeners/:id/outcomes',
    ...forClients({
      operationId: 'answerCallback',
      tags,
      summary: 'Report the result of a callback',
      description:
        'Once, and in time. Only the status 200 is success; everything else is retried as for any endpoint.',
      params: IdParams,
      body: OutcomeBody,
      answers: { 204: answer('Recorded as an attempt.', EMPTY_BODY) },
      problems: ['offer-gone'],
    }),
    handler: async (request, reply) => {
      const answer = readAnswer(request.body)
      const id = readId(request.params.id)
      const { offerId } = request.body
      // An id that is no uuid is unknown, too: 404.
      const isTaken =
        isUuid(offerId) &&
        (await answerCallback(deps, scopeOf(request, LISTENERS), id, { offerId, answer }))
      if (!isTaken) {
        throw new ServiceError(
          'offer-gone',
          'This offer is unknown, answered already, or its time is over.',
        )
      }
      return reply.code(204).send(undefined)
    },
  })
}

/** Aborts when the caller hangs up, so that no callback is handed to a closed connection. */
function signalOf(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  whenClosed(reply.raw, () => controller.abort())
  return controller.signal
}
