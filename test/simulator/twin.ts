// The in-memory twin of the delivery store: one method per transaction, each atomic, with the rules
// of server/store. The conformance suite holds it to PostgreSQL. All times are handed in: the database's
// own for what a renewal tells and notes down, and the `now` of the engine for all else.

import type { RenewedLease, ShardEpoch } from '../../server/core/lease.ts'
import type { QueuedDelivery } from '../../server/core/queued-delivery.ts'
import type { EndpointKey } from '../../server/delivery/delivery-store.ts'
import type { DueCursor, StrandKey } from '../../server/store/deliveries.ts'
import type { EventKey, Payload } from '../../server/store/events.ts'
import type { HealthDelta } from '../../server/store/health.ts'
import type { Renewal } from '../../server/store/leases.ts'
import type {
  AttemptRecord,
  HeldDelivery,
  Postponement,
  Recorded,
} from '../../server/store/outcomes.ts'
import type { LaneKey } from '../../server/store/parked.ts'
import type { ChangedEndpoint, SendingEndpoint } from '../../server/store/sending-endpoints.ts'
import type { Flaw } from './subject.ts'
import {
  emptyTables,
  type LeaseRow,
  NO_TWIN_EVENTS,
  type PendingRow,
  type ProcessRow,
  type Tables,
  type TwinEvents,
  toFinal,
  whole,
  wholeOrNull,
} from './twin-tables.ts'

export class Twin {
  readonly tables: Tables
  readonly events: TwinEvents
  readonly #flaws: ReadonlySet<Flaw>

  /** With flaws it is a mutant. */
  constructor(
    shards: readonly number[],
    events: TwinEvents = NO_TWIN_EVENTS,
    flaws: ReadonlySet<Flaw> = new Set(),
  ) {
    this.tables = emptyTables(shards)
    this.events = events
    this.#flaws = flaws
  }

  renewLeases(
    processId: string,
    leaseMs: number,
    gone: ReadonlyMap<string, string>,
    databaseMs: number,
  ): Renewal {
    const { leases, processes } = this.tables
    const held: RenewedLease[] = []
    const others = new Map<number, string>()
    const marks = new Map<string, string>()
    let free = 0
    for (const lease of leases.values()) {
      if (lease.owner === processId) {
        lease.beat++
        lease.expiresAtMs = databaseMs + leaseMs
        held.push(toRenewed(lease))
      } else if (lease.owner === null || this.#hasExpired(lease, databaseMs)) free++
      else others.set(lease.shard, leaseMark(lease))
    }
    // A statement sees the rows as they were before it: what it forgets is still among them.
    for (const [id, row] of processes) if (id !== processId) marks.set(id, processMark(row))
    for (const [id, mark] of gone) if (marks.get(id) === mark) processes.delete(id)
    const beat = (processes.get(processId)?.beat ?? -1) + 1
    processes.set(processId, { beat, seenAtMs: databaseMs })
    return { nowMs: databaseMs, held, others, processes: marks, free }
  }

  takeLeases(
    processId: string,
    wanted: number,
    leaseMs: number,
    silent: ReadonlyMap<number, string>,
    databaseMs: number,
  ): RenewedLease[] {
    const taken: RenewedLease[] = []
    const free = [...this.tables.leases.values()]
      .filter(
        (lease) =>
          lease.owner === null ||
          silent.get(lease.shard) === leaseMark(lease) ||
          this.#hasExpired(lease, databaseMs),
      )
      .sort((one, other) => one.shard - other.shard)
    for (const lease of free.slice(0, wanted)) {
      const previousOwner = lease.owner
      lease.owner = processId
      lease.epoch++
      lease.beat++
      lease.expiresAtMs = databaseMs + leaseMs
      taken.push(toRenewed(lease))
      this.events.onLeaseTaken(lease, previousOwner)
    }
    return taken
  }

  /** A mutant believes the database's clock. */
  #hasExpired({ expiresAtMs }: LeaseRow, databaseMs: number): boolean {
    return this.#flaws.has('leases-by-expires-at') && expiresAtMs <= databaseMs
  }

  releaseLeases(processId: string, given: readonly RenewedLease[]): void {
    for (const { shard, epoch, beat } of given) {
      const lease = this.tables.leases.get(shard)
      if (lease?.owner !== processId || lease.epoch !== epoch || lease.beat !== beat) continue
      release(lease)
    }
  }

  leave(processId: string, busy: readonly number[]): void {
    this.tables.processes.delete(processId)
    for (const lease of this.tables.leases.values()) {
      if (lease.owner === processId && !busy.includes(lease.shard)) release(lease)
    }
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
    return keys.flatMap((key) => {
      const strand = this.#pendingOf(key.clientKey, key.endpointId)
        .filter((row) => row.paymentId === key.paymentId && !row.isReplay)
        .sort((one, other) => one.sequence - other.sequence)
      const oldest = strand.slice(0, limitEach)
      // Of a strand that does not fit, also those that decide its order.
      const front = strand.findLastIndex((row) => row.attempts > 0)
      const newest =
        front < limitEach - 1 ? [] : strand.slice(Math.max(front, limitEach)).slice(0, limitEach)
      return [...oldest, ...newest].map(toQueued)
    })
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

  recordOutcomes(records: readonly AttemptRecord[], nowMs: number): Recorded {
    const changed = new Set<string>()
    const lost = new Map<string, ShardEpoch>()
    const mine = records.filter((record) => {
      const isHeld = this.isHeld(record)
      const { shard, epoch } = record
      if (!isHeld) lost.set(`${shard}/${epoch}`, { shard, epoch })
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
    return { ids: changed, lost: [...lost.values()] }
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
        attempts: (before?.attempts ?? 0) + delta.attempts,
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
    if (this.#flaws.has('record-without-epoch-check')) return true
    return this.tables.leases.get(shard)?.epoch === epoch
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

/** Any change of these is a sign of life. */
function leaseMark({ epoch, beat, expiresAtMs }: LeaseRow): string {
  return `${epoch}/${beat}/${expiresAtMs}`
}

function processMark({ beat, seenAtMs }: ProcessRow): string {
  return `${beat}/${seenAtMs}`
}

function toRenewed({ shard, epoch, beat }: LeaseRow): RenewedLease {
  return { shard, epoch, beat }
}

function release(lease: LeaseRow): void {
  lease.owner = null
  lease.beat++
  lease.expiresAtMs = Number.NEGATIVE_INFINITY
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
