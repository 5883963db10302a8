// A client's own endpoints as it sees them, without secrets.

import type { Page, PageRequest } from '../../core/asking/numbered-pages.ts'
import type { Endpoint } from '../../core/delivery/endpoint.ts'
import type { EndpointHealth } from '../../core/delivery/health.ts'
import { GatheredReads } from '../../store/connection/gathered-reads.ts'
import { readHealth } from '../../store/endpoints/endpoint-health.ts'
import {
  type EndpointPageRequest,
  type EndpointScope,
  findEndpoint,
  listEndpoints,
} from '../../store/endpoints/endpoints.ts'
import type { Deps } from '../shared/deps.ts'
import { OF_REQUESTS } from '../shared/gather-requests.ts'
import { notFound } from '../shared/service-errors.ts'

/** The most requested lists: requests that come at the same time are read in one statement. */
export class EndpointLists {
  readonly #reads: GatheredReads<EndpointPageRequest, Page<Endpoint>>

  constructor({ pool }: Pick<Deps, 'pool'>) {
    this.#reads = new GatheredReads({
      ...OF_REQUESTS,
      read: (requests) => listEndpoints(pool, requests),
      keyOf: ({ scope, page }) =>
        `${scope.clientKey} ${scope.kind} ${scope.accountId} ${page.number} ${page.size}`,
    })
  }

  view(scope: EndpointScope, page: PageRequest): Promise<Page<Endpoint>> {
    return this.#reads.ask({ scope, page })
  }
}

export async function viewEndpoint(
  deps: Deps,
  scope: EndpointScope,
  endpointId: string,
): Promise<{ endpoint: Endpoint; health: EndpointHealth }> {
  const endpoint = await findEndpoint(deps.pool, scope, endpointId)
  if (endpoint === null) throw notFound()
  const now = new Date(deps.clock.nowMs())
  return { endpoint, health: await readHealth(deps.pool, scope.clientKey, endpoint.id, now) }
}
