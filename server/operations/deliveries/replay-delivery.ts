// Replays one delivery that has ended: the same bytes under the same webhook-id, for a new run of 7
// days. The answer waits for the commit; the engine gets the delivery at once.

import type { HandedOff } from '../../core/delivery/queued-delivery.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import { type Db, inTransaction } from '../../store/connection/db.ts'
import { findFinal, findPending } from '../../store/owed/one-delivery.ts'
import { replayDeliveries } from '../../store/owed/replays.ts'
import type { DeliveryOwner } from '../../store/sql/delivery-query.ts'
import { handOffAfterCommit } from '../accepting/after-commit.ts'
import { type Audit, NO_AUDIT } from '../shared/audit-trail.ts'
import type { Deps } from '../shared/deps.ts'
import { type ChangedDelivery, lookAgain } from './changed-delivery.ts'

export async function replayDelivery(
  deps: Deps,
  owner: DeliveryOwner,
  deliveryId: string,
  audit: Audit = NO_AUDIT,
): Promise<ChangedDelivery> {
  const transact = () =>
    inTransaction(deps.pool, async (db) => {
      const moved = await lookAgain(() => replay(deps, db, owner, deliveryId))
      await audit(db, `delivery:${deliveryId}`)
      return moved
    })
  const delivery = await handOffAfterCommit(deps.engine, transact, (moved) => [moved].filter(isDue))
  return {
    id: delivery.id,
    state: 'PENDING',
    attempts: delivery.attempts,
    nextAttemptAt: isDue(delivery) ? new Date(delivery.nextAttemptAtMs) : null,
  }
}

/** A delivery of an inactive endpoint is parked: the endpoint's lane reads it when it is active again. */
export function isDue(delivery: HandedOff): boolean {
  return delivery.nextAttemptAtMs !== Number.POSITIVE_INFINITY
}

async function replay(
  deps: Deps,
  db: Db,
  owner: DeliveryOwner,
  deliveryId: string,
): Promise<HandedOff | null> {
  const found = await findFinal(db, owner, deliveryId)
  if (found === null) {
    if (await findPending(db, owner, deliveryId)) throw notFinal()
    return null
  }
  if (found.isEndpointDeleted) throw endpointDeleted()
  if (!found.hasPayload) throw payloadExpired()
  const [moved] = await replayDeliveries(db, [found], new Date(deps.clock.nowMs()))
  // None: another caller was faster, and the next look finds it pending.
  return moved ?? null
}

function notFinal(): ServiceError {
  return new ServiceError(
    'delivery-not-final',
    'This delivery is pending. A retry makes its next attempt due now: POST it to …/retry.',
  )
}

function endpointDeleted(): ServiceError {
  return new ServiceError(
    'endpoint-deleted',
    'The endpoint of this delivery was deleted: there is nowhere to send it.',
  )
}

function payloadExpired(): ServiceError {
  return new ServiceError(
    'payload-expired',
    'The bytes of this event are no longer kept, and others are never sent in their place.',
  )
}
