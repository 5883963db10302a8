// What the engine records in the twin, as store/owed/outcomes, parked and health record it: nothing changes for
// a shard whose epoch is no longer the recorder's.

import type { ShardEpoch } from '../../server/core/delivery/lease.ts'
import type { HealthDelta } from '../../server/store/endpoints/endpoint-health.ts'
import type { HeldDelivery } from '../../server/store/owed/held-deliveries.ts'
import type { AttemptRecord, Recorded } from '../../server/store/owed/outcomes.ts'
import type { ExhaustedPage, LaneKey, ParkedPage } from '../../server/store/owed/parked.ts'
import type { BegunRuns, Postponement } from '../../server/store/owed/unattempted.ts'
import {
  compareIds,
  endDelivery,
  type HealthRow,
  isHeld,
  type PendingRow,
  pendingOf,
  type Stored,
  whole,
  wholeOrNull,
} from './twin-tables.ts'

export class TwinOutcomes {
  readonly #stored: Stored

  constructor(stored: Stored) {
    this.#stored = stored
  }

  recordOutcomes(records: readonly AttemptRecord[], nowMs: number): Recorded {
    const changed = new Set<string>()
    const lost = new Map<string, ShardEpoch>()
    const mine = records.filter((record) => {
      const isMine = isHeld(this.#stored, record)
      const { shard, epoch } = record
      if (!isMine) lost.set(`${shard}/${epoch}`, { shard, epoch })
      if (!isMine) this.#stored.events.onRefused('stale-epoch', record.id)
      return isMine
    })
    for (const record of mine) this.#insertAttempt(record)
    for (const record of mine) {
      const row = this.#stored.tables.pending.get(record.id)
      if (row === undefined || row.attempts !== record.attempt - 1) {
        this.#stored.events.onRefused('not-pending', record.id)
        continue
      }
      changed.add(row.id)
      row.attempts = record.attempt
      row.deadlineAtMs = whole(record.deadlineAtMs)
      row.lastOutcome = record.outcome
      row.lastStatus = record.status
      if (record.state === 'PENDING') {
        row.runAttempts = record.runAttempt
        row.nextAttemptAtMs = nextTime(
          row,
          record,
          this.#stored.tables.endpoints.get(row.endpointId)?.retriedAtMs ?? null,
        )
        row.firstAttemptAtMs = whole(record.firstAttemptAtMs)
        row.firstFailedAtMs = wholeOrNull(record.firstFailedAtMs)
      } else endDelivery(this.#stored, row, record.state, nowMs)
    }
    // Whatever the record itself met: the newer update was sent.
    for (const record of mine) if (record.supersedes) this.#supersede(record, nowMs)
    return { ids: changed, lost: [...lost.values()] }
  }

  bringForward(lease: ShardEpoch, latestMs: readonly number[], limit: number): number {
    if (!isHeld(this.#stored, lease)) return 0
    let count = 0
    for (const row of this.#stored.tables.pending.values()) {
      const latest = whole(latestMs[row.runAttempts] ?? (latestMs.at(-1) as number))
      if (row.shard !== lease.shard || row.nextAttemptAtMs === null) continue
      if (row.nextAttemptAtMs <= latest || count === limit) continue
      row.nextAttemptAtMs = latest
      count++
    }
    return count
  }

  beginRuns(deliveries: readonly HeldDelivery[], nowMs: number, deadlineMs: number): BegunRuns {
    const lost = new Map<string, ShardEpoch>()
    let count = 0
    for (const given of deliveries) {
      const { shard, epoch } = given
      const row = this.#stored.tables.pending.get(given.id)
      if (!isHeld(this.#stored, given)) lost.set(`${shard}/${epoch}`, { shard, epoch })
      else if (row !== undefined) {
        row.firstAttemptAtMs ??= whole(nowMs)
        row.deadlineAtMs ??= whole(deadlineMs)
        count++
      }
    }
    return { areBegun: count === deliveries.length, lost: [...lost.values()] }
  }

  postpone(postponed: readonly Postponement[]): void {
    for (const given of postponed) {
      const row = this.#stored.tables.pending.get(given.id)
      if (row?.nextAttemptAtMs !== whole(given.knownAtMs) || !isHeld(this.#stored, given)) continue
      row.nextAttemptAtMs = whole(given.nextAttemptAtMs)
    }
  }

  settleInactive(deliveries: readonly HeldDelivery[], nowMs: number): void {
    for (const given of deliveries) {
      const row = this.#stored.tables.pending.get(given.id)
      const endpoint = row && this.#stored.tables.endpoints.get(row.endpointId)
      if (!row || !endpoint || !isHeld(this.#stored, given)) continue
      if (endpoint.deletedAtMs !== null) endDelivery(this.#stored, row, 'CANCELLED', nowMs)
      else if (endpoint.status !== 'ACTIVE') row.nextAttemptAtMs = null
    }
  }

  park(deliveries: readonly HeldDelivery[]): void {
    let count = 0
    for (const given of deliveries) {
      const row = this.#stored.tables.pending.get(given.id)
      if (row === undefined || !isHeld(this.#stored, given)) continue
      row.nextAttemptAtMs = null
      count++
    }
    this.#stored.events.onParked(count)
  }

  exhaustParked(
    lane: LaneKey & { epoch: number },
    { afterId, limit }: ParkedPage,
    nowMs: number,
  ): ExhaustedPage {
    const page = pendingOf(this.#stored, lane.clientKey, lane.endpointId)
      .filter((row) => row.shard === lane.shard && row.nextAttemptAtMs === null && row.id > afterId)
      .sort((one, other) => compareIds(one.id, other.id))
      .slice(0, limit)
    const mayEnd = isHeld(this.#stored, lane) && this.#isActive(lane.endpointId)
    const over = page.filter((row) => mayEnd && isRunOver(row, nowMs))
    for (const row of over) endDelivery(this.#stored, row, 'EXHAUSTED', nowMs)
    const lastId = page.at(-1)?.id ?? null
    return { exhausted: over.length, afterId: page.length < limit ? null : lastId }
  }

  exhaust(deliveries: readonly HeldDelivery[], nowMs: number): void {
    for (const given of deliveries) {
      const row = this.#stored.tables.pending.get(given.id)
      if (row === undefined || !isHeld(this.#stored, given)) continue
      if (isRunOver(row, nowMs) && this.#isActive(row.endpointId))
        endDelivery(this.#stored, row, 'EXHAUSTED', nowMs)
    }
  }

  disableFailing(shards: readonly ShardEpoch[], sinceMs: number, nowMs: number): LaneKey[] {
    const disabled: LaneKey[] = []
    for (const endpoint of this.#stored.tables.endpoints.values()) {
      const failingSinceMs = this.#stored.tables.health.get(endpoint.id)?.failingSinceMs ?? null
      if (endpoint.status !== 'ACTIVE' || endpoint.deletedAtMs !== null) continue
      if (failingSinceMs === null || failingSinceMs >= whole(sinceMs)) continue
      if (endpoint.changedAtMs >= whole(sinceMs)) continue
      if (!shards.some((given) => given.shard === endpoint.shard && isHeld(this.#stored, given)))
        continue
      if (this.#hasDelivered(endpoint.id, whole(sinceMs))) continue
      endpoint.status = 'DISABLED'
      endpoint.inactiveSinceMs = whole(nowMs)
      endpoint.changedAtMs = whole(nowMs)
      const { clientKey, id, shard } = endpoint
      disabled.push({ clientKey, endpointId: id, shard })
      this.#stored.events.onStatus(endpoint)
    }
    return disabled
  }

  #hasDelivered(endpointId: string, sinceMs: number): boolean {
    const finals = this.#stored.tables.final.values()
    return finals.some(
      (row) =>
        row.endpointId === endpointId && row.state === 'DELIVERED' && row.finishedAtMs >= sinceMs,
    )
  }

  saveHealth(deltas: readonly HealthDelta[], nowMs: number): void {
    for (const delta of deltas) {
      const before = this.#stored.tables.health.get(delta.endpointId)
      if (before !== undefined && isOutdated(delta, before, nowMs)) {
        before.attempts += delta.attempts
        this.#stored.events.onOutdatedHealth()
        continue
      }
      const failingSinceMs = wholeOrNull(delta.failingSinceMs)
      const lastSuccessAtMs = wholeOrNull(delta.lastSuccessAtMs)
      const after: HealthRow = {
        attempts: (before?.attempts ?? 0) + delta.attempts,
        failingSinceMs:
          failingSinceMs === null || lastSuccessAtMs !== null
            ? failingSinceMs
            : (before?.failingSinceMs ?? failingSinceMs),
        lastSuccessAtMs: lastSuccessAtMs ?? before?.lastSuccessAtMs ?? null,
        lastFailureAtMs: wholeOrNull(delta.lastFailureAtMs) ?? before?.lastFailureAtMs ?? null,
        lastError: delta.lastError ?? before?.lastError ?? null,
        circuit: delta.circuit,
        nextProbeAtMs: wholeOrNull(delta.nextProbeAtMs),
      }
      this.#stored.tables.health.set(delta.endpointId, after)
      if (before) this.#stored.events.onHealth(delta.endpointId, before, after, nowMs)
      this.#stored.events.onCircuit(delta.circuit, delta.endpointId)
    }
  }

  #isActive(endpointId: string): boolean {
    return this.#stored.tables.endpoints.get(endpointId)?.status === 'ACTIVE'
  }

  #insertAttempt(record: AttemptRecord): void {
    const atMs = whole(record.atMs)
    const key = `${record.id}/${record.attempt}/${atMs}`
    if (this.#stored.tables.attempts.has(key)) return
    this.#stored.tables.attempts.set(key, {
      clientKey: record.clientKey,
      deliveryId: record.id,
      attempt: record.attempt,
      atMs,
      durationMs: Math.round(record.durationMs),
      outcome: record.outcome,
      status: record.status,
    })
  }

  #supersede(record: AttemptRecord, nowMs: number): void {
    for (const row of pendingOf(this.#stored, record.clientKey, record.endpointId)) {
      if (row.paymentId === record.paymentId && row.sequence < record.sequence && !row.isReplay) {
        endDelivery(this.#stored, row, 'SUPERSEDED', nowMs)
      }
    }
  }
}

/** A success is known that came after all of these failures, and not from a clock that was ahead. */
function isOutdated(delta: HealthDelta, { lastSuccessAtMs }: HealthRow, nowMs: number): boolean {
  if (delta.failingSinceMs === null || delta.lastFailureAtMs === null) return false
  if (lastSuccessAtMs === null || lastSuccessAtMs >= whole(nowMs + 60_000)) return false
  return lastSuccessAtMs > whole(delta.lastFailureAtMs)
}

/** A time after the attempt began was set by a retry, during it: that holds. What is parked has none of its own. */
function nextTime(row: PendingRow, record: AttemptRecord, retriedMs: number | null): number | null {
  const nextMs = wholeOrNull(record.nextAttemptAtMs)
  const setMs = row.nextAttemptAtMs ?? retriedMs
  const isRetried = setMs !== null && setMs >= whole(record.atMs) + 1
  return isRetried && nextMs !== null ? Math.min(setMs, nextMs) : nextMs
}

/** One that has begun on disk alone, to go ahead of an older update, does not end before its first attempt. */
function isRunOver({ deadlineAtMs, runAttempts }: PendingRow, nowMs: number): boolean {
  return deadlineAtMs !== null && runAttempts > 0 && deadlineAtMs <= whole(nowMs)
}
