// /operator/v1/endpoints: those of all clients, with their health; the operator may pause and resume them, and
// change their settings.

import { toPageRequest } from '../../../core/asking/numbered-pages.ts'
import { DEFAULT_SETTINGS } from '../../../core/delivery/endpoint-settings.ts'
import {
  AllEndpoints,
  changeAnyEndpoint,
  type EndpointWithHealth,
  type OwnedEndpoint,
  viewAnyEndpoint,
} from '../../../operations/endpoints/view-all-endpoints.ts'
import { viewAnySeries } from '../../../operations/endpoints/view-endpoint-series.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { auditOf } from '../../answers/audit.ts'
import { Instant, InstantOrNull, TextOrNull, Uuid, UuidOrNull } from '../../basics/scalars.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { ABOUT_CLIENT, answer, forOperators } from '../../schemas/calls.ts'
import {
  aboutPausing,
  EndpointChangeBody,
  readEndpointChange,
} from '../../schemas/endpoint-change.ts'
import {
  EndpointFilterFields,
  KindSchema,
  readEndpointFilter,
} from '../../schemas/endpoint-list-schema.ts'
import { PageQuery, pagesOf, toPageBody } from '../../schemas/page.ts'
import {
  EndpointItem,
  HealthSchema,
  IdParams,
  readId,
  toEndpointItem,
  toHealth,
} from '../../schemas/schemas.ts'
import { SERIES, toSeriesBody } from '../../schemas/series-schema.ts'

export const Item = Type.Object({
  ...EndpointItem.properties,
  kind: KindSchema,
  clientId: Uuid,
  clientName: Type.String(),
  accountId: UuidOrNull(),
  accountName: TextOrNull('Null for a subscription, which has all accounts.'),
  createdAt: Instant,
  deletedAt: InstantOrNull(),
})
export const Hour = Type.Object({
  at: Type.String({ format: 'date-time', description: 'The hour begins.' }),
  attempts: Type.Integer(),
  delivered: Type.Integer({ description: 'Of those, answered with 200.' }),
})
export const ItemWithHealth = Type.Object({
  ...Item.properties,
  health: HealthSchema,
  hours: Type.Array(Hour, {
    description: 'The last 24 hours, oldest first; those without an attempt are left out.',
  }),
})

export const EndpointListQuery = Type.Object({
  ...PageQuery.properties,
  clientId: Type.Optional(Uuid),
  accountId: Type.Optional(Uuid),
  kind: Type.Optional(KindSchema),
  ...EndpointFilterFields,
})

const ACTIONS = {
  PAUSED: 'endpoint.pause',
  ACTIVE: 'endpoint.resume',
  settings: 'endpoint.change',
} as const

export function operatorEndpointRoutes(deps: Deps): Routes {
  const all = new AllEndpoints(deps)
  return (app) => {
    app.route({
      method: 'GET',
      url: '/endpoints',
      ...forOperators('viewer', {
        operationId: 'listEndpoints',
        summary: 'List endpoints with their health',
        description:
          'The oldest first, unless `sort` says otherwise. `health.pending` counts up to 10,000 here, and exactly on a single endpoint. `totalElements` above 100,000 may be 30 seconds old.',
        ...pagesOf(ItemWithHealth),
        querystring: EndpointListQuery,
        problems: ABOUT_CLIENT,
      }),
      handler: async (request) => {
        const { clientId, accountId, kind } = request.query
        const filter = {
          ...readEndpointFilter(request.query),
          clientKey: null,
          clientId: clientId ?? null,
          accountId: accountId ?? null,
          kind: kind ?? null,
        }
        return toPageBody(await all.view(filter, toPageRequest(request.query)), toItemWithHealth)
      },
    })

    app.route({
      method: 'GET',
      url: '/endpoints/:id',
      ...forOperators('viewer', {
        operationId: 'getEndpoint',
        summary: 'See one endpoint and its health, also when it was deleted',
        description: 'Of any client. `health.pending` is exact here.',
        params: IdParams,
        answers: { 200: answer('The endpoint, its health and its last 24 hours.', ItemWithHealth) },
      }),
      handler: async (request) =>
        toItemWithHealth(await viewAnyEndpoint(deps, readId(request.params.id))),
    })

    app.route({
      method: 'GET',
      url: '/endpoints/:id/series',
      ...forOperators('viewer', {
        operationId: 'getEndpointSeries',
        summary: 'See how an endpoint fared, hour by hour',
        ...SERIES,
      }),
      handler: async (request) => {
        const period = request.query.window ?? 'day'
        return toSeriesBody(await viewAnySeries(deps, readId(request.params.id), period))
      },
    })

    app.route({
      method: 'PATCH',
      url: '/endpoints/:id',
      ...forOperators('admin', {
        operationId: 'changeEndpoint',
        summary: 'Pause or resume an endpoint, or change its settings',
        description: aboutPausing('endpoint'),
        params: IdParams,
        body: EndpointChangeBody,
        answers: { 200: answer('The endpoint as it is now.', Item) },
        problems: ABOUT_CLIENT,
      }),
      handler: async (request) => {
        const change = readEndpointChange(request.body)
        const audit = auditOf(deps, request, ACTIONS[change.status ?? 'settings'])
        return toItem(await changeAnyEndpoint(deps, readId(request.params.id), change, audit))
      },
    })
  }
}

/** Its settings are always shown. */
function toItem(endpoint: OwnedEndpoint) {
  const { kind, clientId, clientName, accountId, accountName } = endpoint
  return {
    ...toEndpointItem({ ...endpoint, settings: endpoint.settings ?? DEFAULT_SETTINGS }),
    kind,
    clientId,
    clientName,
    accountId,
    accountName,
    createdAt: endpoint.createdAt.toISOString(),
    deletedAt: endpoint.deletedAt?.toISOString() ?? null,
  }
}

function toItemWithHealth({ endpoint, health, hours }: EndpointWithHealth) {
  return {
    ...toItem(endpoint),
    health: toHealth(health),
    hours: hours.map((hour) => ({ ...hour, at: hour.at.toISOString() })),
  }
}
