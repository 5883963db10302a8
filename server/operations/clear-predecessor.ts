// Clears what a dead process has left: its shards, and offers whose attempts no longer wait. Only for a process that
// knows that it is alone on its database: the sandbox, which has just started the server itself.

import { freeAllLeases } from '../store/leases.ts'
import { deleteOldOffers } from '../store/listener-offers.ts'
import type { Deps } from './parts/deps.ts'

const HOUR_MS = 3_600_000

export async function clearPredecessor({ pool, clock }: Pick<Deps, 'pool' | 'clock'>) {
  await freeAllLeases(pool)
  await deleteOldOffers(pool, new Date(clock.nowMs() + HOUR_MS))
}
