// What lists show of a payment beside its id, read out of its canonical text (core/payments/payment-text). The digits
// of the amount are taken as they stand: JSON.parse would lose some.

import { isErased } from './erasure.ts'
import type { PaymentState } from './payment.ts'

export interface PaymentSummary {
  externalId: string
  amount: { amount: string; currency: string }
  status: { state: PaymentState; reason?: string }
  complete: boolean
  createdAt: string
}

/** No string inside the text can hold this: there each quotation mark has a backslash before it. */
const AMOUNT = /,"amount":\{"amount":([^,}"]+),"currency":"([A-Z]{3})"\}/

/** Null for a payment that was erased. */
export function summaryOf(text: string): PaymentSummary | null {
  if (isErased(text)) return null
  const [, amount, currency] = AMOUNT.exec(text) ?? []
  if (amount === undefined || currency === undefined) return null
  const { externalId, status, complete, createdAt } = JSON.parse(text) as PaymentSummary
  return { externalId, amount: { amount, currency }, status, complete, createdAt }
}

/** JSON, with the amount as the number that it is. */
export function moneyText({ amount, currency }: PaymentSummary['amount']): string {
  return `{"amount":${amount},"currency":"${currency}"}`
}
