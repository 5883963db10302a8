// One POST of a callback, on its way from the code that makes it to the socket or the listener that takes it.
// All that the code on this way needs to know is a member: nothing is parsed back out of the headers.

import type { CallbackOauth2 } from '../tokens/endpoint-oauth2.ts'
import type { Outcome } from './delivery.ts'
import type { EndpointTls } from './endpoint-tls.ts'

export interface CallbackRequest {
  url: string
  /** The client that the endpoint belongs to: clients never share a connection. */
  clientKey: number
  eventId: string
  /** What happened: `payment.created`, `payment.paid` … */
  kind: string
  /** The number of this attempt, from 1. */
  attempt: number
  /** Name, value, name, value …; all but `host` and `content-length`, which the client adds. */
  headers: readonly string[]
  /** Sent in this order, as one body. */
  body: readonly Uint8Array[]
  /** What its receiver asks for, or is held to. Null: nothing besides the usual. */
  tls: EndpointTls | null
  /** Where the token comes from that it carries. Null: it carries none. */
  oauth2: CallbackOauth2 | null
  /** Of a check that hopes for a 401, which then says nothing about the token. */
  expectsRefusal?: boolean
  /** A listener fetches its callbacks by this id. Null for receiver checks, which are for receivers alone. */
  endpointId: string | null
  /** Null for tests and checks, which are no deliveries. */
  deliveryId: string | null
  /** When its endpoint was last said to be fixed: what failed on the way to it before then is tried again. */
  retriedAtMs?: number
  /** Before when it must begin, on the process's cautious clock, so that it is over and recorded before the
   *  lease that it is made under can end. Null where no lease is needed. */
  beginByMs: number | null
}

export interface AttemptResult {
  outcome: Outcome
  /** Until the answer's header, which decides the outcome; otherwise until the attempt failed. */
  durationMs: number
}
