// One of a client's payments, and for each endpoint of its account why it gets the newest update, or does not.

import { type WhyOwedCode, whyOwed } from '../../core/delivery/why-owed.ts'
import { isErased } from '../../core/payments/erasure.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import { readEndpointsOfAccount } from '../../store/endpoints/endpoints.ts'
import { readDeliveriesOfEvents } from '../../store/history/delivery-details.ts'
import { readEventsOfPayment } from '../../store/history/events.ts'
import { type PaymentView, readPayment } from '../../store/payments/payments.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound } from '../shared/service-errors.ts'

export interface EndpointOfPayment {
  endpointId: string
  endpointUrl: string
  deliveryId: string | null
  state: string | null
  code: WhyOwedCode
  explanation: string
}

/** `accountId` narrows, where it is given. */
export async function viewOwnPayment(
  deps: Deps,
  of: { clientKey: number; accountId: string | null },
  paymentId: string,
): Promise<{ payment: PaymentView; endpoints: readonly EndpointOfPayment[] }> {
  const payment = await readPayment(deps.pool, paymentId, of.clientKey)
  if (payment === null) throw notFound()
  if (of.accountId !== null && payment.accountId !== of.accountId) throw notFound()
  if (isErased(payment.text)) throw new ServiceError('payload-expired', 'The payment was erased.')
  return { payment, endpoints: await explain(deps, payment) }
}

/** Nothing where the newest update is older than the retention. */
async function explain(
  { pool, clock }: Deps,
  { clientKey, id, accountId }: PaymentView,
): Promise<readonly EndpointOfPayment[]> {
  const [event] = await readEventsOfPayment(pool, clientKey, id, { limit: 1, beforeSequence: null })
  if (event === undefined) return []
  const endpoints = await readEndpointsOfAccount(pool, clientKey, accountId)
  const found = await readDeliveriesOfEvents(pool, clientKey, [event.id])
  const deliveries = new Map((found.get(event.id) ?? []).map((one) => [one.endpointId, one]))
  return endpoints.map(({ id: endpointId, url, settings, status, createdAt }) => {
    const { id: deliveryId = null, state = null } = deliveries.get(endpointId) ?? {}
    const explained = { events: settings?.events ?? null, status, createdAt }
    const why = whyOwed(explained, event, state, clock.nowMs())
    return { endpointId, endpointUrl: url, deliveryId, state, ...why }
  })
}
