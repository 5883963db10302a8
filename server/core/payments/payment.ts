// The words of a payment: its fields, states, purposes and kinds of event, and the limits on them.
// Every list and limit is written once, here; the checks, the published schema and the docs read
// it. Inside, money is decimal text and instants are the text that was given, so that nothing is
// rounded.
//   DRAFT ─▶ PENDING_APPROVAL ─▶ DUE ─▶ PAID        DRAFT ─▶ DUE   PENDING_APPROVAL ─▶ DRAFT
//   every state but PAID ─▶ CANCELLED;              PAID and CANCELLED are final

export const PAYMENT_STATES = ['DRAFT', 'CANCELLED', 'PENDING_APPROVAL', 'DUE', 'PAID'] as const
export type PaymentState = (typeof PAYMENT_STATES)[number]

/** Where a payment may go from each state; staying where it is is no move. */
export const MOVES: Readonly<Record<PaymentState, readonly PaymentState[]>> = {
  DRAFT: ['PENDING_APPROVAL', 'DUE', 'CANCELLED'],
  PENDING_APPROVAL: ['DRAFT', 'DUE', 'CANCELLED'],
  DUE: ['PAID', 'CANCELLED'],
  PAID: [],
  CANCELLED: [],
}

export function isFinal(state: PaymentState): boolean {
  return MOVES[state].length === 0
}

export const EVENT_KINDS = [
  'payment.created',
  'payment.pending_approval',
  'payment.due',
  'payment.paid',
  'payment.cancelled',
  'payment.updated',
] as const
export type EventKind = (typeof EVENT_KINDS)[number]

export const PURPOSES = [
  'COMPUTER_SERVICES',
  'FAMILY_SUPPORT',
  'EDUCATION',
  'MEDICAL_TREATMENT',
  'MAINTENANCE_EXPENSES',
  'TRAVEL',
  'SMALL_VALUE_REMITTANCE',
  'CONSTRUCTION_EXPENSES',
  'HOTEL_ACCOMMODATION',
  'ADVERTISING_EXPENSES',
  'ADVISORY_FEES',
  'BUSINESS_INSURANCE',
  'INSURANCE_CLAIMS',
  'DELIVERY_FEES',
  'EXPORTED_GOODS',
  'SERVICE_CHARGES',
  'LOAN_PAYMENT',
  'OFFICE_EXPENSES',
  'PROPERTY_PURCHASE',
  'PROPERTY_RENTAL',
  'ROYALTY_FEES',
  'SHARES_INVESTMENT',
  'FUND_INVESTMENT',
  'TAX_PAYMENT',
  'TRANSPORTATION_FEES',
  'UTILITY_BILLS',
  'PERSONAL_TRANSFER',
  'SALARY_PAYMENT',
  'INFLUENCER_PAYMENT',
  'DIVIDEND_PAYMENT',
  'OTHER_FEES',
  'OTHER',
] as const
export type Purpose = (typeof PURPOSES)[number]

export const CURRENCY = /^[A-Z]{3}$/

/** Characters are Unicode code points, as in JSON Schema's maxLength. */
export const TEXT_CHARACTERS_MAX = 1_024
/** Two names of at most 127 characters (RFC 6838 §4.2), the slash, and room for parameters. */
export const MEDIA_TYPE_CHARACTERS_MAX = 320
export const AMOUNT_CHARACTERS_MAX = 40
export const AMOUNT_EXPONENT_MAX = 30
export const FILE_BYTES_MAX = 10 * 1_024 * 1_024
export const FILE_BASE64_CHARACTERS_MAX = Math.ceil(FILE_BYTES_MAX / 3) * 4
/** The largest file, and every other field at its limit with each character written as escapes. */
export const PAYMENT_BODY_BYTES_MAX = FILE_BASE64_CHARACTERS_MAX + 128 * 1_024

export interface PaymentStatus {
  state: PaymentState
  reason: string | null
}

/** `amount` is the decimal exactly as it came in: 100.00 and 1e2 are two spellings, both kept. */
export interface Money {
  amount: string
  currency: string
}

export interface DocumentFile {
  /** The ASCII bytes of the base64, ready to be stored and sent. */
  base64: Uint8Array
  /** SHA-256 of the decoded file: what it is stored under, once. */
  hash: Uint8Array
  sizeBytes: number
}

export interface PaymentDocument {
  mediaType: string
  name: string
  file: DocumentFile
}

/** What a write says and a payment has. Null is an optional field that is not there. */
interface PaymentFields {
  /** Uuids are in lower case: that is how RFC 9562 §4 writes them, and how the database does. */
  id: string
  externalId: string
  quoteId: string
  amount: Money
  reference: string
  purposeOfPayment: Purpose
  beneficiaryId: string
  documentReference: string | null
  document: PaymentDocument | null
}

export interface Payment extends PaymentFields {
  status: PaymentStatus
  createdAt: string
  completedAt: string | null
}

/** One write of the operator's side: the whole payment, but for what the service knows better. */
export interface PaymentWrite extends PaymentFields {
  /** Null means as it was: DRAFT at first, later unchanged, the reason included. */
  status: PaymentStatus | null
  createdAt: string | null
  completedAt: string | null
  /** The source's own number of this write; null when it does not count them. */
  version: number | null
}
