// Which deliveries are asked for: by whose they are, by a filter, and how far a read may go.

import type { DeliveryState } from '../core/delivery.ts'

/** Whose delivery it may be; null where the operator asks for anybody's. */
export interface DeliveryOwner {
  clientKey: number | null
  accountId: string | null
}

/** A filter whose names have become keys (store/delivery-search.ts). */
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
  states: readonly DeliveryState[] | null
  kind: string | null
  fromMs: number | null
  toMs: number | null
}

/** Ids below this one, so many items at most, and so many rows looked at in each table at most. */
export interface Reach {
  beforeId: string | null
  limit: number
  chunk: number
}
