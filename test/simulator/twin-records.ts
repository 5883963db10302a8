// What the twin holds, as plain records for the checks.

import type { FailingWrite, RunRecord, StoredDelivery } from './records.ts'
import { type HealthRow, stateOf, type Tables } from './twin-tables.ts'

export function storedDeliveries(tables: Tables): StoredDelivery[] {
  return [...tables.pending.values(), ...tables.final.values()].map((row) => ({
    id: row.id,
    eventId: row.eventId,
    endpointId: row.endpointId,
    paymentId: row.paymentId,
    sequence: row.sequence,
    state: stateOf(tables, row.id) ?? 'PENDING',
    attempts: row.attempts,
    nextAttemptAtMs: 'nextAttemptAtMs' in row ? row.nextAttemptAtMs : null,
    deadlineAtMs: row.deadlineAtMs,
    isReplay: 'isReplay' in row && row.isReplay,
  }))
}

export function storedHealth({ health }: Tables): NonNullable<RunRecord['health']> {
  return [...health].map(([endpointId, { attempts }]) => ({ endpointId, attempts }))
}

/** One where an endpoint is shown as failing since before a success that was known, otherwise none. */
export function failingWrites(
  atMs: number,
  endpointId: string,
  { lastSuccessAtMs }: HealthRow,
  { failingSinceMs }: HealthRow,
  writerMs: number,
): FailingWrite[] {
  if (failingSinceMs === null || lastSuccessAtMs === null) return []
  if (failingSinceMs >= lastSuccessAtMs) return []
  return [{ endpointId, atMs, writerMs, knownSuccessAtMs: lastSuccessAtMs, failingSinceMs }]
}
