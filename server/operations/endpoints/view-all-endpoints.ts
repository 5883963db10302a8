// The endpoints of all clients as the operator sees them, with their health; and the operator's own pause.

import { type Page, type PageRequest, pageOffset } from '../../core/asking/numbered-pages.ts'
import type { EndpointHealth } from '../../core/delivery/health.ts'
import { readHealth } from '../../store/endpoints/endpoint-health.ts'
import { type EndpointHour, readEndpointHours } from '../../store/endpoints/endpoint-hours.ts'
import {
  findAnyEndpoint,
  type OwnedEndpoint,
  readHealthOf,
} from '../../store/endpoints/endpoint-lists.ts'
import {
  countAllEndpoints,
  ENDPOINT_ORDERS,
  type EndpointFilter,
  type EndpointMark,
  listAllEndpoints,
  readEndpointMarks,
} from '../../store/endpoints/endpoint-pages.ts'
import type { Audit } from '../shared/audit-trail.ts'
import type { Deps } from '../shared/deps.ts'
import { COUNTED_EACH_TIME_MAX, KeptCounts } from '../shared/kept-counts.ts'
import { notFound } from '../shared/service-errors.ts'
import { changeEndpoint, type EndpointChange } from './change-endpoint.ts'

export type { OwnedEndpoint }
export { ENDPOINT_ORDERS }

export interface EndpointWithHealth {
  endpoint: OwnedEndpoint
  health: EndpointHealth
  hours: readonly EndpointHour[]
}

/** To pass over so many takes a few milliseconds. */
const MARKED_EACH = 20_000

/**
 * The list of all endpoints. More than a hundred thousand that match are counted now and then, not for each page; and a page
 * far behind the first begins at a mark.
 */
export class AllEndpoints {
  readonly #deps: Deps
  readonly #markedEach: number
  readonly #totals: KeptCounts<number>
  readonly #marks: KeptCounts<readonly EndpointMark[]>

  constructor(deps: Deps, countedEachTimeMax = COUNTED_EACH_TIME_MAX, markedEach = MARKED_EACH) {
    this.#deps = deps
    this.#markedEach = markedEach
    this.#totals = new KeptCounts(deps, (total) => total > countedEachTimeMax)
    this.#marks = new KeptCounts(deps)
  }

  async view(filter: EndpointFilter, request: PageRequest): Promise<Page<EndpointWithHealth>> {
    const { pool, clock } = this.#deps
    const { order: _, ...matched } = filter
    const list = JSON.stringify(matched)
    const total = this.#totals.look(list, () => countAllEndpoints(pool, filter))
    const counted = total === null ? null : { total, mark: await this.#markBefore(filter, request) }
    const page = await listAllEndpoints(pool, filter, request, counted)
    if (total === null) this.#totals.put(list, page.total)
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

  /**
   * Only of all endpoints in the order in which they were registered: new ones come behind every mark, so that a reader of
   * page after page misses none. An endpoint that is resumed comes into a filtered list anywhere.
   */
  async #markBefore(
    { order, ...conditions }: EndpointFilter,
    request: PageRequest,
  ): Promise<EndpointMark | null> {
    const offset = pageOffset(request)
    if (order !== 'createdAt' || Object.values(conditions).some((value) => value !== null))
      return null
    if (offset < this.#markedEach) return null
    const marks = await this.#marks.get('all', () =>
      readEndpointMarks(this.#deps.pool, this.#markedEach),
    )
    return marks.findLast(({ rank }) => rank <= offset) ?? null
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
