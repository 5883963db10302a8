import type { PaymentState } from '../../api/types.ts'

/** In the order of a payment's life, not of the interface. */
export const PAYMENT_STATES: readonly PaymentState[] = [
  'DRAFT',
  'PENDING_APPROVAL',
  'DUE',
  'PAID',
  'CANCELLED',
]
