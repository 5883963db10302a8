// A strand: one payment's updates at one endpoint, as its lane holds them in memory. Whose turn it is
// among them is decided in core/strand. There are tens of thousands: what it costs, it costs so often.

import type { QueuedDelivery } from '../core/queued-delivery.ts'
import type { Lane } from './lane.ts'

export interface Strand {
  /** Its name within the lane. */
  readonly key: string
  readonly paymentId: string
  readonly lane: Lane
  /** In sequence. */
  owed: QueuedDelivery[]
  /** False: others exist that were not read. When these are done, the strand is read again. */
  isComplete: boolean
  /** Under way, or not yet recorded. */
  inFlight: QueuedDelivery | null
  isReady: boolean
  /** The 7 days of what is in flight are over: it ends without an attempt. */
  isOver: boolean
  /** Dropped from memory; what still comes back for it is ignored. */
  isGone: boolean
  /** Its place is free; what came of it is not yet recorded. */
  isAnswered: boolean
}

/** The payment's id as it is, not a text of its own. A replay keeps no order among other updates: it is
 *  a strand of its own. */
export function strandKey(delivery: QueuedDelivery): string {
  return delivery.isReplay ? `replay/${delivery.id}` : delivery.paymentId
}

/** `owed` becomes the strand's: at least one, all of the same payment. */
export function newStrand(lane: Lane, owed: QueuedDelivery[], isComplete: boolean): Strand {
  const first = owed[0] as QueuedDelivery
  return {
    key: strandKey(first),
    paymentId: first.paymentId,
    lane,
    owed,
    isComplete,
    inFlight: null,
    isReady: false,
    isOver: false,
    isGone: false,
    isAnswered: false,
  }
}
