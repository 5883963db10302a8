// Subscribes an address to every payment of a client. The answer shows a payment, so that a receiver
// can be written against it: the client's own latest one, or else a specimen.

import { specimenPayment } from '../../core/payments/payment-text.ts'
import { readLatestPaymentText } from '../../store/payments/payments.ts'
import type { Caller } from '../access/verify-token.ts'
import type { Deps } from '../shared/deps.ts'
import { type EndpointRequest, saveEndpoint } from './save-endpoint.ts'

export type SubscriptionRequest = Pick<
  EndpointRequest,
  'url' | 'href' | 'sharedKey' | 'header' | 'settings'
>

/** `paymentText` is the payment's JSON, without the content of its document. */
export async function subscribe(
  deps: Deps,
  caller: Caller,
  request: SubscriptionRequest,
): Promise<{ id: string; paymentText: string }> {
  const { clientKey } = caller
  const id = await saveEndpoint(deps, {
    ...request,
    clientKey,
    kind: 'subscription',
    accountId: null,
  })
  const latest = await readLatestPaymentText(deps.pool, clientKey)
  return { id, paymentText: latest ?? specimenPayment(deps.clock.nowMs()) }
}
