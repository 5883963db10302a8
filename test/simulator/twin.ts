// The in-memory twin of the delivery store: one method per transaction, each atomic, with the rules
// of server/store. The conformance suite holds it to PostgreSQL. Leases run on the database's clock,
// which the caller hands in; all else on the `now` that the engine hands in.

import type { QueuedDelivery } from '../../server/core/queued-delivery.ts'
import type { EndpointKey } from '../../server/delivery/delivery-store.ts'
import type { DueCursor, StrandKey } from '../../server/store/deliveries.ts'
import type { EventKey, Payload } from '../../server/store/events.ts'
import type { HealthDelta } from '../../server/store/health.ts'
import type { Renewal } from '../../server/store/leases.ts'
import type { AttemptRecord, HeldDelivery, Postponement } from '../../server/store/outcomes.ts'
import type { LaneKey } from '../../server/store/parked.ts'
import type { ChangedEndpoint, SendingEndpoint } from '../../server/store/sending-endpoints.ts'
import {
  emptyTables,
  NO_TWIN_EVENTS,
  type PendingRow,
  type Tables,
  type TwinEvents,
  toFinal,
  whole,
  wholeOrNull,
} from './twin-tables.ts'

export interface ShardEpoch {
  shard: number
  epoch: number
}

export class Twin {
  readonly tables: Tables
  readonly events: TwinEvents
  readonly #checksEpochs: boolean

  /** Without its check of epochs it is a mutant. */
  constructor(shards: readonly number[], events: TwinEvents = NO_TWIN_EVENTS, checksEpochs = true) {
    this.tables = emptyTables(shards)
    this.events = events
    this.#checksEpochs = checksEpochs
  }

  renewLeases(
    processId: string,
    spans: { leaseMs: number; processGoneAfterMs: number },
    databaseMs: number,
  ): Renewal {
    const { leases, processes } = this.tables
    const held: ShardEpoch[] = []
    for (const lease of leases.values()) {
      if (lease.owner !== processId || lease.expiresAtMs <= databaseMs) continue
      lease.expiresAtMs = databaseMs + spans.leaseMs
      held.push({ shard: lease.shard, epoch: lease.epoch })
    }
    let alive = 1
    for (const [id, seenAtMs] of processes) {
      if (id !== processId && seenAtMs > databaseMs - spans.processGoneAfterMs) alive++
    }
    processes.set(processId, databaseMs)
    return { nowMs: databaseMs, processes: alive, held }
  }

  takeLeases(processId: string, wanted: number, leaseMs: number, databaseMs: number): ShardEpoch[] {
    const taken: ShardEpoch[] = []
    const free = [...this.tables.leases.values()]
      .filter((lease) => lease.expiresAtMs <= databaseMs)
      .sort((one, other) => one.shard - other.shard)
    for (const lease of free.slice(0, wanted)) {
      const previousOwner = lease.owner
      lease.owner = processId
      lease.epoch++
      lease.expiresAtMs = databaseMs + leaseMs
      taken.push({ shard: lease.shard, epoch: lease.epoch })
      this.events.onLeaseTaken(lease, previousOwner)
    }
    return taken
  }

  releaseLeases(processId: string, shards: readonly number[]): void {
    for (const shard of shards) {
      const lease = this.tables.leases.get(shard)
      if (lease?.owner !== processId) continue
      lease.owner = null
      lease.expiresAtMs = Number.NEGATIVE_INFINITY
    }
  }

  leave(processId: string): void {
    this.tables.processes.delete(processId)
  }

  readDue(cursors: readonly DueCursor[], untilMs: number, limitPerShard: number): QueuedDelivery[] {
    if (this.tables.pending.size === 0) return []
    const byShard = new Map(cursors.map((cursor) => [cursor.shard, cursor]))
    const due = new Map<number, PendingRow[]>()
    for (const row of this.tables.pending.values()) {
      const cursor = byShard.get(row.shard)
      const atMs = row.nextAttemptAtMs
      if (cursor === undefined || atMs === null || atMs > whole(untilMs)) continue
      const afterMs = whole(cursor.afterMs)
      if (atMs < afterMs || (atMs === afterMs && row.id <= cursor.afterId)) continue
      const rows = due.get(row.shard)
      if (rows) rows.push(row)
      else due.set(row.shard, [row])
    }
    return [...due.values()].flatMap((rows) => {
      const inOrder = rows.sort(
        (one, other) =>
          (one.nextAttemptAtMs as number) - (other.nextAttemptAtMs as number) ||
          compareIds(one.id, other.id),
      )
      return inOrder.slice(0, limitPerShard).map(toQueued)
    })
  }

  readStrands(keys: readonly StrandKey[], limitEach: number): QueuedDelivery[] {
    return keys.flatMap((key) =>
      this.#pendingOf(key.clientKey, key.endpointId)
        .filter((row) => row.paymentId === key.paymentId && !row.isReplay)
        .sort((one, other) => one.sequence - other.sequence)
        .slice(0, limitEach)
        .map(toQueued),
    )
  }

  readEndpoints(keys: readonly EndpointKey[]): SendingEndpoint[] {
    const wanted = new Set(keys.map((key) => key.endpointId))
    return [...wanted].flatMap((id) => {
      const row = this.tables.endpoints.get(id)
      if (row === undefined) return []
      const previous =
        row.previousKey !== null && row.previousKeyUntilMs !== null
          ? { key: row.previousKey, untilMs: row.previousKeyUntilMs }
          : null
      return [
        {
          clientKey: row.clientKey,
          id: row.id,
          shard: row.shard,
          url: row.url,
          isActive: row.status === 'ACTIVE' && row.deletedAtMs === null,
          secrets: { keys: { current: row.key, previous }, extraHeader: null },
        },
      ]
    })
  }

  readChangedEndpoints(sinceMs: number, afterId: string, limit: number): ChangedEndpoint[] {
    const changed: ChangedEndpoint[] = []
    for (const { clientKey, id, shard, changedAtMs } of this.tables.endpoints.values()) {
      if (changedAtMs > whole(sinceMs) && id > afterId) {
        changed.push({ clientKey, endpointId: id, shard, changedAtMs })
      }
    }
    return changed
      .sort((one, other) => compareIds(one.endpointId, other.endpointId))
      .slice(0, limit)
  }

  readPayloads(keys: readonly EventKey[]): Map<string, Payload> {
    const found = new Map<string, Payload>()
    for (const { eventId } of keys) {
      const event = this.tables.events.get(eventId)
      if (event) found.set(eventId, { text: event.text, documentHash: null, documentBytes: null })
    }
    return found
  }

  recordOutcomes(records: readonly AttemptRecord[], nowMs: number): Set<string> {
    const changed = new Set<string>()
    const mine = records.filter((record) => {
      const isHeld = this.isHeld(record)
      if (!isHeld) this.events.onRefused('stale-epoch', record.id)
      return isHeld
    })
    for (const record of mine) this.#insertAttempt(record)
    for (const record of mine) {
      const row = this.tables.pending.get(record.id)
      if (row === undefined || row.attempts !== record.attempt - 1) {
        this.events.onRefused('not-pending', record.id)
        continue
      }
      changed.add(row.id)
      row.attempts = record.attempt
      row.deadlineAtMs = whole(record.deadlineAtMs)
      row.lastOutcome = record.outcome
      row.lastStatus = record.status
      if (record.state === 'PENDING') {
        row.runAttempts = record.runAttempt
        row.nextAttemptAtMs = wholeOrNull(record.nextAttemptAtMs)
        row.firstAttemptAtMs = whole(record.firstAttemptAtMs)
        row.firstFailedAtMs = wholeOrNull(record.firstFailedAtMs)
      } else this.end(row, record.state, nowMs)
    }
    // Whatever the record itself met: the receiver has the newer update.
    for (const record of mine) if (record.supersedes) this.#supersede(record, nowMs)
    return changed
  }

  postpone(postponed: readonly Postponement[]): void {
    for (const given of postponed) {
      const row = this.tables.pending.get(given.id)
      if (row === undefined || row.nextAttemptAtMs === null || !this.isHeld(given)) continue
      row.nextAttemptAtMs = whole(given.nextAttemptAtMs)
    }
  }

  settleInactive(deliveries: readonly HeldDelivery[], nowMs: number): void {
    for (const given of deliveries) {
      const row = this.tables.pending.get(given.id)
      const endpoint = row && this.tables.endpoints.get(row.endpointId)
      if (!row || !endpoint || !this.isHeld(given)) continue
      if (endpoint.deletedAtMs !== null) this.end(row, 'CANCELLED', nowMs)
      else if (endpoint.status !== 'ACTIVE') row.nextAttemptAtMs = null
    }
  }

  park(deliveries: readonly HeldDelivery[]): void {
    let count = 0
    for (const given of deliveries) {
      const row = this.tables.pending.get(given.id)
      if (row === undefined || !this.isHeld(given)) continue
      row.nextAttemptAtMs = null
      count++
    }
    this.events.onParked(count)
  }

  readParkedLanes(shards: readonly number[]): LaneKey[] {
    const lanes = new Map<string, LaneKey>()
    for (const { clientKey, endpointId, shard, nextAttemptAtMs } of this.tables.pending.values()) {
      if (nextAttemptAtMs !== null || !shards.includes(shard)) continue
      const endpoint = this.tables.endpoints.get(endpointId)
      if (endpoint?.status !== 'ACTIVE' || endpoint.deletedAtMs !== null) continue
      lanes.set(endpointId, { clientKey, endpointId, shard })
    }
    return [...lanes.values()]
  }

  readParked(lane: LaneKey, afterId: string, limit: number): QueuedDelivery[] {
    const rows = this.#pendingOf(lane.clientKey, lane.endpointId)
      .filter((row) => row.shard === lane.shard && row.nextAttemptAtMs === null && row.id > afterId)
      .sort((one, other) => compareIds(one.id, other.id))
      .slice(0, limit)
    this.events.onRefilled(rows.length)
    return rows.map(toQueued)
  }

  exhaustParked(lane: LaneKey & { epoch: number }, nowMs: number): number {
    if (!this.isHeld(lane) || !this.#isActive(lane.endpointId)) return 0
    const over = this.#pendingOf(lane.clientKey, lane.endpointId).filter(
      (row) =>
        row.shard === lane.shard &&
        row.nextAttemptAtMs === null &&
        row.deadlineAtMs !== null &&
        row.deadlineAtMs <= whole(nowMs),
    )
    for (const row of over) this.end(row, 'EXHAUSTED', nowMs)
    return over.length
  }

  exhaust(deliveries: readonly HeldDelivery[], nowMs: number): void {
    for (const given of deliveries) {
      const row = this.tables.pending.get(given.id)
      if (row === undefined || row.deadlineAtMs === null || !this.isHeld(given)) continue
      const isOver = row.deadlineAtMs <= whole(nowMs)
      if (isOver && this.#isActive(row.endpointId)) this.end(row, 'EXHAUSTED', nowMs)
    }
  }

  disableFailing(shards: readonly ShardEpoch[], sinceMs: number, nowMs: number): LaneKey[] {
    const disabled: LaneKey[] = []
    for (const endpoint of this.tables.endpoints.values()) {
      const failingSinceMs = this.tables.health.get(endpoint.id)?.failingSinceMs ?? null
      if (endpoint.status !== 'ACTIVE' || endpoint.deletedAtMs !== null) continue
      if (failingSinceMs === null || failingSinceMs >= whole(sinceMs)) continue
      if (!shards.some((given) => given.shard === endpoint.shard && this.isHeld(given))) continue
      endpoint.status = 'DISABLED'
      endpoint.inactiveSinceMs = whole(nowMs)
      endpoint.changedAtMs = whole(nowMs)
      const { clientKey, id, shard } = endpoint
      disabled.push({ clientKey, endpointId: id, shard })
      this.events.onStatus(endpoint)
    }
    return disabled
  }

  saveHealth(deltas: readonly HealthDelta[]): void {
    for (const delta of deltas) {
      const before = this.tables.health.get(delta.endpointId)
      const failingSinceMs = wholeOrNull(delta.failingSinceMs)
      const lastSuccessAtMs = wholeOrNull(delta.lastSuccessAtMs)
      this.tables.health.set(delta.endpointId, {
        failingSinceMs:
          failingSinceMs === null || lastSuccessAtMs !== null
            ? failingSinceMs
            : (before?.failingSinceMs ?? failingSinceMs),
        lastSuccessAtMs: lastSuccessAtMs ?? before?.lastSuccessAtMs ?? null,
        lastFailureAtMs: wholeOrNull(delta.lastFailureAtMs) ?? before?.lastFailureAtMs ?? null,
        lastError: delta.lastError ?? before?.lastError ?? null,
        circuit: delta.circuit,
      })
      this.events.onCircuit(delta.circuit, delta.endpointId)
    }
  }

  #isActive(endpointId: string): boolean {
    return this.tables.endpoints.get(endpointId)?.status === 'ACTIVE'
  }

  isHeld({ shard, epoch }: ShardEpoch): boolean {
    return !this.#checksEpochs || this.tables.leases.get(shard)?.epoch === epoch
  }

  end(row: PendingRow, state: Parameters<typeof toFinal>[1], nowMs: number): void {
    const final = toFinal(row, state, nowMs)
    this.tables.pending.delete(row.id)
    this.tables.final.set(row.id, final)
    this.events.onFinal(final)
  }

  #insertAttempt(record: AttemptRecord): void {
    const atMs = whole(record.atMs)
    const key = `${record.id}/${record.attempt}/${atMs}`
    if (this.tables.attempts.has(key)) return
    this.tables.attempts.set(key, {
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
    if (record.state !== 'DELIVERED') return
    for (const row of this.#pendingOf(record.clientKey, record.endpointId)) {
      if (row.paymentId === record.paymentId && row.sequence < record.sequence && !row.isReplay) {
        this.end(row, 'SUPERSEDED', nowMs)
      }
    }
  }

  #pendingOf(clientKey: number, endpointId: string): PendingRow[] {
    const rows: PendingRow[] = []
    for (const row of this.tables.pending.values()) {
      if (row.endpointId === endpointId && row.clientKey === clientKey) rows.push(row)
    }
    return rows
  }
}

export function compareIds(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}

function toQueued(row: PendingRow): QueuedDelivery {
  return {
    clientKey: row.clientKey,
    id: row.id,
    eventId: row.eventId,
    endpointId: row.endpointId,
    paymentId: row.paymentId,
    sequence: row.sequence,
    kind: row.kind,
    shard: row.shard,
    nextAttemptAtMs: row.nextAttemptAtMs ?? Number.POSITIVE_INFINITY,
    attempts: row.attempts,
    runAttempts: row.runAttempts,
    firstAttemptAtMs: row.firstAttemptAtMs,
    firstFailedAtMs: row.firstFailedAtMs,
    deadlineAtMs: row.deadlineAtMs,
    isReplay: row.isReplay,
  }
}
