// The operator's view of payments. Writing them is producer.ts.

import { type Caller, segment } from '../calling/caller.ts'
import { cursorItems } from '../calling/lists.ts'
import type { CallOptions } from '../calling/transport.ts'
import type {
  ErasedPayment,
  OperatorPayment,
  OperatorPaymentEvent,
  OperatorPaymentQuery,
} from '../wire/operator-types.ts'
import type { CursorPage } from '../wire/types.ts'

const PAYMENTS = '/operator/v1/payments'

export type PaymentCalls = ReturnType<typeof paymentCalls>

export function paymentCalls({ call, get }: Caller) {
  const eventsOf = (id: string) => `${PAYMENTS}/${segment(id)}/events`
  return {
    /** Newest first, by their first write. */
    list: (query: OperatorPaymentQuery = {}, details?: CallOptions) =>
      get<CursorPage<OperatorPayment>>(PAYMENTS, query, details),
    all: (query: OperatorPaymentQuery = {}, details?: CallOptions) =>
      cursorItems<OperatorPayment>(get, PAYMENTS, query, details),
    get: (id: string, details?: CallOptions) =>
      get<OperatorPayment>(`${PAYMENTS}/${segment(id)}`, undefined, details),
    /** Newest first, each with its deliveries. */
    events: (
      id: string,
      query: { limit?: number | undefined; after?: string | undefined } = {},
      details?: CallOptions,
    ) => get<CursorPage<OperatorPaymentEvent>>(eventsOf(id), query, details),
    /** Removes what it tells of people, for good: from the payment, its events and its files. */
    erase: (id: string, details?: CallOptions) =>
      call<ErasedPayment>('POST', `${PAYMENTS}/${segment(id)}/erase`, { ...details, isSafe: true }),
  }
}
