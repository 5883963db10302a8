// Cancels one pending delivery: no attempt of it starts any more. One that is under way at this moment
// ends by itself, and what comes of it changes nothing.

import { ServiceError } from '../core/errors.ts'
import { type Cancelled, cancelDeliveries, findPending } from '../store/cancellations.ts'
import { type Db, inTransaction } from '../store/db.ts'
import type { DeliveryOwner } from '../store/delivery-query.ts'
import { findFinal } from '../store/replays.ts'
import type { Audit } from './parts/audit.ts'
import type { Deps } from './parts/deps.ts'
import { notFound } from './parts/failures.ts'
import type { ChangedDelivery } from './replay-delivery.ts'

/** It may move between two looks at it: then it is looked for again. */
const LOOKS_MAX = 3

export async function cancelDelivery(
  deps: Deps,
  owner: DeliveryOwner,
  deliveryId: string,
  audit: Audit,
): Promise<ChangedDelivery> {
  const cancelled = await inTransaction(deps.pool, async (db) => {
    const ended = await cancel(deps, db, owner, deliveryId)
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
): Promise<Cancelled> {
  for (let looks = 0; looks < LOOKS_MAX; looks++) {
    const found = await findPending(db, owner, deliveryId)
    if (found === null) {
      if (await findFinal(db, owner, deliveryId)) throw isFinal()
      continue
    }
    const now = new Date(deps.clock.nowMs())
    const [cancelled] = await cancelDeliveries(db, [found], now, { isWaiting: true })
    // None: it has ended by itself meanwhile, and the next look tells.
    if (cancelled !== undefined) return cancelled
  }
  throw notFound()
}

function isFinal(): ServiceError {
  return new ServiceError('delivery-final', 'This delivery has ended: nothing is left to cancel.')
}
