// What can be done to one endpoint, whichever door made it: see it with its health, pause and resume it, change its
// settings, delete it. Webhooks, subscriptions and listeners differ in their paths and in what they show.

import type { TObject } from 'typebox'
import type { Endpoint } from '../../../core/delivery/endpoint.ts'
import { changeEndpoint } from '../../../operations/endpoints/change-endpoint.ts'
import { deleteEndpoint } from '../../../operations/endpoints/delete-endpoint.ts'
import { viewSeries } from '../../../operations/endpoints/view-endpoint-series.ts'
import { viewEndpoint } from '../../../operations/endpoints/view-endpoints.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { Type } from '../../basics/type.ts'
import type { App } from '../../basics/typed.ts'
import { scopeOf } from '../../requests/authenticate.ts'
import { answer, forClients } from '../../schemas/calls.ts'
import {
  aboutPausing,
  EndpointChangeBody,
  readEndpointChange,
  StatusChange,
} from '../../schemas/endpoint-change.ts'
import type { EndpointDoor } from '../../schemas/endpoint-doors.ts'
import {
  EMPTY_BODY,
  HealthSchema,
  IdParams,
  readId,
  toClientHealth,
} from '../../schemas/schemas.ts'
import { SERIES, toSeriesBody } from '../../schemas/series-schema.ts'

/** In what the endpoints of a door differ from a webhook, in shape and in words. */
export interface EndpointView {
  item: TObject
  toItem(endpoint: Endpoint): Record<string, unknown>
  /** Its owner cannot choose what is sent, and how: it can be paused and resumed only. */
  hasNoSettings?: true
  seeing?: string
  pausing?: string
  deleting?: string
}

export function withHealth(item: TObject): TObject {
  return Type.Object({ ...item.properties, health: HealthSchema })
}

export function addOneEndpointRoutes(
  app: App,
  deps: Deps,
  door: EndpointDoor,
  { item, toItem, ...view }: EndpointView,
): void {
  const { kind, name, tags } = door
  const url = `${door.path}/:id`
  const shared = { tags, params: IdParams }

  app.route({
    method: 'GET',
    url,
    ...forClients({
      operationId: `get${name}`,
      summary: `See one ${kind} and its health`,
      description:
        view.seeing ??
        '`health` says whether it works: since when it fails, its last error, how much is pending.',
      ...shared,
      answers: { 200: answer(`The ${kind} and its health.`, withHealth(item)) },
    }),
    handler: async (request) => {
      const found = await viewEndpoint(deps, scopeOf(request, door), readId(request.params.id))
      return { ...toItem(found.endpoint), health: toClientHealth(found.health) }
    },
  })

  app.route({
    method: 'GET',
    url: `${url}/series`,
    ...forClients({
      operationId: `get${name}Series`,
      summary: `See how a ${kind} fared, hour by hour`,
      ...shared,
      ...SERIES,
    }),
    handler: async (request) => {
      const period = request.query.window ?? 'day'
      const id = readId(request.params.id)
      return toSeriesBody(await viewSeries(deps, scopeOf(request, door), id, period))
    },
  })

  app.route({
    method: 'PATCH',
    url,
    ...forClients({
      operationId: `change${name}`,
      summary: `Pause or resume a ${kind}${view.hasNoSettings ? '' : ', or change its settings'}`,
      description: view.pausing ?? aboutPausing(kind),
      ...shared,
      body: view.hasNoSettings ? StatusChange : EndpointChangeBody,
      answers: { 200: answer(`The ${kind} as it is now.`, item) },
      problems: ['overloaded'],
    }),
    handler: async (request) => {
      const id = readId(request.params.id)
      const change = readEndpointChange(request.body)
      return toItem(await changeEndpoint(deps, scopeOf(request, door), id, change))
    },
  })

  app.route({
    method: 'DELETE',
    url,
    ...forClients({
      operationId: `delete${name}`,
      summary: `Delete a ${kind}`,
      description: view.deleting ?? 'Its pending deliveries are cancelled at once.',
      ...shared,
      answers: { 204: answer('Deleted.', EMPTY_BODY) },
      problems: ['overloaded'],
    }),
    handler: async (request, reply) => {
      await deleteEndpoint(deps, scopeOf(request, door), readId(request.params.id))
      return reply.code(204).send(undefined)
    },
  })
}
