// The shapes that go over the wire, as callers import them.
// biome-ignore-all lint/style/noExcessiveLinesPerFile: it lists every shape and is written by a script.
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

export type EventChoice =
  | 'payment.created'
  | 'payment.pending_approval'
  | 'payment.due'
  | 'payment.paid'
  | 'payment.cancelled'
  | 'payment.updated'
  | 'payment.*'

export type SignatureKind = 'hmac' | 'ed25519'

/**
 * `every`: each update of a payment is sent, in order. `latest`: of the updates that wait, only the
 * newest is sent, and those before it end as `SUPERSEDED`.
 */
export type DeliverMode = 'every' | 'latest'

/**
 * How the file of a payment comes: `inline` in the body as base64, as a `link` to fetch it with, or
 * not at all (`none`).
 */
export type DocumentMode = 'inline' | 'link' | 'none'

/** For receivers that ask who calls, or that a private authority vouches for. */
export interface EndpointTls {
  /**
   * Which client certificate the receiver is shown when it asks who calls (mTLS): the id of one of
   * `GET /v1/client-certificates`, or `default` for the one of them that the operator made the
   * default. Null: none.
   */
  clientCertificate?: string | null | undefined
  /**
   * Certificates of the authorities, as PEM, that vouch for the receiver in place of the public
   * ones. Null: the public ones.
   */
  certificateAuthorities?: string[] | string | null | undefined
}

/** Only where it was given. */
export interface EndpointTlsShown {
  /**
   * Which client certificate the receiver is shown when it asks who calls (mTLS): the id of one of
   * `GET /v1/client-certificates`, or `default` for the one of them that the operator made the
   * default. Null: none.
   */
  clientCertificate: string | null
  /**
   * Certificates of the authorities, as PEM, that vouch for the receiver in place of the public
   * ones. Null: the public ones.
   */
  certificateAuthorities: string[] | null
}

/**
 * For receivers that ask for a token: callbacks carry `Authorization: Bearer …` from this token
 * endpoint (OAuth 2.0, client credentials).
 */
export interface EndpointOauth2 {
  /**
   * The token endpoint. The same addresses are allowed as for callbacks, the `tls` settings hold
   * for it too, and redirects are not followed.
   */
  tokenUrl: string
  /** As whom the service asks for a token. */
  clientId: string
  /**
   * The secret of that client, unless privateKeyJwt or authentication `tls` is given. It is never
   * shown again; it may be left out while tokenUrl and clientId stay as they are.
   */
  clientSecret?: string | undefined
  /**
   * True: the service proves itself with an assertion (RFC 7523) instead of a secret. Its public
   * keys are at `/.well-known/clients/{clientId}/jwks.json`, with the id of your client at Paybell,
   * and no other client’s.
   */
  privateKeyJwt?: boolean | undefined
  /** Sent with the request for a token. Null: nothing is. */
  scope?: string | null | undefined
  /** Sent with the request for a token. Null: nothing is. */
  audience?: string | null | undefined
  /**
   * Where the secret stands: `basic`, in the header, which is the default; or `post`, in the body.
   * An assertion is always in the body. `tls`: there is no secret, the client certificate of
   * `tls.clientCertificate` alone proves who asks (RFC 8705).
   */
  authentication?: 'basic' | 'post' | 'tls' | undefined
}

/** Only where it was given, and without the secret. */
export interface EndpointOauth2Shown {
  /**
   * The token endpoint. The same addresses are allowed as for callbacks, the `tls` settings hold
   * for it too, and redirects are not followed.
   */
  tokenUrl: string
  /** As whom the service asks for a token. */
  clientId: string
  /**
   * True: the service proves itself with an assertion (RFC 7523) instead of a secret. Its public
   * keys are at `/.well-known/clients/{clientId}/jwks.json`, with the id of your client at Paybell,
   * and no other client’s.
   */
  privateKeyJwt: boolean
  /** Sent with the request for a token. Null: nothing is. */
  scope: string | null
  /** Sent with the request for a token. Null: nothing is. */
  audience: string | null
  /**
   * Where the secret stands: `basic`, in the header, which is the default; or `post`, in the body.
   * An assertion is always in the body. `tls`: there is no secret, the client certificate of
   * `tls.clientCertificate` alone proves who asks (RFC 8705).
   */
  authentication: 'basic' | 'post' | 'tls'
}

export interface EndpointSettings {
  /**
   * Which kinds of event it gets: a list of kinds, or `payment.*` for all of them. Null: all. What
   * it does not get makes no delivery, and costs nothing; `X-Paybell-Sequence` then skips numbers.
   */
  events?: EventChoice[] | null | undefined
  /**
   * `every`: each update of a payment is sent, in order. `latest`: of the updates that wait, only
   * the newest is sent, and those before it end as `SUPERSEDED`.
   */
  deliver?: DeliverMode | undefined
  /**
   * How the file of a payment comes: `inline` in the body as base64, as a `link` to fetch it with,
   * or not at all (`none`).
   */
  document?: DocumentMode | undefined
  /** `hmac` is always there. `ed25519` adds a signature that is checked with a public key. */
  signatures?: SignatureKind[] | undefined
  /**
   * The header that carries the HMAC. It begins with X-; `X-Paybell-Hmac-Previous` keeps its name.
   */
  hmacHeaderName?: string | undefined
  /** A note for people, at most 200 characters. */
  description?: string | null | undefined
  /** For receivers that ask who calls, or that a private authority vouches for. */
  tls?: EndpointTls | null | undefined
  /**
   * For receivers that ask for a token: callbacks carry `Authorization: Bearer …` from this token
   * endpoint (OAuth 2.0, client credentials).
   */
  oauth2?: EndpointOauth2 | null | undefined
}

/**
 * An address that callbacks are sent to: a webhook or a subscription. The settings are shown when
 * some were given.
 */
export interface Endpoint {
  id: string
  endpointUrl: string
  hmacHeaderName: string
  algorithm: 'SHA_256'
  status: EndpointStatus
  /**
   * Which kinds of event it gets: a list of kinds, or `payment.*` for all of them. Null: all. What
   * it does not get makes no delivery, and costs nothing; `X-Paybell-Sequence` then skips numbers.
   */
  events?: EventChoice[] | null
  /**
   * `every`: each update of a payment is sent, in order. `latest`: of the updates that wait, only
   * the newest is sent, and those before it end as `SUPERSEDED`.
   */
  deliver?: DeliverMode
  /**
   * How the file of a payment comes: `inline` in the body as base64, as a `link` to fetch it with,
   * or not at all (`none`).
   */
  document?: DocumentMode
  /** `hmac` is always there. `ed25519` adds a signature that is checked with a public key. */
  signatures?: SignatureKind[]
  /** A note for people. */
  description?: string | null
  /** Only where it was given. */
  tls?: EndpointTlsShown
  /** Only where it was given, and without the secret. */
  oauth2?: EndpointOauth2Shown
}

export type Circuit = 'CLOSED' | 'OPEN' | 'HALF_OPEN'

export interface EndpointHealth {
  failingSince: string | null
  lastSuccessAt: string | null
  lastError: string | null
  pending: number
  circuit: Circuit
  /**
   * When the next attempt probes the endpoint, while its circuit is not closed; its deliveries wait
   * for that. Null while it is.
   */
  nextProbeAt: string | null
  successRate24h: number | null
  p95Ms: number | null
}

export interface SeriesPoint {
  at: string
  attempts: number
  delivered: number
  failed: number
  p50Ms: number | null
  p95Ms: number | null
  p99Ms: number | null
}

export interface Series {
  stepSeconds: number
  points: SeriesPoint[]
}

export interface StatementHour {
  /** The hour begins. */
  from: string
  /**
   * True when nothing in it changes any more by itself: only a replay or a recovery that someone
   * asks for opens it again, or a clock that goes back.
   */
  isFinal: boolean
  /** All events for this endpoint: the sum of the next five. */
  owed: number
  /** Answered with 200, once at least. */
  delivered: number
  superseded: number
  exhausted: number
  cancelled: number
  pending: number
  /**
   * The sum, modulo 2^256, of the SHA-256 of the `webhook-id` of every delivered event, in
   * hexadecimal digits.
   */
  idsDigest: string
}

export interface Statement {
  endpointId: string
  from: string
  to: string
  /**
   * True when nothing in it changes any more by itself: only a replay or a recovery that someone
   * asks for opens it again, or a clock that goes back.
   */
  isFinal: boolean
  /** All events for this endpoint: the sum of the next five. */
  owed: number
  /** Answered with 200, once at least. */
  delivered: number
  superseded: number
  exhausted: number
  cancelled: number
  pending: number
  /**
   * The sum, modulo 2^256, of the SHA-256 of the `webhook-id` of every delivered event, in
   * hexadecimal digits.
   */
  idsDigest: string
  /** Every hour, oldest first. */
  hours: StatementHour[]
  /**
   * All of the above, signed: a compact JWS (EdDSA) of the type `paybell-statement+jws`, under a
   * key of `/.well-known/webhook-keys.json`.
   */
  jws: string
}

export interface Receipt {
  deliveryId: string
  webhookId: string
  paymentId: string
  sequence: number
  endpointUrl: string
  /** Of the body, byte for byte, in hexadecimal digits. */
  bodySha256: string
  attempt: number
  sentAt: string
  answeredAt: string
  status: number
}

export interface EndpointDetail extends Endpoint {
  health: EndpointHealth
}

export type EndpointKind = 'subscription' | 'webhook' | 'listener'

export interface EndpointQuery {
  /** Zero-based index of the page. */
  page?: number | undefined
  /** Items on a page; more than 100 is taken as 100. */
  size?: number | undefined
  /** Which endpoints. With it, each item has its `kind`. */
  kind?: 'subscription' | 'webhook' | 'listener' | 'any' | undefined
  status?: EndpointStatus | undefined
  /** Whether its last attempts have failed. */
  failing?: boolean | undefined
  /** Words of its address, each perhaps only begun; or its id. */
  q?: string | undefined
  /**
   * What they are sorted by; with a minus, the other way round. By `failingSince`, those that do
   * not fail come last.
   */
  sort?:
    | 'createdAt'
    | '-createdAt'
    | 'endpointUrl'
    | '-endpointUrl'
    | 'failingSince'
    | '-failingSince'
    | undefined
  /** Whether each item has its `health`. */
  health?: boolean | undefined
}

export interface Webhook extends Endpoint {
  /** In the list over all accounts. A subscription, which has all of them, has none. */
  accountId?: string
  kind?: EndpointKind
  health?: EndpointHealth
}

export interface PublicCertificate {
  id: string
  name: string
  subject: string
  fingerprintSha256: string
  notAfter: string
  /** Your endpoints that ask for `default` are shown it. */
  isDefault: boolean
  /** The chain, the service’s own certificate first. */
  certificatePem: string
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

export interface Notice {
  type:
    | 'endpoint.failing'
    | 'endpoint.will_be_disabled'
    | 'endpoint.recovered'
    | 'endpoint.disabled'
    | 'deliveries.exhausted'
  endpoint: {
    id: string
    kind: string
    accountId: string | null
    /** Without its query. */
    endpointUrl: string
    status: EndpointStatus
    failingSince: string | null
    lastSuccessAt: string | null
    lastError: string | null
    pending: number
    exhaustedTotal: number
  }
  /** Deliveries that were given up since the last such notice. */
  exhausted?: number
  /** Why attempts failed in the last hour, in words. */
  reasons: string | null
  at: string
}

export interface Notices {
  callbackUrl: string
  /** DISABLED after 7 days of nothing but failures; give the address again to resume. */
  status: EndpointStatus
  /** The newest 20, newest first. */
  recent: {
    notice: Notice
    state: DeliveryState
    attempts: number
  }[]
}

export interface OwnStats {
  at: string
  /** Webhooks, subscriptions and listeners, by their health. */
  endpoints: {
    healthy: number
    /** Active, and its last attempts have failed. */
    failing: number
    paused: number
    disabled: number
  }
  deliveries: {
    /** Due and waiting. */
    pending: number
    /** To be attempted now. */
    due: number
    /**
     * For the time of their next attempt, for an older update of the payment, for an endpoint that
     * is paused, disabled or down, or for room in its queue.
     */
    waiting: number
    /** By whole hours, up to a minute old. */
    delivered24h: number
    /** By whole hours, up to a minute old. */
    delivered7d: number
    exhausted24h: number
    exhausted7d: number
  }
  /** Since when the oldest due delivery is due. */
  oldestDueAt: string | null
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
  /**
   * When the next attempt can start: while the endpoint is down, not before its next probe, and
   * while it waits for another update (`waitsFor`), not before that one’s. Null when it has ended,
   * or waits until its endpoint is active or has room in its queue.
   */
  nextAttemptAt: string | null
  /**
   * The `sequence` of the update of the same payment that is sent first. Null when there is none,
   * or the endpoint is not active.
   */
  waitsFor: number | null
  /** No attempt starts later. Null before the first one. */
  deadlineAt: string | null
  /** What the last attempt came to: `answered` and the status, or why there was no answer. */
  lastOutcome: string | null
  /**
   * Of its payment, as it is now; null when the payment was erased or is no longer kept. So are the
   * next two.
   */
  externalId: string | null
  paymentState: 'DRAFT' | 'CANCELLED' | 'PENDING_APPROVAL' | 'DUE' | 'PAID' | null
  amount: Money | null
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

export interface SentRequest {
  method: string
  url: string
  attempt: number | null
  /**
   * Of the last attempt, as they were sent, signatures included. The value of a header of the
   * endpoint’s own is shown as `•••`. Made again with the settings of the endpoint as they are now
   * and the key that signed at the time; of an attempt before the last two rotations with the
   * oldest key that is kept, so that its signatures are not those that were sent. Empty before the
   * first attempt, when the body is no longer stored, and when the keys cannot be decrypted.
   */
  headers: {
    name: string
    value: string
  }[]
  /** Without the file of a document. Null when it is no longer stored. */
  body: string | null
  bodyBytes: number | null
  /** Where the exact bytes are: what a signed request carries. */
  bodyUrl: string
}

export interface DeliveryDetail extends Delivery {
  attemptLog: DeliveryAttempt[]
  /** Its status in words: what happened, what comes next and when, in UTC. */
  explanation: string
  /** The same sentences with their instants apart, to be written in the zone of the reader. */
  explanationParts: ExplanationPart[]
  request: SentRequest
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

/** How many of its deliveries are in which state, over its newest 100 events. */
export interface PaymentDeliveries {
  pending: number
  delivered: number
  exhausted: number
  superseded: number
  cancelled: number
}

export interface PaymentItem {
  id: string
  accountId: string
  externalId: string
  amount: Money
  status?: {
    state: PaymentState
    reason?: string
  }
  /** True exactly in a final state. */
  complete?: boolean
  createdAt: string
  changedAt: string
  /** How many events it has had. */
  sequence: number
  /** How many of its deliveries are in which state, over its newest 100 events. */
  deliveries: PaymentDeliveries
  /**
   * The worst of them: EXHAUSTED before PENDING, CANCELLED, DELIVERED and SUPERSEDED. Null when the
   * payment has no deliveries.
   */
  deliveryState: 'PENDING' | 'DELIVERED' | 'EXHAUSTED' | 'SUPERSEDED' | 'CANCELLED' | null
}

export interface EndpointOfPayment {
  endpointId: string
  endpointUrl: string
  deliveryId: string | null
  /** Of the delivery of the newest update. Null when there is none. */
  state: 'PENDING' | 'DELIVERED' | 'EXHAUSTED' | 'SUPERSEDED' | 'CANCELLED' | null
  code: 'owed' | 'not-heard' | 'registered-later' | 'no-delivery'
  /** Why it gets the update, or why not: one sentence. */
  explanation: string
}

export interface PaymentDetail extends Payment {
  /** Each endpoint of its account, and whether it gets the newest update. */
  endpoints: EndpointOfPayment[]
}

export interface SearchHit {
  kind: 'payment' | 'endpoint' | 'account' | 'event' | 'delivery'
  id: string
  /**
   * What people know it by: a name, the address of an endpoint or of where a delivery goes, a
   * payment’s external id, the kind of an event or of a job.
   */
  name: string
  /** Its state or status, where it has one. */
  state: string | null
  /** Of a payment, an event or a delivery. */
  paymentId: string | null
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
  | 'v1a-not-v1'
  | 'v1-not-v1a'
  | 'wrong-key-id'
  | 'wrong-public-key'
  | 'old-public-key'

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
  /** `detail` for OAuth libraries, token operation with a form only */
  error_description?: string
  /** All wrong fields at once. */
  errors?: {
    /** RFC 6901 JSON pointer */
    pointer: string
    code: string
    detail: string
  }[]
}
