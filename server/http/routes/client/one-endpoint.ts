// What can be done to one endpoint, whichever door made it: see it with its health, pause and resume it, change its
// settings, delete it. Webhooks, subscriptions and listeners differ in their paths and in what they show.

import type { FastifyRequest } from 'fastify'
import type { TObject } from 'typebox'
import type { Endpoint } from '../../../core/delivery/endpoint.ts'
import { changeEndpoint } from '../../../operations/endpoints/change-endpoint.ts'
import { deleteEndpoint } from '../../../operations/endpoints/delete-endpoint.ts'
import { viewSeries } from '../../../operations/endpoints/view-endpoint-series.ts'
import { type EndpointScope, viewEndpoint } from '../../../operations/endpoints/view-endpoints.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { Type } from '../../basics/type.ts'
import type { App } from '../../basics/typed.ts'
import {
  EndpointChangeBody,
  readEndpointChange,
  StatusChange,
} from '../../schemas/endpoint-change.ts'
import {
  BODY_PROBLEMS,
  CLIENT_PROBLEMS,
  EMPTY_BODY,
  HealthSchema,
  IdParams,
  OptionalAccountHeader,
  problemResponses,
  readId,
  toClientHealth,
} from '../../schemas/schemas.ts'
import { SeriesQuery, SeriesSchema, toSeriesBody } from '../../schemas/series-schema.ts'

export interface EndpointDoor {
  /** The path of the list; one endpoint has its id after a slash. */
  path: string
  /** As in "getWebhook". */
  name: string
  tags: string[]
  item: TObject
  toItem(endpoint: Endpoint): Record<string, unknown>
  scopeOf(request: FastifyRequest): EndpointScope
  /** Whether its owner can choose what is sent, and how; otherwise it can be paused and resumed only. */
  hasSettings: boolean
  pausing?: string
  deleting?: string
}

export function withHealth(item: TObject): TObject {
  return Type.Object({ ...item.properties, health: HealthSchema })
}

export function addOneEndpointRoutes(app: App, deps: Deps, door: EndpointDoor): void {
  const { tags, toItem, scopeOf } = door
  const url = `${door.path}/:id`
  const noun = door.name.toLowerCase()
  const shared = { headers: OptionalAccountHeader, params: IdParams, tags }

  app.route({
    method: 'GET',
    url,
    config: { account: 'optional' },
    schema: {
      operationId: `get${door.name}`,
      summary: `See one ${noun} and its health`,
      ...shared,
      response: {
        200: withHealth(door.item),
        ...problemResponses(...CLIENT_PROBLEMS, 'invalid-account', 'not-found'),
      },
    },
    handler: async (request) => {
      const found = await viewEndpoint(deps, scopeOf(request), readId(request.params.id))
      return { ...toItem(found.endpoint), health: toClientHealth(found.health) }
    },
  })

  app.route({
    method: 'GET',
    url: `${url}/series`,
    config: { account: 'optional' },
    schema: {
      operationId: `get${door.name}Series`,
      summary: `See how a ${noun} fared, hour by hour`,
      description:
        'Attempts, how many of them were answered with 200, and about how long they took (within 41 %). Empty hours are there too.',
      ...shared,
      querystring: SeriesQuery,
      response: {
        200: SeriesSchema,
        ...problemResponses(...CLIENT_PROBLEMS, 'invalid-account', 'invalid-query', 'not-found'),
      },
    },
    handler: async (request) => {
      const period = request.query.window ?? 'day'
      const id = readId(request.params.id)
      return toSeriesBody(await viewSeries(deps, scopeOf(request), id, period))
    },
  })

  app.route({
    method: 'PATCH',
    url,
    config: { account: 'optional' },
    schema: {
      operationId: `change${door.name}`,
      summary: door.hasSettings
        ? `Pause or resume a ${noun}, or change its settings`
        : `Pause or resume a ${noun}`,
      description:
        door.pausing ??
        `A paused ${noun} loses nothing: what it is owed goes out when it is resumed. Settings hold for what happens from now on.`,
      ...shared,
      body: door.hasSettings ? EndpointChangeBody : StatusChange,
      response: {
        200: door.item,
        ...problemResponses(
          ...CLIENT_PROBLEMS,
          ...BODY_PROBLEMS,
          'invalid-account',
          'not-found',
          'overloaded',
        ),
      },
    },
    handler: async (request) => {
      const id = readId(request.params.id)
      const change = readEndpointChange(request.body)
      return toItem(await changeEndpoint(deps, scopeOf(request), id, change))
    },
  })

  app.route({
    method: 'DELETE',
    url,
    config: { account: 'optional' },
    schema: {
      operationId: `delete${door.name}`,
      summary: `Delete a ${noun}`,
      description: door.deleting ?? 'Its pending deliveries are cancelled at once.',
      ...shared,
      response: {
        204: EMPTY_BODY,
        ...problemResponses(...CLIENT_PROBLEMS, 'invalid-account', 'not-found', 'overloaded'),
      },
    },
    handler: async (request, reply) => {
      await deleteEndpoint(deps, scopeOf(request), readId(request.params.id))
      return reply.code(204).send(undefined)
    },
  })
}
