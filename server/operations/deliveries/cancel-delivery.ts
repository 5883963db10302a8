// Cancels one pending delivery: no further attempt of it starts. An attempt already under way ends by
// itself, and its outcome changes nothing.

import { ServiceError } from '../../core/plain/errors.ts'
import { type Db, inTransaction } from '../../store/connection/db.ts'
import { type Cancelled, cancelDeliveries } from '../../store/owed/cancellations.ts'
import { findFinal, findPending } from '../../store/owed/one-delivery.ts'
import type { DeliveryOwner } from '../../store/sql/delivery-query.ts'
import type { Audit } from '../shared/audit-trail.ts'
import type { Deps } from '../shared/deps.ts'
import { type ChangedDelivery, lookAgain } from './changed-delivery.ts'

export async function cancelDelivery(
  deps: Deps,
  owner: DeliveryOwner,
  deliveryId: string,
  audit: Audit,
): Promise<ChangedDelivery> {
  const cancelled = await inTransaction(deps.pool, async (db) => {
    const ended = await lookAgain(() => cancel(deps, db, owner, deliveryId))
    await audit(db, `delivery:${deliveryId}`)
    return ended
  })
  deps.engine.endpointChanged(cancelled.clientKey, cancelled.endpointId, cancelled.shard)
  return {
    id: cancelled.id,
    state: 'CANCELLED',
    attempts: cancelled.attempts,
    nextAttemptAt: null,
  }
}

async function cancel(
  deps: Deps,
  db: Db,
  owner: DeliveryOwner,
  deliveryId: string,
): Promise<Cancelled | null> {
  const found = await findPending(db, owner, deliveryId)
  if (found === null) {
    if (await findFinal(db, owner, deliveryId)) throw isFinal()
    return null
  }
  const now = new Date(deps.clock.nowMs())
  const [cancelled] = await cancelDeliveries(db, [found], now, { isWaiting: true })
  // None: it has just ended by itself, and the next look finds it among the final ones.
  return cancelled ?? null
}

function isFinal(): ServiceError {
  return new ServiceError('delivery-final', 'This delivery has ended: nothing is left to cancel.')
}
