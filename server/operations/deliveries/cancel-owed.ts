// Ends what a deleted endpoint is still owed, however much that is: a portion in each transaction, each in the line of
// its client, so that one client's deletions use one connection and its other changes come in between.

import {
  cancelOwedAfter,
  type EndpointKey,
  type OwedPosition,
} from '../../store/removal/deleted-endpoints.ts'
import type { Deps } from '../shared/deps.ts'

/** Goes on from a position until `endsAtMs` of the monotonic clock. Returns whether it came to the end. */
export async function cancelOwed(
  deps: Pick<Deps, 'pool' | 'clock' | 'endpointChanges'>,
  endpoint: EndpointKey,
  from: OwedPosition,
  endsAtMs: number,
): Promise<boolean> {
  let position: OwedPosition | null = from
  while (position !== null) {
    if (deps.clock.monotonicMs() > endsAtMs) return false
    const after: OwedPosition = position
    position = await deps.endpointChanges.run(endpoint.clientKey, () => {
      const now = new Date(deps.clock.nowMs())
      return cancelOwedAfter(deps.pool, endpoint, after, now, { isWaiting: false })
    })
  }
  return true
}
