// The body of a delivery's callbacks, as its endpoint gets documents: the same bytes on every attempt.

import { callbackBodyWithoutFile } from '../core/callback.ts'
import type { DeliveryDetail } from '../store/delivery-details.ts'
import type { Deps } from './parts/deps.ts'
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
  const url = documentMode === 'link' ? deps.documentLink(eventId, endpointId) : null
  return callbackBodyWithoutFile(text, url)
}
