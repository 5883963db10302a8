// A delivery as the engine holds it in memory: narrow, no body. The order of one payment's updates
// at one endpoint is decided on these (core/delivery/strand).

import type { DocumentInstead } from './endpoint-settings.ts'

export interface QueuedDelivery {
  clientKey: number
  id: string
  eventId: string
  endpointId: string
  paymentId: string
  sequence: number
  kind: string
  shard: number
  /** No attempt starts earlier. */
  nextAttemptAtMs: number
  attempts: number
  runAttempts: number
  firstAttemptAtMs: number | null
  firstFailedAtMs: number | null
  deadlineAtMs: number | null
  isReplay: boolean
  documentMode: DocumentInstead
}

/** A delivery fresh from its accepting transaction. */
export interface HandedOff extends QueuedDelivery {
  /** Earlier updates of the payment may still be owed to the endpoint: they have to be read first. */
  hasElders: boolean
  /** The body but for the file, so that a first attempt reads nothing. Null once it was taken: what is
   *  kept of bodies has bounds of its own. */
  payload: { text: string; documentHash: Uint8Array | null; documentBytes: number | null } | null
}
