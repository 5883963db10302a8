// The endpoints of all clients as the operator sees them, with their health; and the operator's own pause.

import type { Page, PageRequest } from '../../core/asking/numbered-pages.ts'
import type { EndpointHealth } from '../../core/delivery/health.ts'
import { Remembered } from '../../core/plain/remembered.ts'
import { readHealth } from '../../store/endpoints/endpoint-health.ts'
import { type EndpointHour, readEndpointHours } from '../../store/endpoints/endpoint-hours.ts'
import {
  ENDPOINT_ORDERS,
  type EndpointFilter,
  findAnyEndpoint,
  listAllEndpoints,
  type OwnedEndpoint,
  readHealthOf,
} from '../../store/endpoints/endpoint-lists.ts'
import type { Audit } from '../shared/audit-trail.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound } from '../shared/service-errors.ts'
import { changeEndpoint, type EndpointChange } from './change-endpoint.ts'

export type { OwnedEndpoint }
export { ENDPOINT_ORDERS }

export interface EndpointWithHealth {
  endpoint: OwnedEndpoint
  health: EndpointHealth
  hours: readonly EndpointHour[]
}

/** Counting reads something of each: a hundred thousand take ten milliseconds, a million a hundred. */
const COUNTED_EACH_TIME_MAX = 100_000
const TOTAL_KEPT_MS = 30_000
const FILTERS_MAX = 1_000

/** The list of all endpoints. More than a hundred thousand that match are counted twice a minute, not for each page. */
export class AllEndpoints {
  readonly #deps: Deps
  readonly #countedEachTimeMax: number
  readonly #totals: Remembered<string, number>

  constructor(deps: Deps, countedEachTimeMax = COUNTED_EACH_TIME_MAX) {
    this.#deps = deps
    this.#countedEachTimeMax = countedEachTimeMax
    this.#totals = new Remembered({
      keysMax: FILTERS_MAX,
      expiry: { monotonicMs: () => deps.clock.monotonicMs(), ageMsMax: TOTAL_KEPT_MS },
    })
  }

  async view(filter: EndpointFilter, request: PageRequest): Promise<Page<EndpointWithHealth>> {
    const { pool, clock } = this.#deps
    const { order: _, ...matched } = filter
    const key = JSON.stringify(matched)
    const counted = this.#totals.look(key) ?? null
    const page = await listAllEndpoints(pool, filter, request, counted)
    if (counted === null && page.total > this.#countedEachTimeMax) {
      this.#totals.put(key, page.total)
    }
    const now = new Date(clock.nowMs())
    const health = await readHealthOf(pool, page.items, now)
    const hours = await readEndpointHours(pool, page.items, now)
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
