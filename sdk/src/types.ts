// The shapes that go over the wire, as callers import them.
// Written by `npm run wire` from the schemas of server/http; a test compares them.

import type { Money, PaymentDocument } from './payment-parts.ts'

export type PaymentState = 'DRAFT' | 'CANCELLED' | 'PENDING_APPROVAL' | 'DUE' | 'PAID'

export type PurposeOfPayment =
  | 'COMPUTER_SERVICES'
  | 'FAMILY_SUPPORT'
  | 'EDUCATION'
  | 'MEDICAL_TREATMENT'
  | 'MAINTENANCE_EXPENSES'
  | 'TRAVEL'
  | 'SMALL_VALUE_REMITTANCE'
  | 'CONSTRUCTION_EXPENSES'
  | 'HOTEL_ACCOMMODATION'
  | 'ADVERTISING_EXPENSES'
  | 'ADVISORY_FEES'
  | 'BUSINESS_INSURANCE'
  | 'INSURANCE_CLAIMS'
  | 'DELIVERY_FEES'
  | 'EXPORTED_GOODS'
  | 'SERVICE_CHARGES'
  | 'LOAN_PAYMENT'
  | 'OFFICE_EXPENSES'
  | 'PROPERTY_PURCHASE'
  | 'PROPERTY_RENTAL'
  | 'ROYALTY_FEES'
  | 'SHARES_INVESTMENT'
  | 'FUND_INVESTMENT'
  | 'TAX_PAYMENT'
  | 'TRANSPORTATION_FEES'
  | 'UTILITY_BILLS'
  | 'PERSONAL_TRANSFER'
  | 'SALARY_PAYMENT'
  | 'INFLUENCER_PAYMENT'
  | 'DIVIDEND_PAYMENT'
  | 'OTHER_FEES'
  | 'OTHER'

export type EventKind =
  | 'payment.created'
  | 'payment.pending_approval'
  | 'payment.due'
  | 'payment.paid'
  | 'payment.cancelled'
  | 'payment.updated'

export interface Payment {
  id: string
  status?: {
    state: PaymentState
    reason?: string
  }
  /** True exactly in a final state. */
  complete?: boolean
  createdAt: string
  completedAt?: string
  externalId: string
  quoteId: string
  amount: Money
  reference: string
  purposeOfPayment: PurposeOfPayment
  beneficiaryId: string
  documentReference?: string
  document?: PaymentDocument
}

export type EndpointStatus = 'ACTIVE' | 'PAUSED' | 'DISABLED'

/** An address that callbacks are sent to: a webhook or a subscription. */
export interface Endpoint {
  id: string
  endpointUrl: string
  hmacHeaderName: string
  algorithm: 'SHA_256'
  status: EndpointStatus
}

export type Circuit = 'CLOSED' | 'OPEN' | 'HALF_OPEN'

export interface EndpointHealth {
  failingSince: string | null
  lastSuccessAt: string | null
  lastError: string | null
  pending: number
  circuit: Circuit
  successRate24h: number | null
  p95Ms: number | null
}

export interface EndpointDetail extends Endpoint {
  health: EndpointHealth
}

export interface Webhook extends Endpoint {
  /** In the list over all accounts. */
  accountId?: string
}

/** An endpoint whose callbacks are fetched, one by one. */
export interface Listener {
  id: string
  name: string
  accountId: string
  /** `PAUSED` while no one asks for callbacks. */
  status: EndpointStatus
  hmacHeaderName: string
  algorithm: 'SHA_256'
}

/** A callback to forward, and to answer at /outcomes. */
export interface ListenerOffer {
  offerId: string
  /** Null for a test, which is no delivery. */
  deliveryId: string | null
  eventId: string
  attempt: number
  /** Name and value of each header, to be forwarded as they are. */
  headers: [string, string][]
  /** The exact bytes that are signed. */
  bodyBase64: string
  /** What is left of the attempt’s 15 seconds. */
  timeoutMs: number
  deadlineAt: string
}

export interface ListenerOutcome {
  offerId: string
  /** What your receiver answered. */
  status?: number | undefined
  /** Or why there was no answer; one of the two. */
  error?:
    | 'connect-error'
    | 'connection-reset'
    | 'dns-error'
    | 'protocol-error'
    | 'timeout'
    | 'tls-error'
    | undefined
  durationMs?: number | undefined
  /** How its answer begins; 4 KiB are kept, unless it was a 200. */
  body?: string | undefined
  /** Its Retry-After header, with 429 or 503. */
  retryAfter?: string | undefined
}

export interface Page<Item> {
  content: Item[]
  totalPages: number
  totalElements: number
  size: number
  number: number
}

export interface CursorPage<Item> {
  items: Item[]
  /** Give it back as `after` to read on; null at the end. */
  next: string | null
}

export type DeliveryState = 'PENDING' | 'DELIVERED' | 'EXHAUSTED' | 'SUPERSEDED' | 'CANCELLED'

export interface Delivery {
  id: string
  /** The `webhook-id` of its callbacks. */
  eventId: string
  event: EventKind
  paymentId: string
  /** The number of the event within its payment. */
  sequence: number
  endpointId: string
  endpointUrl: string
  state: DeliveryState
  /** So far, over all runs. */
  attempts: number
  createdAt: string
  /** Null when it has ended, or waits for its endpoint. */
  nextAttemptAt: string | null
  /** No attempt starts later. Null before the first one. */
  deadlineAt: string | null
  /** What the last attempt came to: `answered` and the status, or why there was no answer. */
  lastOutcome: string | null
}

export interface DeliveryAttempt {
  attempt: number
  at: string
  durationMs: number
  status: number | null
  /** Why no answer came; null when one did. */
  error: string | null
  /**
   * The first 4 KiB of the answer’s body, as text; of a 200 the first 256 bytes. Null where there
   * was none.
   */
  excerpt: string | null
}

export interface ExplanationPart {
  /** What the sentence is about: stable, and more may come. */
  code: string
  /**
   * The sentence. `{name}` stands for the instant of that name, `{in name}` for the time until it.
   */
  template: string
  instants: {
    name: string
    at: string
  }[]
}

export interface DeliveryDetail extends Delivery {
  attemptLog: DeliveryAttempt[]
  /** Its status in words: what happened, what comes next and when, in UTC. */
  explanation: string
  /** The same sentences with their instants apart, to be written in the zone of the reader. */
  explanationParts: ExplanationPart[]
}

/** What is left of a delivery after an act on it. */
export interface ReplayedDelivery {
  id: string
  state: DeliveryState
  /** So far; a replay counts on. */
  attempts: number
  /** Null while its endpoint is not active, and when it has ended. */
  nextAttemptAt: string | null
}

/** One accepted change of one payment, as the feed tells it. */
export interface PaymentEvent {
  /** The `webhook-id` of its callbacks. */
  id: string
  event: EventKind
  /** Its number within its payment: 1, 2, 3 … */
  sequence: number
  paymentId: string
  createdAt: string
  payment: Payment
}

export interface EventPage {
  items: PaymentEvent[]
  /** Where to go on; also at the end, to come back with. */
  next: string
}

export interface TestResult {
  /** True exactly when it answered 200. */
  delivered: boolean
  /** What it answered; null when there was no answer. */
  status: number | null
  durationMs: number
  /** Why there was no answer, e.g. timeout, connect-error, tls-error, no-address. */
  error: string | null
}

export type FindingCode =
  | 'missing-header'
  | 'malformed-header'
  | 'timestamp-too-old'
  | 'timestamp-in-future'
  | 'previous-key'
  | 'wrong-key'
  | 'base64-not-hex'
  | 'hex-not-base64'
  | 'trailing-newline'
  | 'body-reserialised'
  | 'body-changed'
  | 'signed-content-incomplete'
  | 'id-or-timestamp-changed'

/** What the signature doctor says. */
export interface Diagnosis {
  /** True only when the signature truly verifies, in time. */
  valid: boolean
  findings: {
    code: FindingCode
    detail: string
  }[]
}

export interface CheckedStep {
  code: string
  title: string
  result: 'pass' | 'fail' | 'warning'
  reason: string
  /** What to do about it; null where there is nothing to do. */
  mend: string | null
}

/** How a receiver did. */
export interface CheckReport {
  url: string
  at: string
  durationMs: number
  /** True when no step has failed. */
  passed: boolean
  counts: {
    pass: number
    fail: number
    warning: number
  }
  steps: CheckedStep[]
}

/** RFC 9457 problem details */
export interface Problem {
  type: string
  title: string
  status: number
  detail: string
  /** `urn:request:` and the request id */
  instance: string
  /** stable, kebab-case; each has a page at `type` */
  code: string
  /** RFC 6749 code, token operation only */
  error?: string
  /** All wrong fields at once. */
  errors?: {
    /** RFC 6901 JSON pointer */
    pointer: string
    code: string
    detail: string
  }[]
}
