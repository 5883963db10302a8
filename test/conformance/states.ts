// What the twin holds and what PostgreSQL holds, in one form that can be compared.

import type { Pool } from 'pg'
import type { Twin } from '../simulator/twin.ts'

export type State = Record<string, readonly unknown[]>

const QUERIES: Readonly<Record<string, string>> = {
  payments: 'select id, account_id, sequence, version, text from payments order by id',
  pending: `select id, event_id, endpoint_id, payment_id, sequence, kind, shard, created_at,
      next_attempt_at, attempts, run_attempts, first_attempt_at, first_failed_at, deadline_at,
      is_replay, last_outcome, last_status
    from pending_deliveries order by id`,
  final: `select id, event_id, endpoint_id, state, attempts, deadline_at, finished_at, last_outcome,
      last_status
    from final_deliveries order by id`,
  attempts: `select delivery_id, attempt, at, duration_ms, outcome, status
    from attempts order by delivery_id, attempt, at`,
  events: 'select id, payment_id, sequence, kind, text from events order by id',
  endpoints: `select id, status, inactive_since, changed_at, deliveries_changed_at, retried_at,
      deleted_at, previous_key_until
    from endpoints order by id`,
  health: `select endpoint_id, failing_since, last_success_at, last_failure_at, last_error, circuit,
      next_probe_at
    from endpoint_health order by endpoint_id`,
  leases: 'select shard, epoch, owner, beat from leases order by shard',
  processes: 'select id, beat from processes order by id',
}

export async function readState(pool: Pool): Promise<State> {
  const state: State = {}
  for (const [table, text] of Object.entries(QUERIES)) {
    const { rows } = await pool.query({ text, rowMode: 'array' })
    state[table] = rows.map((row: unknown[]) =>
      row.map((value) => (value instanceof Date ? value.getTime() : value)),
    )
  }
  return state
}

export function twinState({ tables }: Twin): State {
  return {
    payments: sorted(tables.payments, ([id, row]) => [
      id,
      row.accountId,
      row.sequence,
      row.version,
      row.text,
    ]),
    pending: sorted(tables.pending.values(), (row) => [
      row.id,
      row.eventId,
      row.endpointId,
      row.paymentId,
      row.sequence,
      row.kind,
      row.shard,
      row.createdAtMs,
      row.nextAttemptAtMs,
      row.attempts,
      row.runAttempts,
      row.firstAttemptAtMs,
      row.firstFailedAtMs,
      row.deadlineAtMs,
      row.isReplay,
      row.lastOutcome,
      row.lastStatus,
    ]),
    final: sorted(tables.final.values(), (row) => [
      row.id,
      row.eventId,
      row.endpointId,
      row.state,
      row.attempts,
      row.deadlineAtMs,
      row.finishedAtMs,
      row.lastOutcome,
      row.lastStatus,
    ]),
    attempts: sorted(tables.attempts.values(), (row) => [
      row.deliveryId,
      row.attempt,
      row.atMs,
      row.durationMs,
      row.outcome,
      row.status,
    ]),
    events: sorted(tables.events.values(), (row) => [
      row.id,
      row.paymentId,
      row.sequence,
      row.kind,
      row.text,
    ]),
    endpoints: sorted(tables.endpoints.values(), (row) => [
      row.id,
      row.status,
      row.inactiveSinceMs,
      row.changedAtMs,
      row.deliveriesChangedAtMs,
      row.retriedAtMs,
      row.deletedAtMs,
      row.previousKeyUntilMs,
    ]),
    health: sorted(tables.health, ([endpointId, row]) => [
      endpointId,
      row.failingSinceMs,
      row.lastSuccessAtMs,
      row.lastFailureAtMs,
      row.lastError,
      row.circuit,
      row.nextProbeAtMs,
    ]),
    leases: sorted(tables.leases.values(), (row) => [row.shard, row.epoch, row.owner, row.beat]),
    processes: sorted(tables.processes, ([id, { beat }]) => [id, beat]),
  }
}

function sorted<T>(rows: Iterable<T>, toCells: (row: T) => unknown[]): unknown[][] {
  const cells = [...rows].map(toCells)
  return cells.sort((one, other) => compare(one, other))
}

/** By the first cells, as the statements order their rows. */
function compare(one: readonly unknown[], other: readonly unknown[]): number {
  for (const [index, value] of one.entries()) {
    const against = other[index]
    if (value === against) continue
    return (value as string | number) < (against as string | number) ? -1 : 1
  }
  return 0
}
