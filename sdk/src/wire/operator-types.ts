// What the operator's interface and the ways in take and send, as callers import it.
// biome-ignore-all lint/style/noExcessiveLinesPerFile: it lists every shape and is written by a script.
// Written by `npm run wire` from the schemas of server/http; a test compares them.

import type { Money } from './payment-parts.ts'
import type {
  Circuit,
  Delivery,
  DeliveryAttempt,
  DeliveryState,
  Endpoint,
  EndpointHealth,
  EndpointKind,
  EndpointStatus,
  EventKind,
  ExplanationPart,
  Payment,
  PaymentEvent,
  PaymentState,
  Problem,
  PurposeOfPayment,
  SentRequest,
  Series,
} from './types.ts'

/**
 * `admin` may do everything, `ingest` only write payments, `viewer` only read, and reads
 * everything, `auditor` only read the audit, and its reads are audited.
 */
export type Role = 'admin' | 'ingest' | 'viewer' | 'auditor'

export interface Account {
  id: string
  name: string
}

export interface ClientItem {
  clientId: string
  name: string
  status: 'ACTIVE' | 'DISABLED'
  /** What gets it a token: its secrets and its keys (`any`), or its `keys` alone. */
  credentials: 'any' | 'keys'
  createdAt: string
}

export interface ClientWithSecrets extends ClientItem {
  secrets: {
    secretId: string
    createdAt: string
  }[]
}

export interface ClientKey {
  kid: string
  /** What assertions are signed with. */
  alg: 'EdDSA' | 'ES256' | 'PS256'
  /**
   * A public JWK (RFC 7517): Ed25519, P-256, or RSA of 2048 to 8192 bits. Without `kid` it is named
   * by its thumbprint (RFC 7638).
   */
  jwk: {
    kty: 'OKP' | 'EC' | 'RSA'
    crv?: string
    x?: string
    y?: string
    n?: string
    e?: string
    alg?: string
    use?: string
    kid?: string
  }
  createdAt: string
}

export interface NewClient {
  clientId: string
  /** Shown now and never again. */
  clientSecret: string
  name: string
}

export interface NewSecret {
  secretId: string
  /** Shown now and never again. */
  clientSecret: string
}

export interface ConsoleLink {
  /** Shown now and never again. */
  url: string
  expiresAt: string
}

export interface ServiceCertificate {
  id: string
  name: string
  /**
   * Which clients may use and see it, by their ids, or `everyone`. Others have no such certificate,
   * for callbacks and token endpoints alike.
   */
  clients: 'everyone' | string[]
  subject: string
  /** Of the certificate, in hexadecimal. Null until it is signed. */
  fingerprintSha256: string | null
  notBefore: string | null
  notAfter: string | null
  /** Endpoints whose receivers are shown it. */
  usedBy: number
  /** Endpoints of these clients that ask for `default` are shown it. */
  isDefault: boolean
  createdAt: string
  /** The chain, the service’s own certificate first. */
  certificatePem: string | null
  /** For an authority to sign. Null where the key was imported. */
  certificateRequestPem: string | null
}

export interface FollowingEndpoints {
  /** How many endpoints follow. */
  endpoints: number
}

export interface OperatorKey {
  id: string
  name: string
  /**
   * `admin` may do everything, `ingest` only write payments, `viewer` only read, and reads
   * everything, `auditor` only read the audit, and its reads are audited.
   */
  role: Role
  createdAt: string
  revokedAt: string | null
  lastUsedAt: string | null
}

export interface NewOperatorKey {
  id: string
  name: string
  /**
   * `admin` may do everything, `ingest` only write payments, `viewer` only read, and reads
   * everything, `auditor` only read the audit, and its reads are audited.
   */
  role: Role
  /** Shown now and never again. */
  key: string
}

export interface RevokedKey {
  kid: string
  /** The key that signs instead, if the revoked one did; null otherwise. */
  newKid: string | null
}

export interface AuditChange {
  field: string
  before: string | null
  after: string | null
}

export interface AuditItem {
  id: string
  at: string
  /** The name of the key, or `operator` for the first one. */
  actor: string
  action: string
  object: string
  /** `X-Request-Id` of the call. */
  requestId: string
  /**
   * false: it is in no segment, and nothing proves it. What was audited in the last minute is
   * sealed next; a row that stays so is from before the audit was sealed, or was put there by
   * someone else.
   */
  sealed: boolean
  /** What the call changed, where that is small: a name, a status, a role, how many deliveries. */
  changes?: AuditChange[]
}

export interface AuditQuery {
  /** Items at most; more than 200 is taken as 200. */
  limit?: number | undefined
  /** The `next` of the previous answer. */
  after?: string | undefined
  actor?: string | undefined
  action?: string | undefined
  object?: string | undefined
  from?: string | Date | undefined
  to?: string | Date | undefined
  /** false: without `payment.put` and `payment.batch`, which are nearly all rows. */
  paymentWrites?: boolean | undefined
}

export interface AuditFinding {
  code: string
  segment: number
  row: string | null
  detail: string
}

/** A segment, after the lines of its rows. A row is as in `GET /audit`, and has its position. */
export interface AuditSegment {
  /** 1, 2, 3 … */
  segment: number
  /** A position in the order of commit, in digits. */
  from: string
  /** A position in the order of commit, in digits. */
  to: string
  /** How many rows it has. */
  count: number
  /** SHA-256 in hex. */
  digest: string
  /** The digest of the segment before; zeros in the first. */
  previous: string
  sealedAt: string
  /** Compact JWS (EdDSA) of the members above. */
  jws: string
}

export interface AuditHead extends AuditSegment {
  sealedThrough: string | null
  /** The last check that an operator has asked for. */
  verification: {
    at?: string
    /** The first segment that was checked. */
    from?: number
    /** The last one. */
    to?: number
    /**
     * `valid`: every row of every segment is as it was sealed. `partial`: all that is there is, and
     * the rest was dropped by retention, under a drop that the service has signed. `invalid`: see
     * `finding`.
     */
    verdict?: 'valid' | 'partial' | 'invalid'
    finding?: AuditFinding | null
  } | null
}

export interface VerifiedAudit {
  /**
   * `valid`: every row of every segment is as it was sealed. `partial`: all that is there is, and
   * the rest was dropped by retention, under a drop that the service has signed. `invalid`: see
   * `finding`.
   */
  verdict: 'valid' | 'partial' | 'invalid'
  /**
   * The verdict is `valid`: all rows of what was looked at in this call are as they were sealed.
   */
  valid: boolean
  finding: AuditFinding | null
  /** Rows that were held against a signed digest in this call. */
  rows: number
  segments: number
  /** Segments, the first and the last of each span, whose rows were dropped, wholly or in part. */
  dropped: {
    from: number
    to: number
  }[]
  /** What is no finding, but should be known, such as times of a clock that was wrong. */
  remarks: string[]
  last: number | null
  /** Send it as `after` to go on; null: the head was reached. */
  next: number | null
}

export interface Setting {
  name: string
  isSecret: boolean
  isSet: boolean
  /** Null for secrets, whole and in part, and for what is not set. */
  value: string | null
  source: 'environment' | 'file' | 'default' | null
  about: string
}

export interface DocumentWithFile {
  mediaType: string
  name: string
  /** At most 10 MiB decoded. */
  base64EncodedFile: string
}

export interface PaymentStatusWrite {
  state: PaymentState
  reason?: string | null | undefined
}

export interface PaymentLine {
  accountId: string
  id: string
  status?: PaymentStatusWrite | null | undefined
  /** Derived from the state, whatever is said here. */
  complete?: boolean | null | undefined
  createdAt?: string | Date | null | undefined
  completedAt?: string | Date | null | undefined
  externalId: string
  quoteId: string
  amount: Money
  reference: string
  purposeOfPayment: PurposeOfPayment
  beneficiaryId: string
  documentReference?: string | null | undefined
  document?: DocumentWithFile | null | undefined
  /** A number of the source that only rises. */
  version?: number | null | undefined
}

export interface WrittenPayment {
  payment: Payment
  /** Null when nothing has changed. */
  event: {
    /** The `webhook-id` of its callbacks. */
    id: string
    type: EventKind
    sequence: number
  } | null
  /** true, only when the version is not above the stored one. */
  stale?: boolean
}

export interface WrittenLine {
  /** From 1. */
  line: number
  id: string | null
  /** Null when nothing has changed. */
  event?: {
    /** The `webhook-id` of its callbacks. */
    id: string
    type: EventKind
    sequence: number
  } | null
  /** true, only when the version is not above the stored one. */
  stale?: boolean
  /** RFC 9457 problem details */
  problem?: Problem
}

export interface OperatorPaymentQuery {
  /** Items at most; more than 200 is taken as 200. */
  limit?: number | undefined
  /** The `next` of the previous answer. */
  after?: string | undefined
  clientId?: string | undefined
  accountId?: string | undefined
  state?: PaymentState | undefined
  /** First written at this instant or later. */
  from?: string | Date | undefined
  /** First written before this instant. */
  to?: string | Date | undefined
  /** Exactly this one. */
  externalId?: string | undefined
  /** The id of a payment, or its externalId. */
  q?: string | undefined
}

export interface OperatorPayment extends Payment {
  accountId: string
  accountName: string | null
  clientId: string
  clientName: string
  /** The highest number that the source has sent. */
  version: number | null
  /** How many events it has had. */
  sequence: number
}

export interface OperatorPaymentEvent extends PaymentEvent {
  deliveries: {
    id: string
    endpointId: string
    endpointUrl: string
    state: DeliveryState
  }[]
}

export interface ErasedPayment {
  id: string
  erasedAt: string
  /** Its events that are kept: without their payment now. */
  events: number
  /** Files that nothing else named, and are deleted. */
  documents: number
  /** Deliveries that were pending, and are cancelled. */
  cancelled: number
}

export interface OperatorDeliveryQuery {
  /** Items at most; more than 200 is taken as 200. */
  limit?: number | undefined
  /** The `next` of the previous answer. */
  after?: string | undefined
  /** Of the payments with exactly this external id, the newest 200. */
  externalId?: string | undefined
  /** One of PENDING, DELIVERED, EXHAUSTED, SUPERSEDED, CANCELLED, or several with commas. */
  state?: DeliveryState | readonly DeliveryState[] | undefined
  endpointId?: string | undefined
  paymentId?: string | undefined
  /** Created at this instant or later. */
  from?: string | Date | undefined
  /** Created before this instant, which lies after `from`. */
  to?: string | Date | undefined
  /**
   * What the last attempt came to: a status (`503`), a class (`5xx`), `answered`, `none` before the
   * first attempt, or why there was no answer (`timeout`, `tls-error`, …). Several with commas: any
   * of them.
   */
  outcome?: string | undefined
  clientId?: string | undefined
  accountId?: string | undefined
  eventId?: string | undefined
  /** The kind of event. */
  event?: EventKind | undefined
  /** What a bulk job was about, as it is now. */
  job?: string | undefined
  /** The id of a payment, an event or a delivery, or the externalId of a payment. */
  q?: string | undefined
}

/** As in the list of deliveries. */
export interface DeliveryFilter {
  clientId?: string | undefined
  accountId?: string | undefined
  endpointId?: string | undefined
  paymentId?: string | undefined
  eventId?: string | undefined
  job?: string | undefined
  /** Of the payments with exactly this external id, the newest 200. */
  externalId?: string | undefined
  /**
   * What the last attempt came to: a status (`503`), a class (`5xx`), `answered`, `none` before the
   * first attempt, or why there was no answer (`timeout`, `tls-error`, …). Several with commas: any
   * of them.
   */
  outcome?: string | undefined
  /** One state, several with commas between them, or a list. */
  state?: DeliveryState | readonly DeliveryState[] | undefined
  event?: EventKind | undefined
  from?: string | Date | undefined
  to?: string | Date | undefined
  q?: string | undefined
}

export interface OperatorDelivery extends Delivery {
  clientId: string
  clientName: string
  accountId: string
  /** Null when the account is no longer there. */
  accountName: string | null
}

export interface SignatureInputs {
  algorithm: string
  headers: {
    name: string
    /** What the signature is made over. */
    signed: string
    encoding: string
  }[]
  webhookId: string
  timestamp: number | null
  /** 2 for 24 hours after a rotation, otherwise 1. */
  keys: number
}

export interface OperatorDeliveryDetail extends OperatorDelivery {
  attemptLog: DeliveryAttempt[]
  /** Its status in words: what happened, what comes next and when, in UTC. */
  explanation: string
  /** The same sentences with their instants apart, to be written in the zone of the reader. */
  explanationParts: ExplanationPart[]
  request: SentRequest
  signatureInputs: SignatureInputs
  /** Of the last attempt; null before the first one. */
  response: {
    status: number | null
    /** As in attemptLog. */
    excerpt: string | null
  } | null
}

export interface OperatorSearchHit {
  kind: 'payment' | 'endpoint' | 'account' | 'event' | 'delivery' | 'client' | 'job'
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
  /** Whose it is; null for a job. */
  clientId: string | null
  /** Null for a job. */
  clientName: string | null
}

export interface CountedEndpoint {
  endpointId: string
  endpointUrl: string
  clientId: string
  clientName: string
  /** Only an ACTIVE one is sent anything: to the others, deliveries wait. */
  status: 'ACTIVE' | 'PAUSED' | 'DISABLED' | 'DELETED'
  circuit: Circuit
  count: number
}

export interface Job {
  id: string
  kind: 'replay' | 'recover' | 'cancel' | 'retry' | 'replay-missing'
  /** DONE: all were dealt with. How they stand is in `outcome`. */
  state: 'RUNNING' | 'DONE' | 'FAILED'
  /** Deliveries that matched. */
  total: number
  /** Dealt with so far. */
  done: number
  /** Of these, the ones that had moved on by themselves before their turn came. */
  passedOver: number
  startedAt: string
  finishedAt: string | null
}

/**
 * How its deliveries stand now. What had moved on by itself before the job came to it may be in
 * none of them.
 */
export interface JobOutcome {
  /**
   * Not dealt with yet, or pending without a failed attempt, at an endpoint that takes callbacks.
   */
  queued: number
  /** Pending and held up: an attempt has failed, or the endpoint is paused, disabled or down. */
  waiting: number
  delivered: number
  /** Ended without a 200: exhausted or superseded. */
  failed: number
  cancelled: number
}

export interface JobDetail extends Job {
  /**
   * How its deliveries stand now. What had moved on by itself before the job came to it may be in
   * none of them.
   */
  outcome: JobOutcome
  /** By endpoint, the 20 with the most deliveries. */
  endpoints: CountedEndpoint[]
  /** How many endpoints there are besides. */
  moreEndpoints: number
}

export interface EndpointHour {
  /** The hour begins. */
  at: string
  attempts: number
  /** Of those, answered with 200. */
  delivered: number
}

export interface OperatorEndpointQuery {
  /** Zero-based index of the page. */
  page?: number | undefined
  /** Items on a page; more than 100 is taken as 100. */
  size?: number | undefined
  clientId?: string | undefined
  accountId?: string | undefined
  kind?: EndpointKind | undefined
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
}

export interface OperatorEndpoint extends Endpoint {
  kind: EndpointKind
  clientId: string
  clientName: string
  accountId: string | null
  /** Null for a subscription, which has all accounts. */
  accountName: string | null
  createdAt: string
  deletedAt: string | null
}

export interface OperatorEndpointDetail extends OperatorEndpoint {
  health: EndpointHealth
  /** The last 24 hours, oldest first; those without an attempt are left out. */
  hours: EndpointHour[]
}

/** What the series covers: steps of a minute, a quarter, an hour. */
export type StatsPeriod = 'hour' | 'day' | 'week'

export interface EndedDay {
  day: string
  delivered: number
  exhausted: number
  superseded: number
  cancelled: number
}

export interface TroubledEndpoint {
  endpointId: string
  clientId: string
  clientName: string
  endpointUrl: string
  status: EndpointStatus
  circuit: Circuit
  /**
   * When the next attempt probes the endpoint, while its circuit is not closed; its deliveries wait
   * for that. Null while it is.
   */
  nextProbeAt: string | null
  failingSince: string | null
  /** Counted up to 10,000. */
  pending: number
  lastError: string | null
}

export interface Stats {
  version: string
  at: string
  processes: {
    id: string
    host: string
    version: string
    startedAt: string
    seenAt: string
    shards: number[]
  }[]
  /** Of the history that is kept. Exact; PENDING may be a second old. */
  deliveries: {
    PENDING: number
    DELIVERED: number
    EXHAUSTED: number
    SUPERSEDED: number
    CANCELLED: number
  }
  pending: {
    due: number
    scheduled: number
    /**
     * Waits for its endpoint, which is paused, disabled or down, or for room in its queue. Not due.
     */
    paused: number
  }
  /** Webhooks, subscriptions and listeners, by their health. */
  endpoints: {
    healthy: number
    /** Active, and its last attempts have failed. */
    failing: number
    paused: number
    disabled: number
  }
  /** Attempts under way in the process that answers. */
  inFlight: number
  oldestDueAgeSeconds: number
  /** What is overdue has no `from`, what is due after the 7 days no `to`. */
  pendingByDue: {
    from: string | null
    to: string | null
    count: number
  }[]
  series: Series
  /**
   * What has ended on each of the last 7 days, in UTC: success by delivery, whatever attempts it
   * took. Days on which nothing ended are left out.
   */
  days: EndedDay[]
  troubled: TroubledEndpoint[]
}

export interface CellItem {
  /** 0 to 1023. */
  cell: number
  /** Where this cell itself is reached. */
  address: string
  /** It has not answered `paybell route` recently. */
  isAway: boolean
  /**
   * Compact JWS (EdDSA, `paybell-cell+jws`) under a key of `/.well-known/webhook-keys.json`: which
   * clients and accounts the cell has although their ids name another. Null while a cell that is
   * away has given none.
   */
  entry: string | null
}

/** A change of a payment was accepted. */
export interface AcceptedEvent {
  eventId: string
  event: EventKind
  paymentId: string
  accountId: string
  sequence: number
  /** To so many endpoints. */
  deliveries: number
  at: string
}

/** A delivery was attempted. */
export interface AttemptedEvent {
  deliveryId: string
  eventId: string
  endpointId: string
  attempt: number
  outcome: string
  status: number | null
  at: string
}
