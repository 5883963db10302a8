// Who is owed an event: each endpoint that exists, listens to the event's account, or to all accounts of its client,
// and hears the event's kind. One event × one endpoint is one delivery. Pure: the endpoints were read inside the
// accepting transaction, because a list that is kept elsewhere would miss one that was registered a moment ago.

import { toUuidText, writeUuid } from '../plain/uuid-bytes.ts'
import { ALL_EVENTS, type DocumentMode, type EventChoice } from './endpoint-settings.ts'
import type { HandedOff } from './queued-delivery.ts'

/** One accepted change of a payment. Notices are events too, in which an endpoint stands in for a payment. */
export interface NewEvent {
  clientKey: number
  id: string
  paymentId: string
  accountId: string
  sequence: number
  kind: string
  /** The payment's canonical text: the callback body, but for the file content. */
  text: string
  documentHash: Uint8Array | null
  documentBytes: number | null
}

/** What the decision asks about an endpoint. Not its status: what a paused one is owed waits for it. */
export interface ListeningEndpoint {
  clientKey: number
  id: string
  /** Null: it listens to every account of its client. */
  accountId: string | null
  shard: number
  /** Null: it hears all kinds. */
  events: readonly EventChoice[] | null
  /** Null: inline. */
  document: DocumentMode | null
}

/** Whether an endpoint with these settings hears such events; the SQL function owe_changes asks the same. */
export function hears(events: ListeningEndpoint['events'], kind: string): boolean {
  if (events === null) return true
  return events.some((choice) => choice === kind || choice === ALL_EVENTS)
}

/** The deliveries, in the order of their events. */
export function fanOut(
  events: readonly NewEvent[],
  endpoints: readonly ListeningEndpoint[],
  nowMs: number,
): HandedOff[] {
  const byAccount = Map.groupBy(endpoints, ({ accountId }) => accountId)
  const ofAllAccounts = Map.groupBy(byAccount.get(null) ?? [], ({ clientKey }) => clientKey)
  const payments = new Set<string>()
  const heard = new Set<string>()
  const owed: HandedOff[] = []
  for (const event of events) {
    // Elders of the same call, which the database cannot know of. Those from before it has to be asked for.
    const hasElders = event.sequence > 1 && payments.has(event.paymentId)
    payments.add(event.paymentId)
    owe(event, byAccount.get(event.accountId), hasElders)
    owe(event, ofAllAccounts.get(event.clientKey), hasElders)
  }
  return owed

  function owe(
    event: NewEvent,
    listening: readonly ListeningEndpoint[] | undefined,
    hasElders: boolean,
  ): void {
    for (const endpoint of listening ?? NONE) {
      if (!isOwed(event, endpoint)) continue
      // One that does not hear all has only those elders that it heard.
      const strand = endpoint.events && `${endpoint.id} ${event.paymentId}`
      const hasOwn = strand === null || heard.has(strand)
      if (strand !== null) heard.add(strand)
      owed.push(toDelivery(event, endpoint, hasElders && hasOwn, nowMs))
    }
  }
}

const NONE: readonly ListeningEndpoint[] = []

function isOwed(event: NewEvent, { clientKey, accountId, events }: ListeningEndpoint): boolean {
  if (clientKey !== event.clientKey || !hears(events, event.kind)) return false
  return accountId === null || accountId === event.accountId
}

function toDelivery(
  event: NewEvent,
  endpoint: ListeningEndpoint,
  hasElders: boolean,
  nowMs: number,
): HandedOff {
  const { text, documentHash, documentBytes } = event
  return {
    clientKey: event.clientKey,
    id: deliveryId(event.id, endpoint.id),
    eventId: event.id,
    endpointId: endpoint.id,
    paymentId: event.paymentId,
    sequence: event.sequence,
    kind: event.kind,
    shard: endpoint.shard,
    nextAttemptAtMs: nowMs,
    attempts: 0,
    runAttempts: 0,
    firstAttemptAtMs: null,
    firstFailedAtMs: null,
    deadlineAtMs: null,
    isReplay: false,
    // Decided once, so that every attempt and every replay has the same bytes.
    documentMode:
      documentHash === null || endpoint.document === 'inline' ? null : endpoint.document,
    hasElders,
    payload: { text, documentHash, documentBytes },
  }
}

/**
 * Follows from the two, so no event can be owed twice to one endpoint: the table's key would refuse it.
 * The time, the count and the cell of the event's UUIDv7 (store/history/delivery-sources finds an event's deliveries by them,
 * and they are added at the right edge of their indexes), then the random bits of both, combined. Given the id of the
 * delivery in place of the event's, it returns the event's.
 */
export function deliveryId(eventId: string, endpointId: string): string {
  writeUuid(mixed, eventId, 0)
  writeUuid(ofEndpoint, endpointId, 0)
  for (let index = RANDOM_FROM; index < mixed.length; index++) {
    mixed[index] = (mixed[index] as number) ^ (ofEndpoint[index] as number)
  }
  return toUuidText(mixed)
}

/** The last 48 bits: the time, the count, the variant and the cell are before. */
const RANDOM_FROM = 10
const mixed = new Uint8Array(16)
const ofEndpoint = new Uint8Array(16)
