import type { PaymentState } from '../../api/types.ts'

/** In the order of a payment's life, not of the interface. */
export const PAYMENT_STATES: readonly PaymentState[] = [
  'DRAFT',
  'PENDING_APPROVAL',
  'DUE',
  'PAID',
  'CANCELLED',
]

/** In a table: more would push the other columns out, or double the height of a row. */
export const EXTERNAL_ID_CHARACTERS_MAX = 28
