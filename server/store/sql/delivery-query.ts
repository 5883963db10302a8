// Which deliveries are asked for: by whose they are, by a filter, and how far a read may go.

import type { OutcomeFilter } from '../../core/asking/outcome-filter.ts'
import type { DeliveryState } from '../../core/delivery/delivery.ts'

/** Whose delivery it may be; null where the operator asks for anybody's. */
export interface DeliveryOwner {
  clientKey: number | null
  accountId: string | null
}

/** A filter whose names have become keys (store/history/delivery-search.ts). */
export interface DeliveryQuery {
  /** Null: of all clients. */
  clientKey: number | null
  accountId: string | null
  /** Needs the client's key. */
  endpointId: string | null
  /** Only deliveries of these payments. */
  payments: readonly { clientKey: number; paymentId: string }[] | null
  /** Only deliveries of this event. */
  event: { clientKey: number; eventId: string } | null
  /** Only this delivery. */
  deliveryId: string | null
  /** Only what this job deals with, or has dealt with. */
  jobId: string | null
  states: readonly DeliveryState[] | null
  kind: string | null
  outcomes: OutcomeFilter | null
  fromMs: number | null
  toMs: number | null
}

/** Of all clients, with nothing left out. */
export const EVERY_DELIVERY: DeliveryQuery = {
  clientKey: null,
  accountId: null,
  endpointId: null,
  payments: null,
  event: null,
  deliveryId: null,
  jobId: null,
  states: null,
  kind: null,
  outcomes: null,
  fromMs: null,
  toMs: null,
}

/** Ids below this one, so many items at most, and so many rows looked at in each table at most. */
export interface Reach {
  beforeId: string | null
  limit: number
  chunk: number
}
