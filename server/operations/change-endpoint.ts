// Pauses or resumes an endpoint. A paused one loses nothing: its deliveries wait, and are due when it is active
// again, with the time that they waited added to their run. One that was down is probed first.

import type { Endpoint, OwnerStatus } from '../core/endpoint.ts'
import { inTransaction } from '../store/db.ts'
import { releaseDeliveriesOf } from '../store/deliveries.ts'
import { type EndpointScope, lockEndpoint, saveStatus } from '../store/endpoints.ts'
import { probeResumed } from '../store/retries.ts'
import { type Audit, NO_AUDIT } from './parts/audit.ts'
import type { Deps } from './parts/deps.ts'
import { notFound } from './parts/failures.ts'

export async function changeEndpoint(
  deps: Deps,
  scope: EndpointScope,
  endpointId: string,
  status: OwnerStatus,
  audit: Audit = NO_AUDIT,
): Promise<Endpoint> {
  const now = new Date(deps.clock.nowMs())
  const { endpoint, shard, inactiveSince } = await inTransaction(deps.pool, async (db) => {
    const locked = await lockEndpoint(db, scope, endpointId)
    if (locked === null) throw notFound()
    const change = { field: 'status', before: locked.endpoint.status, after: status }
    await audit(db, `endpoint:${locked.endpoint.id}`, [change])
    if (locked.endpoint.status === status) return locked
    const { id } = locked.endpoint
    // Pausing what was disabled keeps the moment since which nothing has been sent.
    const inactiveSince = status === 'ACTIVE' ? null : (locked.inactiveSince ?? now)
    await saveStatus(db, scope.clientKey, id, { status, inactiveSince }, now)
    if (status === 'ACTIVE') {
      await probeResumed(db, scope.clientKey, id, now)
      await releaseDeliveriesOf(db, scope.clientKey, id, locked.inactiveSince ?? now, now)
    }
    return locked
  })
  const isResumed = status === 'ACTIVE' && inactiveSince !== null
  deps.engine.endpointChanged(scope.clientKey, endpoint.id, shard, isResumed ? now.getTime() : 0)
  return { ...endpoint, status }
}
