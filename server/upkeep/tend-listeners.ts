// Listeners without requests: after half a minute they are paused, so that their deliveries wait and no
// attempt is wasted; after a week they are deleted.

import { LISTENER_FORGOTTEN_MS, LISTENER_IDLE_MS } from '../core/delivery/listener.ts'
import { ServiceError } from '../core/plain/errors.ts'
import { deleteEndpoint } from '../operations/endpoints/delete-endpoint.ts'
import type { Deps } from '../operations/shared/deps.ts'
import { inTransaction } from '../store/connection/db.ts'
import { lockEndpoint, saveStatus } from '../store/endpoints/endpoints.ts'
import { deleteOldOffers } from '../store/endpoints/listener-offers.ts'
import {
  dropDeletedListeners,
  type ListenerKey,
  markSilent,
  readForgottenListeners,
  readSilentListeners,
} from '../store/endpoints/listeners.ts'
import { eachAlone, type Failed } from './each-alone.ts'

/** The rest waits for the next round. */
const PER_ROUND_MAX = 200
const MINUTE_MS = 60_000

/** Returns how many were paused. */
export async function pauseSilentListeners(deps: Deps): Promise<number> {
  const since = new Date(deps.clock.nowMs() - LISTENER_IDLE_MS)
  let paused = 0
  for (const key of await readSilentListeners(deps.pool, since, PER_ROUND_MAX)) {
    if (await pauseIfSilent(deps, key, since)) paused++
  }
  return paused
}

async function pauseIfSilent(
  deps: Deps,
  { clientKey, listenerId }: ListenerKey,
  since: Date,
): Promise<boolean> {
  const now = new Date(deps.clock.nowMs())
  const shard = await inTransaction(deps.pool, async (db) => {
    const scope = { clientKey, kind: 'listener', accountId: null } as const
    const locked = await lockEndpoint(db, scope, listenerId)
    // A request that comes now waits for this row, and then finds the listener paused.
    const isSilent = await markSilent(db, { clientKey, listenerId }, since)
    if (!isSilent || locked === null || locked.endpoint.status !== 'ACTIVE') return null
    await saveStatus(db, clientKey, listenerId, { status: 'PAUSED', inactiveSince: now }, now)
    return locked.shard
  })
  if (shard === null) return false
  deps.engine.endpointChanged(clientKey, listenerId, shard)
  return true
}

/** Says how many were deleted, and which could not be. */
export async function deleteForgottenListeners(
  deps: Deps,
): Promise<{ deleted: number; failed: readonly Failed[] }> {
  const nowMs = deps.clock.nowMs()
  const since = new Date(nowMs - LISTENER_FORGOTTEN_MS)
  const forgotten = (await readForgottenListeners(deps.pool, since, PER_ROUND_MAX)).map(
    ({ clientKey, listenerId }) => ({ clientKey, endpointId: listenerId }),
  )
  const failed = await eachAlone(forgotten, ({ clientKey, endpointId }) =>
    deleteEndpoint(deps, { clientKey, kind: 'listener', accountId: null }, endpointId).catch(
      passOverGone,
    ),
  )
  await dropDeletedListeners(deps.pool)
  await deleteOldOffers(deps.pool, new Date(nowMs - MINUTE_MS))
  return { deleted: forgotten.length - failed.length, failed }
}

/** Another process has deleted it. */
function passOverGone(error: unknown): void {
  if (!(error instanceof ServiceError && error.code === 'not-found')) throw error
}
