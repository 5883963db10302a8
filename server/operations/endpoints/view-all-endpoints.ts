// The endpoints of all clients as the operator sees them, with their health; and the operator's own pause.

import type { Page, PageRequest } from '../../core/asking/numbered-pages.ts'
import type { EndpointHealth } from '../../core/delivery/health.ts'
import { readHealth } from '../../store/endpoints/endpoint-health.ts'
import { type EndpointHour, readEndpointHours } from '../../store/endpoints/endpoint-hours.ts'
import {
  findAnyEndpoint,
  type OwnedEndpoint,
  readHealthOf,
} from '../../store/endpoints/endpoint-lists.ts'
import type { EndpointFilter } from '../../store/endpoints/endpoint-pages.ts'
import type { Audit } from '../shared/audit-trail.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound } from '../shared/service-errors.ts'
import { changeEndpoint, type EndpointChange } from './change-endpoint.ts'
import { ListedEndpoints, type ListLimits } from './listed-endpoints.ts'

export type { OwnedEndpoint }

export interface EndpointWithHealth {
  endpoint: OwnedEndpoint
  health: EndpointHealth
  hours: readonly EndpointHour[]
}

/** With their health, and the attempts of the last day hour by hour. */
export class AllEndpoints {
  readonly #deps: Deps
  readonly #listed: ListedEndpoints

  constructor(deps: Deps, ...limits: ListLimits) {
    this.#deps = deps
    this.#listed = new ListedEndpoints(deps, ...limits)
  }

  async view(filter: EndpointFilter, request: PageRequest): Promise<Page<EndpointWithHealth>> {
    const { pool, clock } = this.#deps
    const page = await this.#listed.view(filter, request)
    const now = new Date(clock.nowMs())
    const [health, hours] = await Promise.all([
      readHealthOf(pool, page.items, now),
      readEndpointHours(pool, page.items, now),
    ])
    const items = page.items.map((endpoint) => ({
      endpoint,
      health: health.get(endpoint.id) as EndpointHealth,
      hours: hours.get(endpoint.id) ?? [],
    }))
    return { ...page, items }
  }
}

/** Finds a deleted endpoint too, because its history still names it. */
export async function viewAnyEndpoint(deps: Deps, endpointId: string): Promise<EndpointWithHealth> {
  const endpoint = await findAnyEndpoint(deps.pool, endpointId)
  if (endpoint === null) throw notFound()
  const now = new Date(deps.clock.nowMs())
  const health = await readHealth(deps.pool, endpoint.clientKey, endpoint.id, now)
  const hours = await readEndpointHours(deps.pool, [endpoint], now)
  return { endpoint, health, hours: hours.get(endpoint.id) ?? [] }
}

export async function changeAnyEndpoint(
  deps: Deps,
  endpointId: string,
  change: EndpointChange,
  audit: Audit,
): Promise<OwnedEndpoint> {
  const found = await findAnyEndpoint(deps.pool, endpointId)
  if (found === null) throw notFound()
  const { clientKey, kind } = found
  const changed = await changeEndpoint(
    deps,
    { clientKey, kind, accountId: null },
    found.id,
    change,
    audit,
  )
  return { ...found, ...changed }
}
