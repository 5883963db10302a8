// The endpoints of a client as it lists them itself, of each kind, by the filters and in the orders of the operator's list.

import type { Page, PageRequest } from '../../core/asking/numbered-pages.ts'
import type { Endpoint } from '../../core/delivery/endpoint.ts'
import type { EndpointHealth } from '../../core/delivery/health.ts'
import { GatheredReads } from '../../store/connection/gathered-reads.ts'
import { readHealthOf } from '../../store/endpoints/endpoint-lists.ts'
import type { Deps } from '../shared/deps.ts'
import { OF_REQUESTS } from '../shared/gather-requests.ts'
import { type EndpointFilter, ListedEndpoints } from './listed-endpoints.ts'
import { EndpointLists } from './view-endpoints.ts'

export interface Owner {
  clientKey: number
  /** Narrows to what gets this account's payments. */
  accountId: string | null
}

export type OwnEndpointFilter = Omit<EndpointFilter, 'clientKey' | 'clientId' | 'accountId'>

export interface OwnEndpoint {
  endpoint: Endpoint
  /** Null where it was not asked for. */
  health: EndpointHealth | null
}

interface HealthQuestion {
  clientKey: number
  ids: readonly string[]
}

/** What is pending for each of a hundred endpoints is counted: few pages in a statement, and one statement at a time. */
const PAGES_PER_READ_MAX = 4

export class OwnEndpoints {
  readonly #unfiltered: EndpointLists
  readonly #listed: ListedEndpoints
  readonly #health: GatheredReads<HealthQuestion, ReadonlyMap<string, EndpointHealth>>

  constructor(deps: Deps) {
    const { pool, clock } = deps
    this.#unfiltered = new EndpointLists(deps)
    this.#listed = new ListedEndpoints(deps)
    this.#health = new GatheredReads({
      ...OF_REQUESTS,
      perReadMax: PAGES_PER_READ_MAX,
      async read(questions) {
        const endpoints = questions.flatMap(({ clientKey, ids }) =>
          ids.map((id) => ({ clientKey, id })),
        )
        const health = await readHealthOf(pool, endpoints, new Date(clock.nowMs()))
        return questions.map(() => health)
      },
      keyOf: ({ clientKey, ids }) => `${clientKey} ${ids.join(' ')}`,
    })
  }

  async view(
    owner: Owner,
    filter: OwnEndpointFilter,
    request: PageRequest,
    { hasHealth }: { hasHealth: boolean },
  ): Promise<Page<OwnEndpoint>> {
    const page = await this.#page(owner, filter, request)
    if (!hasHealth || page.items.length === 0) {
      return { ...page, items: page.items.map((endpoint) => ({ endpoint, health: null })) }
    }
    const ids = page.items.map(({ id }) => id)
    const health = await this.#health.ask({ clientKey: owner.clientKey, ids })
    const items = page.items.map((endpoint) => ({
      endpoint,
      health: health.get(endpoint.id) as EndpointHealth,
    }))
    return { ...page, items }
  }

  /** Lists of one kind without a filter are by far the most requested, and read together. */
  #page(owner: Owner, filter: OwnEndpointFilter, request: PageRequest): Promise<Page<Endpoint>> {
    const { kind, order, ...conditions } = filter
    const isFiltered = Object.values(conditions).some((value) => value !== null)
    if (kind !== null && order === 'createdAt' && !isFiltered) {
      return this.#unfiltered.view({ ...owner, kind }, request)
    }
    return this.#listed.view({ ...filter, ...owner, clientId: null }, request)
  }
}
