// What callers do to the tables: payment changes with their events and fan-out (operations/
// record-payments, store/accept), and what happens to endpoints and final deliveries. Planning and
// applying are apart, so that a mutant can let time pass between them; the service never does.

import type { KeyObject } from 'node:crypto'
import { ServiceError } from '../../server/core/errors.ts'
import type { PaymentWrite } from '../../server/core/payment.ts'
import type { applyChange, StoredPayment } from '../../server/core/payment-change.ts'
import type { HandedOff } from '../../server/core/queued-delivery.ts'
import type { Twin } from './twin.ts'
import { type EndpointRow, type EventRow, type PendingRow, whole } from './twin-tables.ts'

export const KEY_OVERLAP_MS = 24 * 3_600_000

export interface Change {
  clientKey: number
  accountId: string
  write: PaymentWrite
}

export interface ChangeResult {
  outcome: 'created' | 'changed' | 'unchanged' | 'stale' | 'refused'
  event: { id: string; sequence: number } | null
}

export interface WritePlan {
  results: ChangeResult[]
  payments: Map<string, StoredPayment & { clientKey: number }>
  events: EventRow[]
  nowMs: number
}

export interface WriteTools {
  applyChange: typeof applyChange
  /** Ids of events; a delivery's id takes its time from its event, as store/accept has it. */
  newId(): string
  newDeliveryId(eventId: string, endpointId: string): string
}

export function planChanges(
  twin: Twin,
  changes: readonly Change[],
  nowMs: number,
  tools: WriteTools,
): WritePlan {
  const plan: WritePlan = { results: [], payments: new Map(), events: [], nowMs: whole(nowMs) }
  for (const { clientKey, accountId, write } of changes) {
    const stored = plan.payments.get(write.id) ?? twin.tables.payments.get(write.id) ?? null
    try {
      const applied = tools.applyChange(stored, accountId, write, plan.nowMs)
      const payment = { ...applied.stored, clientKey }
      if (applied.event !== null || (applied.outcome === 'unchanged' && applied.versionRaised)) {
        plan.payments.set(write.id, payment)
      }
      if (applied.event === null) {
        plan.results.push({ outcome: applied.outcome, event: null })
        continue
      }
      const { kind, sequence } = applied.event
      const event = { id: tools.newId(), kind, sequence }
      const { text } = payment
      plan.events.push({ ...event, clientKey, accountId, paymentId: write.id, text })
      plan.results.push({ outcome: applied.outcome, event: { id: event.id, sequence } })
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      plan.results.push({ outcome: 'refused', event: null })
    }
  }
  return plan
}

export function applyEvents(twin: Twin, plan: WritePlan): void {
  for (const [id, payment] of plan.payments) twin.tables.payments.set(id, payment)
  for (const event of plan.events) twin.tables.events.set(event.id, event)
}

/** One delivery for each endpoint that exists now, whatever its status. */
export function fanOut(
  twin: Twin,
  plan: WritePlan,
  tools: WriteTools,
  isOwed: (endpoint: EndpointRow) => boolean = () => true,
): HandedOff[] {
  const { endpoints, pending } = twin.tables
  const waiting = new Set([...pending.values()].map(strandOf))
  const places = new Set([...pending.values()].map((row) => `${strandOf(row)}/${row.sequence}`))
  const rows: { row: PendingRow; event: EventRow }[] = []
  for (const event of plan.events) {
    for (const endpoint of endpoints.values()) {
      if (endpoint.clientKey !== event.clientKey || endpoint.deletedAtMs !== null) continue
      if (endpoint.accountId !== null && endpoint.accountId !== event.accountId) continue
      if (!isOwed(endpoint)) continue
      const row = toPending(event, endpoint, tools.newDeliveryId(event.id, endpoint.id), plan.nowMs)
      const place = `${strandOf(row)}/${row.sequence}`
      if (places.has(place)) throw new Error('two deliveries of one event to one endpoint')
      places.add(place)
      rows.push({ row, event })
    }
  }
  for (const { row } of rows) pending.set(row.id, row)
  return rows.map(({ row, event }) => toHandedOff(row, event, waiting.has(strandOf(row))))
}

function strandOf(row: { endpointId: string; paymentId: string }): string {
  return `${row.endpointId}/${row.paymentId}`
}

function toPending(event: EventRow, endpoint: EndpointRow, id: string, nowMs: number): PendingRow {
  return {
    clientKey: event.clientKey,
    id,
    eventId: event.id,
    endpointId: endpoint.id,
    paymentId: event.paymentId,
    accountId: event.accountId,
    sequence: event.sequence,
    kind: event.kind,
    shard: endpoint.shard,
    createdAtMs: nowMs,
    nextAttemptAtMs: nowMs,
    attempts: 0,
    runAttempts: 0,
    firstAttemptAtMs: null,
    firstFailedAtMs: null,
    deadlineAtMs: null,
    isReplay: false,
    lastOutcome: null,
    lastStatus: null,
  }
}

function toHandedOff(row: PendingRow, event: EventRow, isBehindOthers: boolean): HandedOff {
  const { accountId: _, createdAtMs: __, lastOutcome: ___, lastStatus: ____, ...queued } = row
  return {
    ...queued,
    nextAttemptAtMs: row.nextAttemptAtMs as number,
    hasElders: row.sequence > 1 && isBehindOthers,
    payload: { text: event.text, documentHash: null, documentBytes: null },
  }
}

export interface NewEndpoint {
  clientKey: number
  id: string
  accountId: string | null
  shard: number
  url: string
  key: KeyObject
}

export function registerEndpoint(twin: Twin, endpoint: NewEndpoint, nowMs: number): void {
  if (twin.tables.endpoints.has(endpoint.id)) return
  twin.tables.endpoints.set(endpoint.id, {
    ...endpoint,
    status: 'ACTIVE',
    inactiveSinceMs: null,
    previousKey: null,
    previousKeyUntilMs: null,
    createdAtMs: whole(nowMs),
    changedAtMs: whole(nowMs),
    deletedAtMs: null,
  })
}

/** False when the endpoint is deleted; the same key again is no rotation. */
export function rotateKey(twin: Twin, endpointId: string, key: KeyObject, nowMs: number): boolean {
  const endpoint = existing(twin, endpointId)
  if (endpoint === null) return false
  endpoint.changedAtMs = whole(nowMs)
  if (endpoint.key === key) return true
  endpoint.previousKey = endpoint.key
  endpoint.previousKeyUntilMs = whole(nowMs + KEY_OVERLAP_MS)
  endpoint.key = key
  return true
}

export function changeStatus(
  twin: Twin,
  endpointId: string,
  status: 'ACTIVE' | 'PAUSED',
  nowMs: number,
  pauseCounts = false,
): boolean {
  const endpoint = existing(twin, endpointId)
  if (endpoint === null) return false
  if (endpoint.status === status) return true
  const inactiveSinceMs = endpoint.inactiveSinceMs ?? whole(nowMs)
  endpoint.status = status
  endpoint.inactiveSinceMs = status === 'ACTIVE' ? null : inactiveSinceMs
  endpoint.changedAtMs = whole(nowMs)
  if (status === 'ACTIVE') {
    const sinceMs = pauseCounts ? Number.POSITIVE_INFINITY : inactiveSinceMs
    release(twin, endpoint, sinceMs, whole(nowMs))
  }
  twin.events.onStatus(endpoint)
  return true
}

/** The time that the endpoint was not active does not count; what was parked stays parked. */
function release(twin: Twin, endpoint: EndpointRow, sinceMs: number, nowMs: number): void {
  const sinceThen = (ms: number | null) => Math.max(0, nowMs - Math.max(sinceMs, ms ?? sinceMs))
  let count = 0
  for (const row of twin.tables.pending.values()) {
    if (row.endpointId !== endpoint.id) continue
    count++
    if (row.deadlineAtMs === null) continue
    row.deadlineAtMs += sinceThen(row.firstAttemptAtMs)
    if (row.firstFailedAtMs !== null) row.firstFailedAtMs += sinceThen(row.firstFailedAtMs)
  }
  twin.events.onReleased(count)
}

export function deleteEndpoint(twin: Twin, endpointId: string, nowMs: number): boolean {
  const endpoint = existing(twin, endpointId)
  if (endpoint === null) return false
  endpoint.deletedAtMs = whole(nowMs)
  endpoint.changedAtMs = whole(nowMs)
  for (const row of [...twin.tables.pending.values()]) {
    if (row.endpointId === endpointId) twin.end(row, 'CANCELLED', nowMs)
  }
  return true
}

/** A final delivery begins a new run, outside the order; null when it is not final or has no place. */
export function replayDelivery(twin: Twin, deliveryId: string, nowMs: number): PendingRow | null {
  const { final, pending } = twin.tables
  const row = final.get(deliveryId)
  const endpoint = row && existing(twin, row.endpointId)
  if (!row || !endpoint) return null
  const { state: _, finishedAtMs: __, ...kept } = row
  const again: PendingRow = {
    ...kept,
    shard: endpoint.shard,
    nextAttemptAtMs: whole(nowMs),
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

function existing(twin: Twin, endpointId: string): EndpointRow | null {
  const endpoint = twin.tables.endpoints.get(endpointId)
  return endpoint === undefined || endpoint.deletedAtMs !== null ? null : endpoint
}
