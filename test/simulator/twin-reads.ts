// What the engine reads from the twin, as store/owed/deliveries, parked, events, health and sending-endpoints read it.

import { DEFAULT_SETTINGS } from '../../server/core/delivery/endpoint-settings.ts'
import type { ShownHealth } from '../../server/core/delivery/health.ts'
import type { QueuedDelivery } from '../../server/core/delivery/queued-delivery.ts'
import type { EndpointKey } from '../../server/delivery/seams/delivery-store.ts'
import type { EventKey, Payload } from '../../server/store/history/events.ts'
import type { DueCursor, StrandKey } from '../../server/store/owed/deliveries.ts'
import type { LaneKey } from '../../server/store/owed/parked.ts'
import type { ChangedEndpoint, SendingEndpoint } from '../../server/store/owed/sending-endpoints.ts'
import { compareIds, type PendingRow, pendingOf, type Stored, whole } from './twin-tables.ts'

export class TwinReads {
  readonly #stored: Stored

  constructor(stored: Stored) {
    this.#stored = stored
  }

  readDue(cursors: readonly DueCursor[], untilMs: number, limitPerShard: number): QueuedDelivery[] {
    if (this.#stored.tables.pending.size === 0) return []
    const byShard = new Map(cursors.map((cursor) => [cursor.shard, cursor]))
    const due = new Map<number, PendingRow[]>()
    for (const row of this.#stored.tables.pending.values()) {
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
      const strand = pendingOf(this.#stored, key.clientKey, key.endpointId)
        .filter((row) => row.paymentId === key.paymentId && !row.isReplay)
        .sort((one, other) => one.sequence - other.sequence)
      if (key.deliver === 'latest') return strand.slice(-Math.max(2, limitEach)).map(toQueued)
      const oldest = strand.slice(0, limitEach)
      // Of a strand that does not fit, also those that decide its order.
      const front = strand.findLastIndex((row) => row.attempts > 0 || row.firstAttemptAtMs !== null)
      const newest =
        front < limitEach - 1 ? [] : strand.slice(Math.max(front, limitEach)).slice(0, limitEach)
      return [...oldest, ...newest].map(toQueued)
    })
  }

  readShownHealth(keys: readonly EndpointKey[]): Map<string, ShownHealth> {
    const shown = new Map<string, ShownHealth>()
    for (const { endpointId } of keys) {
      const row = this.#stored.tables.health.get(endpointId)
      if (row === undefined) continue
      const isFailing = row.failingSinceMs !== null
      if (!isFailing && row.circuit === 'CLOSED') continue
      const error = isFailing ? row.lastError : null
      const { circuit, nextProbeAtMs } = row
      shown.set(endpointId, { isFailing, error, circuit, nextProbeAtMs })
    }
    return shown
  }

  readEndpoints(keys: readonly EndpointKey[]): SendingEndpoint[] {
    const wanted = new Set(keys.map((key) => key.endpointId))
    return [...wanted].flatMap((id) => {
      const row = this.#stored.tables.endpoints.get(id)
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
          retriedAtMs: row.retriedAtMs ?? 0,
          settings: { ...DEFAULT_SETTINGS, events: row.events, deliver: row.deliver },
          secrets: { keys: { current: row.key, previous }, extraHeader: null, oauth2: null },
        },
      ]
    })
  }

  readChangedEndpoints(sinceMs: number, afterId: string, limit: number): ChangedEndpoint[] {
    const changed: ChangedEndpoint[] = []
    for (const row of this.#stored.tables.endpoints.values()) {
      const { clientKey, id, shard } = row
      const retriedAtMs = row.retriedAtMs ?? 0
      const changedAtMs = Math.max(row.changedAtMs, row.deliveriesChangedAtMs ?? 0)
      if (changedAtMs > whole(sinceMs) && id > afterId) {
        changed.push({ clientKey, endpointId: id, shard, retriedAtMs, changedAtMs })
      }
    }
    return changed
      .sort((one, other) => compareIds(one.endpointId, other.endpointId))
      .slice(0, limit)
  }

  readPayloads(keys: readonly EventKey[]): Map<string, Payload> {
    const found = new Map<string, Payload>()
    for (const { eventId } of keys) {
      const event = this.#stored.tables.events.get(eventId)
      if (event) found.set(eventId, { text: event.text, documentHash: null, documentBytes: null })
    }
    return found
  }

  readParkedLanes(shards: readonly number[]): LaneKey[] {
    const lanes = new Map<string, LaneKey>()
    for (const {
      clientKey,
      endpointId,
      shard,
      nextAttemptAtMs,
    } of this.#stored.tables.pending.values()) {
      if (nextAttemptAtMs !== null || !shards.includes(shard)) continue
      const endpoint = this.#stored.tables.endpoints.get(endpointId)
      if (endpoint?.status !== 'ACTIVE' || endpoint.deletedAtMs !== null) continue
      lanes.set(endpointId, { clientKey, endpointId, shard })
    }
    return [...lanes.values()]
  }

  readParked(lane: LaneKey, afterId: string, limit: number): QueuedDelivery[] {
    const rows = pendingOf(this.#stored, lane.clientKey, lane.endpointId)
      .filter((row) => row.shard === lane.shard && row.nextAttemptAtMs === null && row.id > afterId)
      .sort((one, other) => compareIds(one.id, other.id))
      .slice(0, limit)
    this.#stored.events.onRefilled(rows.length)
    return rows.map(toQueued)
  }
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
    deadlineAtMs: row.runAttempts === 0 ? null : row.deadlineAtMs,
    isReplay: row.isReplay,
    documentMode: row.documentMode,
  }
}
