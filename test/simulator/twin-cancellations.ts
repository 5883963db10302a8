// A cancellation in the twin, as store/owed/cancellations and released-strands do it.

import { endDelivery, type PendingRow, pendingOf, type Stored, whole } from './twin-tables.ts'

/** It ends, and what waited for it in the order is due. Returns that; null when it is not pending. */
export function cancelDelivery(
  twin: Stored,
  deliveryId: string,
  nowMs: number,
): readonly PendingRow[] | null {
  const { pending, endpoints, final } = twin.tables
  const row = pending.get(deliveryId)
  if (row === undefined) return null
  const nowWhole = whole(nowMs)
  const endpoint = endpoints.get(row.endpointId)
  if (endpoint) {
    endpoint.deliveriesChangedAtMs = Math.max(endpoint.deliveriesChangedAtMs ?? 0, nowWhole)
  }
  endDelivery(twin, row, 'CANCELLED', nowMs)
  const ended = final.get(deliveryId)
  const inactiveSinceMs = endpoint?.inactiveSinceMs ?? null
  const mayBeUnderWay = (row.nextAttemptAtMs ?? 0) <= whole(nowMs + 1_000)
  const isSending = inactiveSinceMs === null || inactiveSinceMs > whole(nowMs - 60_000)
  if (ended && mayBeUnderWay && isSending) ended.attemptsBegun = row.attempts + 1
  if (row.isReplay) return []
  const released = pendingOf(twin, row.clientKey, row.endpointId).filter(
    (other) =>
      other.paymentId === row.paymentId &&
      !other.isReplay &&
      (other.nextAttemptAtMs ?? 0) > nowWhole &&
      (other.runAttempts === 0 || (row.attempts > 0 && other.sequence < row.sequence)),
  )
  for (const other of released) other.nextAttemptAtMs = nowWhole
  return released
}
