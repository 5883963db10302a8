// Deliveries counted by endpoint, with whether each takes anything now: what a person should know before, and
// while, many of them are sent again.

import {
  type CountedEndpoint,
  type EndpointCount,
  nameEndpoints,
} from '../../store/history/job-deliveries.ts'
import type { Deps } from '../shared/deps.ts'

export interface EndpointBreakdown {
  count: number
  /** Those with the most deliveries. */
  endpoints: readonly CountedEndpoint[]
  /** How many endpoints there are besides. */
  moreEndpoints: number
}

const NAMED_MAX = 20

export async function toBreakdown(
  { pool }: Pick<Deps, 'pool'>,
  counts: readonly EndpointCount[],
): Promise<EndpointBreakdown> {
  const most = counts.toSorted(
    (one, other) => other.count - one.count || (one.endpointId < other.endpointId ? -1 : 1),
  )
  const named = most.slice(0, NAMED_MAX)
  return {
    count: counts.reduce((sum, { count }) => sum + count, 0),
    endpoints: named.length === 0 ? [] : await nameEndpoints(pool, named),
    moreEndpoints: most.length - named.length,
  }
}
