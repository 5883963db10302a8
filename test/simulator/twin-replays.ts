// A replay in the twin, as store/owed/replays does it.

import { existing } from './twin-endpoints.ts'
import { type PendingRow, type Stored, whole } from './twin-tables.ts'

/** A final delivery begins a new run, outside the order; null when it is not final or its endpoint is gone. */
export function replayDelivery(twin: Stored, deliveryId: string, nowMs: number): PendingRow | null {
  const { final, pending } = twin.tables
  const row = final.get(deliveryId)
  const endpoint = row && existing(twin, row.endpointId)
  if (!row || !endpoint) return null
  const { state, finishedAtMs: _, attemptsBegun = 0, ...kept } = row
  const again: PendingRow = {
    ...kept,
    attempts:
      state === 'CANCELLED'
        ? Math.max(row.attempts, attemptsBegun, newestAttempt(twin, deliveryId))
        : row.attempts,
    shard: endpoint.shard,
    // What waits for its endpoint is parked.
    nextAttemptAtMs: endpoint.status === 'ACTIVE' ? whole(nowMs) : null,
    runAttempts: 0,
    firstAttemptAtMs: null,
    firstFailedAtMs: null,
    deadlineAtMs: null,
    isReplay: true,
  }
  final.delete(deliveryId)
  pending.set(deliveryId, again)
  return again
}

/** An attempt that was under way at a cancellation may have been recorded since. */
function newestAttempt({ tables }: Stored, deliveryId: string): number {
  let newest = 0
  for (const row of tables.attempts.values()) {
    if (row.deliveryId === deliveryId) newest = Math.max(newest, row.attempt)
  }
  return newest
}
