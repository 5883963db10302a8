// Deletes an endpoint. Its pending deliveries are cancelled in the same transaction, and nothing more is
// sent to it. Its row and its history stay readable to the operator.

import { inTransaction } from '../store/db.ts'
import { cancelDeliveriesOf } from '../store/deliveries.ts'
import { type EndpointScope, lockEndpoint, markDeleted } from '../store/endpoints.ts'
import type { Deps } from './parts/deps.ts'
import { notFound } from './parts/failures.ts'

export async function deleteEndpoint(
  deps: Deps,
  scope: EndpointScope,
  endpointId: string,
): Promise<void> {
  const now = new Date(deps.clock.nowMs())
  const deleted = await inTransaction(deps.pool, async (db) => {
    const locked = await lockEndpoint(db, scope, endpointId)
    if (locked === null) throw notFound()
    await markDeleted(db, scope.clientKey, locked.endpoint.id, now)
    await cancelDeliveriesOf(db, scope.clientKey, locked.endpoint.id, now)
    return locked
  })
  deps.engine.endpointChanged(scope.clientKey, deleted.endpoint.id, deleted.shard)
}
