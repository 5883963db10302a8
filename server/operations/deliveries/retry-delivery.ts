// Makes the next attempt of one pending delivery due now, in the same run: for a receiver that has been mended. The
// order holds: an older update of the payment that is still owed goes first, and is due now too.

import { ServiceError } from '../../core/plain/errors.ts'
import { type Db, inTransaction } from '../../store/connection/db.ts'
import { findFinal, findPending } from '../../store/owed/one-delivery.ts'
import { markRetried, type Retried, retryDeliveries } from '../../store/owed/retries.ts'
import type { DeliveryOwner } from '../../store/sql/delivery-query.ts'
import { type Audit, NO_AUDIT } from '../shared/audit-trail.ts'
import type { Deps } from '../shared/deps.ts'
import { type ChangedDelivery, lookAgain } from './changed-delivery.ts'
import { endpointNotActive, type RetryLimits } from './retry-limits.ts'

export async function retryDelivery(
  deps: Deps,
  owner: DeliveryOwner,
  deliveryId: string,
  { audit = NO_AUDIT, limits }: { audit?: Audit; limits?: RetryLimits } = {},
): Promise<ChangedDelivery> {
  const transact = async () => {
    const retriedAtMs = deps.clock.nowMs()
    const now = new Date(retriedAtMs)
    let isAdmitted = false
    const admit = (endpointId: string) => {
      if (!isAdmitted) limits?.admit(endpointId)
      isAdmitted = true
    }
    const retried = await inTransaction(deps.pool, async (db) => {
      const moved = await lookAgain(() => retry(db, owner, deliveryId, now, admit))
      await audit(db, `delivery:${deliveryId}`)
      return moved
    })
    return { retried, retriedAtMs }
  }
  // It locks the endpoint's row, as any change does: a client's wait for it in its line.
  const { retried, retriedAtMs } = await (owner.clientKey === null
    ? transact()
    : deps.endpointChanges.run(owner.clientKey, transact))
  const { clientKey, endpointId, shard, id, attempts, nextAttemptAt } = retried
  deps.engine.endpointRetried(clientKey, endpointId, shard, retriedAtMs)
  return { id, state: 'PENDING', attempts, nextAttemptAt }
}

async function retry(
  db: Db,
  owner: DeliveryOwner,
  deliveryId: string,
  now: Date,
  admit: (endpointId: string) => void,
): Promise<Retried | null> {
  const found = await findPending(db, owner, deliveryId)
  if (found === null) {
    if (await findFinal(db, owner, deliveryId)) throw isFinal()
    return null
  }
  admit(found.endpointId)
  const [lane] = await markRetried(db, [found], now)
  const moved = lane ? await retryDeliveries(db, [found], now, { isWaiting: true }) : []
  const own = moved.find(({ id }) => id === deliveryId)
  if (own !== undefined) return own
  // Not active: if it was deleted, the delivery has ended with it, and the next look finds that.
  if (lane === undefined && (await findPending(db, owner, deliveryId))) throw endpointNotActive()
  return null
}

function isFinal(): ServiceError {
  return new ServiceError(
    'delivery-final',
    'This delivery has ended: nothing of it is left to try. Replay it to send it again.',
  )
}
