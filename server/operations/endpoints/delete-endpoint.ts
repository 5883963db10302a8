// Deletes an endpoint. Nothing more is sent to it, and what it is owed is cancelled: all of it in the same transaction,
// unless it is more than a statement can do in its time. Its row and its history stay readable to the operator.

import { setTimeout as delay } from 'node:timers/promises'
import { inTransaction } from '../../store/connection/db.ts'
import { type EndpointScope, lockEndpoint, markDeleted } from '../../store/endpoints/endpoints.ts'
import {
  cancelOwedAfter,
  FIRST_OWED,
  type OwedPosition,
} from '../../store/removal/deleted-endpoints.ts'
import { cancelOwed } from '../deliveries/cancel-owed.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound } from '../shared/service-errors.ts'

/** The answer waits for the rest so long at most. */
const ANSWER_AFTER_MS = 5_000
/** What is left then is found by upkeep. */
const REST_MS_MAX = 600_000

export async function deleteEndpoint(
  deps: Deps,
  scope: EndpointScope,
  endpointId: string,
): Promise<void> {
  // In the client's line, because what waits for the row in the database holds a connection.
  const deleted = await deps.endpointChanges.run(scope.clientKey, () =>
    deleteInTransaction(deps, scope, endpointId),
  )
  deps.engine.endpointChanged(scope.clientKey, deleted.id, deleted.shard)
  if (deleted.next === null) return
  const rest = cancelRest(deps, scope.clientKey, deleted.id, deleted.next)
  await Promise.race([rest, delay(ANSWER_AFTER_MS, undefined, { ref: false })])
}

interface Deleted {
  id: string
  shard: number
  /** Where the rest begins; null where everything is cancelled. */
  next: OwedPosition | null
}

function deleteInTransaction(
  deps: Deps,
  scope: EndpointScope,
  endpointId: string,
): Promise<Deleted> {
  const { clientKey } = scope
  const now = new Date(deps.clock.nowMs())
  return inTransaction(deps.pool, async (db) => {
    const locked = await lockEndpoint(db, scope, endpointId)
    if (locked === null) throw notFound()
    const { shard } = locked
    const { id } = locked.endpoint
    await markDeleted(db, clientKey, id, now)
    const key = { clientKey, endpointId: id }
    const next = await cancelOwedAfter(db, key, FIRST_OWED, now, { isWaiting: true })
    return { id, shard, next }
  })
}

/** Never rejects: the endpoint is deleted, and upkeep finds what is left. */
async function cancelRest(
  deps: Deps,
  clientKey: number,
  endpointId: string,
  from: OwedPosition,
): Promise<void> {
  const endsAtMs = deps.clock.monotonicMs() + REST_MS_MAX
  await cancelOwed(deps, { clientKey, endpointId }, from, endsAtMs).catch(() => {})
}
