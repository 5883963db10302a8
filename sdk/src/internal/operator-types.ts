// What the operator's interface and the console's session send, for the console and the command line.
// The package does not export it.
// Long because it lists every shape and is written by a script.
// Written by `npm run wire` from the schemas of server/http; a test compares them.

import type {
  Circuit,
  Delivery,
  DeliveryAttempt,
  DeliveryState,
  Endpoint,
  EndpointHealth,
  EndpointStatus,
  EventKind,
  Payment,
  PaymentEvent,
  Problem,
} from '../types.ts'

/**
 * `admin` may do everything, `ingest` only write payments, `viewer` only read, and reads
 * everything.
 */
export type Role = 'admin' | 'ingest' | 'viewer'

export interface Account {
  id: string
  name: string
}

export interface ClientItem {
  clientId: string
  name: string
  status: 'ACTIVE' | 'DISABLED'
  createdAt: string
}

export interface ClientWithSecrets extends ClientItem {
  secrets: {
    secretId: string
    createdAt: string
  }[]
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

export interface OperatorKey {
  id: string
  name: string
  /**
   * `admin` may do everything, `ingest` only write payments, `viewer` only read, and reads
   * everything.
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
   * everything.
   */
  role: Role
  /** Shown now and never again. */
  key: string
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

export interface OperatorPayment extends Payment {
  accountId: string
  clientId: string
  /** The highest number that the source has sent. */
  version: number | null
  /** How many events it has had. */
  sequence: number
}

export interface OperatorPaymentEvent extends PaymentEvent {
  deliveries: {
    id: string
    endpointId: string
    state: DeliveryState
  }[]
}

export interface OperatorDelivery extends Delivery {
  clientId: string
  accountId: string
}

export interface SentRequest {
  method: string
  url: string
  attempt: number | null
  /**
   * Of the last attempt, as they were sent. The value of a header of the endpoint’s own is masked.
   * Empty before the first attempt.
   */
  headers: {
    name: string
    value: string
  }[]
  /** Without the file of a document. Null when it is no longer stored. */
  body: string | null
  bodyBytes: number | null
  /** Where the exact bytes are. */
  bodyUrl: string
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
  /** Why it is where it is, what comes next and when. */
  explanation: string
  request: SentRequest
  signatureInputs: SignatureInputs
  /** Of the last attempt; null before the first one. */
  response: {
    status: number | null
    /** As in attemptLog. */
    excerpt: string | null
  } | null
}

export interface Job {
  id: string
  kind: 'replay' | 'recover' | 'cancel'
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

export type EndpointKind = 'subscription' | 'webhook' | 'listener'

export interface EndpointHour {
  /** The hour begins. */
  at: string
  attempts: number
  /** Of those, answered with 200. */
  delivered: number
}

export interface OperatorEndpoint extends Endpoint {
  kind: EndpointKind
  clientId: string
  accountId: string | null
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

export interface SeriesPoint {
  at: string
  attempts: number
  delivered: number
  failed: number
  p50Ms: number | null
  p95Ms: number | null
  p99Ms: number | null
}

export interface TroubledEndpoint {
  endpointId: string
  clientId: string
  endpointUrl: string
  status: EndpointStatus
  circuit: Circuit
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
    /** Without a due time: waits for its endpoint. */
    paused: number
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
  series: {
    stepSeconds: number
    points: SeriesPoint[]
  }
  troubled: TroubledEndpoint[]
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

export interface Session {
  /** Null when nobody is signed in. */
  kind: 'operator' | 'client' | null
  /** The name of the operator’s key. */
  actor?: string
  role?: Role
  clientId?: string
  clientName?: string
  /** The client’s accounts, oldest first, 100 at most. */
  accounts?: Account[]
  mode: 'sandbox' | 'production'
  version: string
  timeScale: number
  expiresAt?: string
}

export interface SandboxReceiver {
  name: string
  script: number[]
  delayMs: number
  body: string
  redirectTo: string | null
  /** How many came in all. */
  count: number
  /** The latest 100, newest first. */
  received: {
    at: string
    /** What was answered. */
    status: number
    headers: Record<string, string>
    /** The first 8 KiB. */
    body: string
    bodyBytes: number
    signatureValid: boolean | null
  }[]
}
