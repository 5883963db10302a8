// The shapes of the HTTP API that the console reads, as /openapi.json describes them.

export type Role = 'admin' | 'ingest' | 'viewer'

export interface Session {
  kind: 'operator' | 'client'
  /** An operator's key, by its name. */
  actor?: string
  role?: Role
  clientId?: string
  clientName?: string
  accounts?: readonly { id: string; name: string }[]
  mode: 'sandbox' | 'production'
  version: string
  timeScale: number
  expiresAt: string
}

/** Lists that end: webhooks, clients, keys. */
export interface Page<T> {
  content: readonly T[]
  totalPages: number
  totalElements: number
  size: number
  number: number
}

/** Lists that grow without end: deliveries, payments, events, audit. */
export interface CursorPage<T> {
  items: readonly T[]
  next: string | null
}

export type DeliveryState = 'PENDING' | 'DELIVERED' | 'EXHAUSTED' | 'SUPERSEDED' | 'CANCELLED'

export type EventKind =
  | 'payment.created'
  | 'payment.pending_approval'
  | 'payment.due'
  | 'payment.paid'
  | 'payment.cancelled'
  | 'payment.updated'

export interface Delivery {
  id: string
  eventId: string
  event: EventKind
  paymentId: string
  sequence: number
  endpointId: string
  endpointUrl: string
  state: DeliveryState
  attempts: number
  createdAt: string
  nextAttemptAt: string | null
  deadlineAt: string | null
  lastOutcome: string | null
  /** To the operator only. */
  clientId?: string
  accountId?: string
}

export type EndpointStatus = 'ACTIVE' | 'PAUSED' | 'DISABLED' | 'DELETED'
export type Circuit = 'CLOSED' | 'OPEN' | 'HALF_OPEN'

export interface Health {
  failingSince: string | null
  lastSuccessAt: string | null
  lastError: string | null
  pending: number
  circuit: Circuit
  successRate24h: number | null
  p95Ms: number | null
}

export interface Webhook {
  id: string
  endpointUrl: string
  hmacHeaderName: string
  algorithm: string
  status: EndpointStatus
  accountId?: string
  health?: Health
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

export interface TroubledEndpoint {
  endpointId: string
  clientId: string
  endpointUrl: string
  status: EndpointStatus
  circuit: Circuit
  failingSince: string | null
  pending: number
  lastError: string | null
}

export type StatsWindow = 'hour' | 'day' | 'week'

export interface Stats {
  version: string
  at: string
  processes: readonly {
    id: string
    host: string
    version: string
    startedAt: string
    seenAt: string
    shards: readonly number[]
  }[]
  deliveries: Readonly<Record<DeliveryState, number>>
  pending: { due: number; scheduled: number; paused: number }
  inFlight: number
  oldestDueAgeSeconds: number
  /** What is overdue has no `from`, what is due after the 7 days no `to`. */
  pendingByDue: readonly { from: string | null; to: string | null; count: number }[]
  series: { stepSeconds: number; points: readonly SeriesPoint[] }
  troubled: readonly TroubledEndpoint[]
}

export interface Setting {
  name: string
  isSecret: boolean
  isSet: boolean
  /** Null for secrets and for what is not set. */
  value: string | null
  source: 'environment' | 'file' | 'default' | null
  about: string
}

export interface AcceptedEvent {
  eventId: string
  event: EventKind
  paymentId: string
  accountId: string
  sequence: number
  deliveries: number
  at: string
}

export interface AttemptEvent {
  deliveryId: string
  eventId: string
  endpointId: string
  attempt: number
  outcome: string
  status: number | null
  at: string
}
