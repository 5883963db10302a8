// The words that callers choose from, as values, in the interface's own order.
// Written by `npm run wire` from the schemas of server/http; a test compares them.

import type { DeliveryState, EventKind, PaymentState, PurposeOfPayment } from '../wire/types.ts'

export const PAYMENT_STATES: readonly PaymentState[] = [
  'DRAFT',
  'CANCELLED',
  'PENDING_APPROVAL',
  'DUE',
  'PAID',
]

export const PURPOSES: readonly PurposeOfPayment[] = [
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
]

export const EVENT_KINDS: readonly EventKind[] = [
  'payment.created',
  'payment.pending_approval',
  'payment.due',
  'payment.paid',
  'payment.cancelled',
  'payment.updated',
]

export const DELIVERY_STATES: readonly DeliveryState[] = [
  'PENDING',
  'DELIVERED',
  'EXHAUSTED',
  'SUPERSEDED',
  'CANCELLED',
]
