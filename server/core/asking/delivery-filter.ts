// The filter of delivery lists and of bulk replay, in one form for both.
// Parsed from a query or from a member of a body; every fault is reported, each with its pointer.

import { DELIVERY_STATES, type DeliveryState } from '../delivery/delivery.ts'
import { EVENT_KINDS, type EventKind, TEXT_CHARACTERS_MAX } from '../payments/payment.ts'
import { type ErrorCode, type FieldError, ServiceError } from '../plain/errors.ts'
import { isInstant } from '../plain/instant.ts'
import { countInvalid } from '../plain/invalid-count.ts'
import { isStorableText } from '../plain/text.ts'
import { isUuid } from '../plain/uuid.ts'
import { type OutcomeFilter, parseOutcomes } from './outcome-filter.ts'

export interface DeliveryFilter {
  clientId: string | null
  accountId: string | null
  endpointId: string | null
  paymentId: string | null
  eventId: string | null
  /** Deliveries that this job deals with, or has dealt with. */
  jobId: string | null
  /** Of the payments that have exactly this one. */
  externalId: string | null
  /** Any of these; null means every state. Never empty. */
  states: readonly DeliveryState[] | null
  kind: EventKind | null
  /** What the last attempt came to. */
  outcomes: OutcomeFilter | null
  /** By creation: from this instant on, and before that one. */
  fromMs: number | null
  toMs: number | null
  /** A payment's id, a payment's externalId, an event's id or a delivery's id. */
  search: string | null
}

/** A filter as it is written on the wire. `state` is one state, several with commas, or a list. */
export interface WrittenDeliveryFilter {
  clientId?: unknown
  accountId?: unknown
  endpointId?: unknown
  paymentId?: unknown
  eventId?: unknown
  job?: unknown
  externalId?: unknown
  state?: unknown
  event?: unknown
  outcome?: unknown
  from?: unknown
  to?: unknown
  q?: unknown
}

export const SEARCH_CHARACTERS_MAX = 256

/** Where the filter was written, and by whom: a query has its members at the top, a body under `/filter`. */
export interface FilterOrigin {
  code: Extract<ErrorCode, 'invalid-query' | 'invalid-fields'>
  pointer: string
  /** The operator, where nothing is said. */
  reader?: 'operator' | 'client'
}

const OPERATORS_QUERY: FilterOrigin = { code: 'invalid-query', pointer: '' }
export const CLIENTS_QUERY: FilterOrigin = { ...OPERATORS_QUERY, reader: 'client' }

/** Members that are left out, or null, do not filter. */
export function parseDeliveryFilter(
  written: WrittenDeliveryFilter,
  at: FilterOrigin = OPERATORS_QUERY,
): DeliveryFilter {
  const faults: FieldError[] = []
  const refuse = (name: string, code: string, detail: string) => {
    faults.push({ pointer: `${at.pointer}/${name}`, code, detail })
    return null
  }
  const uuid = (name: keyof WrittenDeliveryFilter): string | null => {
    const value = written[name] ?? null
    if (value === null) return null
    return typeof value === 'string' && isUuid(value)
      ? value.toLowerCase()
      : refuse(name, 'not-a-uuid', 'Must be a uuid, hyphenated.')
  }
  const instant = (name: 'from' | 'to'): number | null => {
    const value = written[name] ?? null
    if (value === null) return null
    return typeof value === 'string' && isInstant(value)
      ? Date.parse(value)
      : refuse(
          name,
          'not-a-date-time',
          'Must be a date and time such as 2026-11-17T09:30:00Z (RFC 3339).',
        )
  }
  const filter: DeliveryFilter = {
    clientId: uuid('clientId'),
    accountId: uuid('accountId'),
    endpointId: uuid('endpointId'),
    paymentId: uuid('paymentId'),
    eventId: uuid('eventId'),
    jobId: uuid('job'),
    externalId: parseExternalId(written.externalId ?? null, refuse),
    states: parseStates(written.state ?? null, refuse),
    kind: parseKind(written.event ?? null, refuse),
    outcomes: parseOutcomes(written.outcome ?? null, at.reader ?? 'operator', (detail) =>
      refuse('outcome', 'not-in-list', detail),
    ),
    fromMs: instant('from'),
    toMs: instant('to'),
    search: parseSearch(written.q ?? null, refuse),
  }
  if (filter.fromMs !== null && filter.toMs !== null && filter.toMs <= filter.fromMs) {
    refuse('to', 'not-after-from', 'Must lie after from.')
  }
  if (faults.length > 0) {
    throw new ServiceError(at.code, countInvalid(faults.length, 'member', ' of the filter'), {
      errors: faults,
    })
  }
  return filter
}

type Refuse = (name: string, code: string, detail: string) => null

function parseStates(value: unknown, refuse: Refuse): readonly DeliveryState[] | null {
  if (value === null) return null
  const words = typeof value === 'string' ? value.split(',') : value
  const states: readonly unknown[] = DELIVERY_STATES
  if (
    !Array.isArray(words) ||
    words.length === 0 ||
    !words.every((word) => states.includes(word))
  ) {
    return refuse('state', 'not-in-list', `Must be one of ${DELIVERY_STATES.join(', ')}.`)
  }
  return DELIVERY_STATES.filter((state) => words.includes(state))
}

function parseKind(value: unknown, refuse: Refuse): EventKind | null {
  if (value === null) return null
  const kind = EVENT_KINDS.find((one) => one === value)
  return kind ?? refuse('event', 'not-in-list', `Must be one of ${EVENT_KINDS.join(', ')}.`)
}

function parseExternalId(value: unknown, refuse: Refuse): string | null {
  if (value === null) return null
  if (typeof value !== 'string') return refuse('externalId', 'wrong-type', 'Must be a string.')
  if (value.length > TEXT_CHARACTERS_MAX) {
    return refuse('externalId', 'too-long', `Must have at most ${TEXT_CHARACTERS_MAX} characters.`)
  }
  if (value.trim() === '' || !isStorableText(value)) {
    return refuse('externalId', 'invalid-text', 'Must be text that a payment can have.')
  }
  return value
}

function parseSearch(value: unknown, refuse: Refuse): string | null {
  if (value === null) return null
  if (typeof value !== 'string') return refuse('q', 'wrong-type', 'Must be a string.')
  if (value.length > SEARCH_CHARACTERS_MAX) {
    return refuse('q', 'too-long', `Must have at most ${SEARCH_CHARACTERS_MAX} characters.`)
  }
  // A text that no payment can have finds nothing, but must not reach the database either.
  if (value.trim() === '' || value.includes('\u0000') || !value.isWellFormed()) {
    return refuse('q', 'invalid-text', 'Must be well-formed text, and more than white space.')
  }
  return value.trim()
}
