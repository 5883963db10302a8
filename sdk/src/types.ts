// The shapes that go over the wire, as callers import them. One differs on purpose: `amount.amount`
// is a JSON number there and its exact text here, because a binary float would lose digits silently.

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

export interface Money {
  /** The exact decimal as it was written, such as `'1250.00'`. See `toMinorUnits`. */
  amount: string
  /** Three capital letters. */
  currency: string
}

export interface PaymentDocument {
  mediaType: string
  name: string
  /** In callbacks; answers of the interface leave it out. */
  base64EncodedFile?: string
}

export interface Payment {
  id: string
  status?: { state: PaymentState; reason?: string }
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

export type EventKind =
  | 'payment.created'
  | 'payment.pending_approval'
  | 'payment.due'
  | 'payment.paid'
  | 'payment.cancelled'
  | 'payment.updated'

export type EndpointStatus = 'ACTIVE' | 'PAUSED' | 'DISABLED'

/** An address that Paybell delivers to: a webhook or a subscription. */
export interface Endpoint {
  id: string
  endpointUrl: string
  hmacHeaderName: string
  algorithm: 'SHA_256'
  status: EndpointStatus
}

export interface EndpointHealth {
  failingSince: string | null
  lastSuccessAt: string | null
  lastError: string | null
  pending: number
  circuit: 'CLOSED' | 'OPEN' | 'HALF_OPEN'
  successRate24h: number | null
  p95Ms: number | null
}

export interface EndpointDetail extends Endpoint {
  health: EndpointHealth
}

export interface Webhook extends Endpoint {
  /** In lists over all accounts. */
  accountId?: string
}

/** Its callbacks are fetched, one by one. */
export interface Listener {
  id: string
  name: string
  accountId: string
  /** `PAUSED` while nobody asks. */
  status: Endpoint['status']
  hmacHeaderName: string
  algorithm: string
}

/** A callback to forward, and to answer. */
export interface ListenerOffer {
  offerId: string
  /** Null for a test. */
  deliveryId: string | null
  eventId: string
  attempt: number
  headers: [name: string, value: string][]
  /** The exact bytes that are signed. */
  bodyBase64: string
  timeoutMs: number
  deadlineAt: string
}

export interface Page<Item> {
  content: Item[]
  totalPages: number
  totalElements: number
  size: number
  number: number
}

export type DeliveryState = 'PENDING' | 'DELIVERED' | 'EXHAUSTED' | 'SUPERSEDED' | 'CANCELLED'

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
}

export interface DeliveryAttempt {
  attempt: number
  at: string
  durationMs: number
  status: number | null
  error: string | null
  /** How the body of the answer began; null where there was none. */
  excerpt: string | null
}

export interface DeliveryDetail extends Delivery {
  attemptLog: DeliveryAttempt[]
  /** Plain words: why it is where it is, what comes next and when. */
  explanation: string
}

/** A delivery that is to be sent again. */
export interface ReplayedDelivery {
  id: string
  state: DeliveryState
  attempts: number
  /** Null while its endpoint is not active. */
  nextAttemptAt: string | null
}

/** One accepted change of one payment, as the feed tells it. */
export interface PaymentEvent {
  id: string
  event: EventKind
  sequence: number
  paymentId: string
  createdAt: string
  payment: Payment
}

export interface TestResult {
  delivered: boolean
  status: number | null
  durationMs: number
  error: string | null
}

/** What the signature doctor says. */
export interface Diagnosis {
  valid: boolean
  findings: { code: string; detail: string }[]
}

/** How a receiver did. */
export interface CheckReport {
  url: string
  at: string
  durationMs: number
  /** No step has failed. */
  passed: boolean
  counts: { pass: number; fail: number; warning: number }
  steps: {
    code: string
    title: string
    result: 'pass' | 'fail' | 'warning'
    reason: string
    /** What to do about it. */
    mend: string | null
  }[]
}

/** The body of an error answer (RFC 9457). */
export interface Problem {
  type: string
  title: string
  status: number
  detail: string
  instance: string
  /** Stable; each has a page at `type`. */
  code: string
  /** All wrong fields at once. */
  errors?: { pointer: string; code: string; detail: string }[]
}
