// Several endpoints in one step of upkeep: one that fails, for instance because its client moves to another cell, stops
// no other.

import { isDatabaseAway, isDeadlock, isOverTime } from '../store/connection/db.ts'

export interface Failed {
  endpointId: string
  reason: string
}

/** Returns those that failed. */
export async function eachAlone<E extends { endpointId: string }>(
  endpoints: readonly E[],
  work: (endpoint: E) => Promise<void>,
): Promise<readonly Failed[]> {
  const failed: Failed[] = []
  for (const endpoint of endpoints) {
    try {
      await work(endpoint)
    } catch (error) {
      // Too much, or in the way of another: that is about this one. Anything else would be the same for the others.
      const isItsOwn = isOverTime(error) || isDeadlock(error) || !isDatabaseAway(error)
      if (!isItsOwn) throw error
      failed.push({ endpointId: endpoint.endpointId, reason: String(error) })
    }
  }
  return failed
}
