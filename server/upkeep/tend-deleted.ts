// Deleted endpoints that are still owed something: the process that cancelled it died, or it was too much for one go.
// Also what was accepted at the moment of the deletion and then waited without a due time.

import { cancelOwed } from '../operations/deliveries/cancel-owed.ts'
import type { Deps } from '../operations/shared/deps.ts'
import { FIRST_OWED, readDeletedOwed } from '../store/removal/deleted-endpoints.ts'
import { eachAlone, type Failed } from './each-alone.ts'

/** The rest waits for the next round. */
const PER_ROUND_MAX = 200
const ROUND_MS_MAX = 60_000

export async function tendDeleted(
  deps: Deps,
): Promise<{ endpoints: number; isLeft: boolean; failed: readonly Failed[] }> {
  const endsAtMs = deps.clock.monotonicMs() + ROUND_MS_MAX
  const found = await readDeletedOwed(deps.pool, PER_ROUND_MAX)
  let isLeft = found.length === PER_ROUND_MAX
  const failed = await eachAlone(found, async (endpoint) => {
    const isDone = await cancelOwed(deps, endpoint, FIRST_OWED, endsAtMs)
    isLeft ||= !isDone
  })
  return { endpoints: found.length, isLeft, failed }
}
