// The exact bytes of an event's callback body, of any client: for the operator.

import { findEvent } from '../../store/history/delivery-search.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound } from '../shared/service-errors.ts'
import { viewEventBody } from './view-events.ts'

export async function viewAnyEventBody(
  deps: Deps,
  eventId: string,
): Promise<readonly Uint8Array[]> {
  const found = await findEvent(deps.pool, eventId)
  if (found === null) throw notFound()
  const scope = { clientKey: found.clientKey, accountId: null }
  return (await viewEventBody(deps, scope, eventId)).body
}
