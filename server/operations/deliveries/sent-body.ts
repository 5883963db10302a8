// The body of a delivery's callbacks, as its endpoint gets documents: the same bytes on every attempt.

import { callbackBodyWithoutFile } from '../../core/delivery/callback.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import {
  type DeliveryDetail,
  type Of,
  readDeliveryDetail,
} from '../../store/history/delivery-details.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound } from '../shared/service-errors.ts'
import { findKeptBody, findKeptText } from './view-events.ts'

/** With the file, with a link in its place, or without it; in parts. Null when it is no longer kept. */
export async function findSentBody(
  deps: Deps,
  { clientKey, eventId, endpointId, documentMode }: DeliveryDetail,
): Promise<readonly Uint8Array[] | null> {
  const scope = { clientKey, accountId: null }
  if (documentMode === null) return findKeptBody(deps, scope, eventId)
  const text = await findKeptText(deps, scope, eventId)
  if (text === null) return null
  const key = { clientKey, eventId, endpointId }
  const url = documentMode === 'link' ? await deps.callbackLinks.toShow(key) : null
  return callbackBodyWithoutFile(text, url)
}

/** The same for a caller who knows the delivery's id. */
export async function viewSentBody(
  deps: Deps,
  of: Of,
  deliveryId: string,
): Promise<readonly Uint8Array[]> {
  const delivery = await readDeliveryDetail(deps.pool, deliveryId, of)
  if (delivery === null) throw notFound()
  const body = await findSentBody(deps, delivery)
  if (body !== null) return body
  throw new ServiceError('payload-expired', 'The bytes of this delivery are no longer kept.')
}
