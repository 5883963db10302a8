// A client's payments, newest first, each with how its deliveries stand.

import type { CursorPage } from '../../core/asking/opaque-cursors.ts'
import type { DeliveryState } from '../../core/delivery/delivery.ts'
import { type PaymentSummary, summaryOf } from '../../core/payments/payment-summary.ts'
import { countDeliveries, type DeliveryCounts } from '../../store/history/payment-deliveries.ts'
import type { Caller } from '../access/verify-token.ts'
import type { Deps } from '../shared/deps.ts'
import {
  type CursorRequest,
  type PaymentFilter,
  type PaymentItem,
  viewPayments,
} from './view-payments.ts'

export interface OwnPayment {
  payment: PaymentItem
  summary: PaymentSummary
  deliveries: DeliveryCounts
}

export async function viewOwnPayments(
  deps: Deps,
  { clientKey, clientId }: Caller,
  filter: Omit<PaymentFilter, 'clientId' | 'search'>,
  request: CursorRequest,
): Promise<CursorPage<OwnPayment>> {
  const page = await viewPayments(deps, { ...filter, clientId, search: null }, request)
  const ids = page.items.map(({ id }) => id)
  const counts = await countDeliveries(deps.pool, clientKey, ids)
  const items = page.items.flatMap((payment) => {
    const summary = summaryOf(payment.text)
    return summary === null ? [] : [{ payment, summary, deliveries: counts.get(payment.id) ?? {} }]
  })
  return { items, next: page.next }
}

/** What needs a look comes first. One that was superseded is no worse than delivered: a newer one arrived. */
const WORST_FIRST: readonly DeliveryState[] = [
  'EXHAUSTED',
  'PENDING',
  'CANCELLED',
  'DELIVERED',
  'SUPERSEDED',
]

/** Null for a payment that no endpoint is told of. */
export function worstOf(counts: DeliveryCounts): DeliveryState | null {
  return WORST_FIRST.find((state) => (counts[state] ?? 0) > 0) ?? null
}
