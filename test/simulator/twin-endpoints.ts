// Endpoints in the twin, as the operations on them leave the tables: registered, given another key, paused,
// resumed, deleted.

import type { KeyObject } from 'node:crypto'
import type { DeliverMode, EventChoice } from '../../server/core/delivery/endpoint-settings.ts'
import { type EndpointRow, endDelivery, type Stored, whole } from './twin-tables.ts'

export const KEY_OVERLAP_MS = 24 * 3_600_000

export interface NewEndpoint {
  clientKey: number
  id: string
  accountId: string | null
  shard: number
  url: string
  key: KeyObject
  events?: readonly EventChoice[] | null
  /** Left out: every. */
  deliver?: DeliverMode
}

export function registerEndpoint(twin: Stored, endpoint: NewEndpoint, nowMs: number): void {
  if (twin.tables.endpoints.has(endpoint.id)) return
  twin.tables.endpoints.set(endpoint.id, {
    ...endpoint,
    events: endpoint.events ?? null,
    deliver: endpoint.deliver ?? 'every',
    document: null,
    status: 'ACTIVE',
    inactiveSinceMs: null,
    previousKey: null,
    previousKeyUntilMs: null,
    createdAtMs: whole(nowMs),
    changedAtMs: whole(nowMs),
    deliveriesChangedAtMs: null,
    retriedAtMs: null,
    deletedAtMs: null,
  })
}

/** False when the endpoint is deleted; the same key again is no rotation. */
export function rotateKey(
  twin: Stored,
  endpointId: string,
  key: KeyObject,
  nowMs: number,
): boolean {
  const endpoint = existing(twin, endpointId)
  if (endpoint === null) return false
  endpoint.changedAtMs = whole(nowMs)
  if (endpoint.key === key) return true
  endpoint.previousKey = endpoint.key
  endpoint.previousKeyUntilMs = whole(nowMs + KEY_OVERLAP_MS)
  endpoint.key = key
  return true
}

export function changeEvents(
  twin: Stored,
  endpointId: string,
  events: readonly EventChoice[] | null,
  nowMs: number,
): boolean {
  const endpoint = existing(twin, endpointId)
  if (endpoint === null) return false
  endpoint.events = events
  endpoint.changedAtMs = whole(nowMs)
  return true
}

/** False when the endpoint is deleted. */
export function changeDeliver(
  twin: Stored,
  endpointId: string,
  deliver: DeliverMode,
  nowMs: number,
): boolean {
  const endpoint = existing(twin, endpointId)
  if (endpoint === null) return false
  endpoint.deliver = deliver
  endpoint.changedAtMs = whole(nowMs)
  return true
}

export function changeStatus(
  twin: Stored,
  endpointId: string,
  status: 'ACTIVE' | 'PAUSED',
  nowMs: number,
): boolean {
  const endpoint = existing(twin, endpointId)
  if (endpoint === null) return false
  if (endpoint.status === status) return true
  const inactiveSinceMs = endpoint.inactiveSinceMs ?? whole(nowMs)
  endpoint.status = status
  endpoint.inactiveSinceMs = status === 'ACTIVE' ? null : inactiveSinceMs
  endpoint.changedAtMs = whole(nowMs)
  if (status === 'ACTIVE') {
    endpoint.retriedAtMs = whole(nowMs)
    probeNow(twin, endpointId, nowMs)
    release(twin, endpoint, inactiveSinceMs, whole(nowMs))
  }
  twin.events.onStatus(endpoint)
  return true
}

/** An endpoint that is down is probed at once. */
export function probeNow({ tables }: Stored, endpointId: string, nowMs: number): void {
  const health = tables.health.get(endpointId)
  if (health === undefined || health.circuit === 'CLOSED') return
  health.circuit = 'HALF_OPEN'
  health.nextProbeAtMs = whole(nowMs)
}

/** All is due; the time that the endpoint was not active does not count; what was parked stays parked. */
function release(twin: Stored, endpoint: EndpointRow, sinceMs: number, nowMs: number): void {
  const sinceThen = (ms: number | null) => Math.max(0, nowMs - Math.max(sinceMs, ms ?? sinceMs))
  let count = 0
  for (const row of twin.tables.pending.values()) {
    if (row.endpointId !== endpoint.id) continue
    count++
    const isOver = row.deadlineAtMs !== null || (row.nextAttemptAtMs ?? 0) > nowMs
    if (isOver && row.nextAttemptAtMs !== null) row.nextAttemptAtMs = nowMs
    if (row.deadlineAtMs === null) continue
    row.deadlineAtMs += sinceThen(row.firstAttemptAtMs)
    if (row.firstFailedAtMs !== null) row.firstFailedAtMs += sinceThen(row.firstFailedAtMs)
  }
  twin.events.onReleased(count)
}

export function deleteEndpoint(twin: Stored, endpointId: string, nowMs: number): boolean {
  const endpoint = existing(twin, endpointId)
  if (endpoint === null) return false
  endpoint.deletedAtMs = whole(nowMs)
  endpoint.changedAtMs = whole(nowMs)
  for (const row of [...twin.tables.pending.values()]) {
    if (row.endpointId === endpointId) endDelivery(twin, row, 'CANCELLED', nowMs)
  }
  return true
}

export function existing(twin: Stored, endpointId: string): EndpointRow | null {
  const endpoint = twin.tables.endpoints.get(endpointId)
  return endpoint === undefined || endpoint.deletedAtMs !== null ? null : endpoint
}
