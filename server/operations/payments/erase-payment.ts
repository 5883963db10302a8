// Erases personal data of a payment: from the payment, its events, its files and receivers' answers. Its
// pending deliveries end. Ids, states and times stay, and the sequence goes on if the payment is ever
// written again (decision 0035).

import { erasedAtOf } from '../../core/payments/erasure.ts'
import { inTransaction, isDeadlock } from '../../store/connection/db.ts'
import { cancelDeliveries } from '../../store/owed/cancellations.ts'
import { lockPayments } from '../../store/payments/payments.ts'
import {
  eraseExcerpts,
  eraseFiles,
  eraseTexts,
  findPendingOf,
  lockEndpointsOf,
} from '../../store/removal/erasures.ts'
import type { Audit } from '../shared/audit-trail.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound } from '../shared/service-errors.ts'

export interface ErasedPayment {
  id: string
  /** Of the first time, where it was erased already. */
  erasedAt: Date
  /** Events whose text was cut down, now or earlier. */
  events: number
  /** Files that nothing else named. */
  documents: number
  /** Deliveries that were pending. */
  cancelled: number
}

/** The transaction waits for rows that the recorder may hold in another order: a deadlock is retried. */
const TRIES_MAX = 3

export async function erasePayment(
  deps: Deps,
  paymentId: string,
  audit: Audit,
): Promise<ErasedPayment> {
  for (let tries = 1; ; tries++) {
    try {
      return await eraseOnce(deps, paymentId, audit)
    } catch (error) {
      if (tries >= TRIES_MAX || !isDeadlock(error)) throw error
    }
  }
}

async function eraseOnce(deps: Deps, paymentId: string, audit: Audit): Promise<ErasedPayment> {
  const { erased, emptied } = await inTransaction(deps.pool, async (db) => {
    // Lock first, so that no write of the payment is under way or begins.
    const stored = (await lockPayments(db, [paymentId])).get(paymentId)
    if (stored === undefined) throw notFound()
    const key = { clientKey: stored.clientKey, paymentId }
    const now = new Date(deps.clock.nowMs())
    await lockEndpointsOf(db, key.clientKey)
    const pending = await findPendingOf(db, key)
    const emptied = await cancelDeliveries(db, pending, now, { isWaiting: true })
    const { eventIds, hashes } = await eraseTexts(db, key, now)
    await eraseExcerpts(db, key.clientKey, eventIds)
    const documents = await eraseFiles(db, key.clientKey, hashes)
    await audit(db, `payment:${paymentId}`)
    const counts = { events: eventIds.length, documents, cancelled: emptied.length }
    return {
      erased: { id: paymentId, erasedAt: erasedAtOf(stored.text) ?? now, ...counts },
      emptied,
    }
  })
  for (const lane of emptied) {
    deps.engine.endpointChanged(lane.clientKey, lane.endpointId, lane.shard)
  }
  return erased
}
