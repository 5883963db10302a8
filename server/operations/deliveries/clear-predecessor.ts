// Clears what a dead process has left: its shards, and offers whose attempts no longer wait. Only for a process that
// knows that it is alone on its database: the sandbox, which has just started the server itself.

import { deleteOldOffers } from '../../store/endpoints/listener-offers.ts'
import { freeAllLeases } from '../../store/owed/leases.ts'
import type { Deps } from '../shared/deps.ts'

const HOUR_MS = 3_600_000

export async function clearPredecessor({ pool, clock }: Pick<Deps, 'pool' | 'clock'>) {
  await freeAllLeases(pool)
  await deleteOldOffers(pool, new Date(clock.nowMs() + HOUR_MS))
}
