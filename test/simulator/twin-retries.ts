// Retries in the twin, as store/owed/retries does them.

import { existing, probeNow } from './twin-endpoints.ts'
import { type PendingRow, pendingOf, type Stored, whole } from './twin-tables.ts'

/**
 * Everything that the payment is owed at the endpoint is due now, a replay alone. Null when the delivery is not
 * pending or its endpoint is not active.
 */
export function retryDelivery(
  twin: Stored,
  deliveryId: string,
  nowMs: number,
): readonly PendingRow[] | null {
  const row = twin.tables.pending.get(deliveryId)
  if (row === undefined || !markRetried(twin, row.endpointId, nowMs)) return null
  const strand = pendingOf(twin, row.clientKey, row.endpointId).filter((other) =>
    row.isReplay ? other.id === row.id : other.paymentId === row.paymentId && !other.isReplay,
  )
  for (const owed of strand) owed.nextAttemptAtMs = whole(nowMs)
  return strand
}

/** Everything that the endpoint is owed is due now, but for what is parked. Null when it is not active. */
export function retryEndpoint(
  twin: Stored,
  endpointId: string,
  nowMs: number,
): readonly PendingRow[] | null {
  const endpoint = markRetried(twin, endpointId, nowMs)
  if (endpoint === null) return null
  const owed = pendingOf(twin, endpoint.clientKey, endpointId)
  for (const row of owed) if (row.nextAttemptAtMs !== null) row.nextAttemptAtMs = whole(nowMs)
  return owed
}

function markRetried(twin: Stored, endpointId: string, nowMs: number) {
  const endpoint = existing(twin, endpointId)
  if (endpoint?.status !== 'ACTIVE') return null
  const later = (ms: number | null) => Math.max(ms ?? 0, whole(nowMs))
  endpoint.deliveriesChangedAtMs = later(endpoint.deliveriesChangedAtMs)
  endpoint.retriedAtMs = later(endpoint.retriedAtMs)
  probeNow(twin, endpointId, nowMs)
  return endpoint
}
