// The tables of migrations/0001_first.sql that the engine lives on, in memory. Instants are whole
// milliseconds, as they are once a Date has carried them to PostgreSQL and back.

import type { KeyObject } from 'node:crypto'
import type { DeliveryState, FinalState } from '../../server/core/delivery/delivery.ts'
import type { EndpointStatus } from '../../server/core/delivery/endpoint.ts'
import type {
  DeliverMode,
  DocumentInstead,
  DocumentMode,
  EventChoice,
} from '../../server/core/delivery/endpoint-settings.ts'
import type { EndpointHealth } from '../../server/core/delivery/health.ts'
import type { ShardEpoch } from '../../server/core/delivery/lease.ts'
import type { HandedOff } from '../../server/core/delivery/queued-delivery.ts'
import type { Sign } from '../../server/core/delivery/session-signs.ts'
import type { StoredPayment } from '../../server/core/payments/payment-change.ts'

export interface PendingRow {
  clientKey: number
  id: string
  eventId: string
  endpointId: string
  paymentId: string
  accountId: string
  sequence: number
  kind: string
  shard: number
  createdAtMs: number
  nextAttemptAtMs: number | null
  attempts: number
  runAttempts: number
  firstAttemptAtMs: number | null
  firstFailedAtMs: number | null
  deadlineAtMs: number | null
  isReplay: boolean
  documentMode: DocumentInstead
  lastOutcome: string | null
  lastStatus: number | null
}

export interface FinalRow {
  clientKey: number
  id: string
  eventId: string
  endpointId: string
  paymentId: string
  accountId: string
  sequence: number
  kind: string
  createdAtMs: number
  documentMode: DocumentInstead
  state: FinalState
  attempts: number
  /** Of a cancelled one: counts the attempt that may have been under way. */
  attemptsBegun?: number
  deadlineAtMs: number | null
  finishedAtMs: number
  lastOutcome: string | null
  lastStatus: number | null
}

export interface AttemptRow {
  clientKey: number
  deliveryId: string
  attempt: number
  atMs: number
  durationMs: number
  outcome: string
  status: number | null
}

export interface EventRow {
  clientKey: number
  id: string
  paymentId: string
  accountId: string
  sequence: number
  kind: string
  text: string
}

export interface EndpointRow {
  clientKey: number
  id: string
  /** Null for a subscription: every account of the client. */
  accountId: string | null
  /** Null: all kinds. */
  events: readonly EventChoice[] | null
  document: DocumentMode | null
  shard: number
  url: string
  deliver: DeliverMode
  status: EndpointStatus
  inactiveSinceMs: number | null
  key: KeyObject
  previousKey: KeyObject | null
  previousKeyUntilMs: number | null
  createdAtMs: number
  changedAtMs: number
  deliveriesChangedAtMs: number | null
  retriedAtMs: number | null
  deletedAtMs: number | null
}

export interface HealthRow {
  attempts: number
  failingSinceMs: number | null
  lastSuccessAtMs: number | null
  lastFailureAtMs: number | null
  lastError: string | null
  circuit: EndpointHealth['circuit']
  nextProbeAtMs: number | null
}

export interface LeaseRow {
  shard: number
  epoch: number
  owner: string | null
  beat: number
  /** For people, and for processes of the version before. */
  expiresAtMs: number
  isEarly: boolean
}

export interface ProcessRow {
  beat: number
  seenAtMs: number
  sign: Sign
  /** The sign that is known to have ended, and for how long. */
  ended: { name: string; forMs: number } | null
}

export interface Tables {
  payments: Map<string, StoredPayment & { clientKey: number }>
  events: Map<string, EventRow>
  endpoints: Map<string, EndpointRow>
  pending: Map<string, PendingRow>
  /** The latest end of each delivery that is not pending. */
  final: Map<string, FinalRow>
  attempts: Map<string, AttemptRow>
  health: Map<string, HealthRow>
  leases: Map<number, LeaseRow>
  processes: Map<string, ProcessRow>
}

export function emptyTables(shards: readonly number[]): Tables {
  return {
    payments: new Map(),
    events: new Map(),
    endpoints: new Map(),
    pending: new Map(),
    final: new Map(),
    attempts: new Map(),
    health: new Map(),
    leases: new Map(
      shards.map((shard) => [
        shard,
        {
          shard,
          epoch: 0,
          owner: null,
          beat: 0,
          expiresAtMs: Number.NEGATIVE_INFINITY,
          isEarly: false,
        },
      ]),
    ),
    processes: new Map(),
  }
}

/** What the parts of the twin share. */
export interface Stored {
  readonly tables: Tables
  readonly events: TwinEvents
}

/** What the twin tells of as it happens, for the record that is checked afterwards. */
export interface TwinEvents {
  /** A transaction reads the endpoints; returns the time. */
  onEndpointsRead(): number
  /** These are fanned out to the endpoints that were read at this time. */
  onFannedOut(events: readonly EventRow[], readAtMs: number): void
  /** The transaction that made these has committed. */
  onOwed(deliveries: readonly HandedOff[]): void
  onLeaseTaken(lease: LeaseRow, before: LeaseRow): void
  onFinal(row: FinalRow): void
  onRefused(reason: 'stale-epoch' | 'not-pending', deliveryId: string): void
  onParked(count: number): void
  onRefilled(count: number): void
  onReleased(count: number): void
  onCircuit(circuit: EndpointHealth['circuit'], endpointId: string): void
  onStatus(endpoint: EndpointRow): void
  /** Failures were passed over that are older than a success that is known. */
  onOutdatedHealth(): void
  /** What is shown of an endpoint was replaced. */
  /** `nowMs` is the writer's time. */
  onHealth(endpointId: string, before: HealthRow, after: HealthRow, nowMs: number): void
}

export const NO_TWIN_EVENTS: TwinEvents = {
  onEndpointsRead: () => 0,
  onFannedOut() {},
  onOwed() {},
  onLeaseTaken() {},
  onFinal() {},
  onRefused() {},
  onParked() {},
  onRefilled() {},
  onReleased() {},
  onCircuit() {},
  onStatus() {},
  onOutdatedHealth() {},
  onHealth() {},
}

/** A Date keeps whole milliseconds. */
export function whole(ms: number): number {
  return Math.trunc(ms)
}

export function wholeOrNull(ms: number | null): number | null {
  return ms === null ? null : Math.trunc(ms)
}

export function compareIds(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}

export function isHeld({ tables }: Stored, { shard, epoch }: ShardEpoch): boolean {
  return tables.leases.get(shard)?.epoch === epoch
}

export function pendingOf({ tables }: Stored, clientKey: number, endpointId: string): PendingRow[] {
  const rows: PendingRow[] = []
  for (const row of tables.pending.values()) {
    if (row.endpointId === endpointId && row.clientKey === clientKey) rows.push(row)
  }
  return rows
}

export function endDelivery(
  { tables, events }: Stored,
  row: PendingRow,
  state: FinalState,
  nowMs: number,
): void {
  const final = toFinal(row, state, nowMs)
  tables.pending.delete(row.id)
  tables.final.set(row.id, final)
  events.onFinal(final)
}

function toFinal(row: PendingRow, state: FinalState, finishedAtMs: number): FinalRow {
  const { clientKey, id, eventId, endpointId, paymentId, accountId, sequence, kind } = row
  const { createdAtMs, documentMode, attempts, deadlineAtMs, lastOutcome, lastStatus } = row
  return {
    clientKey,
    id,
    eventId,
    endpointId,
    paymentId,
    accountId,
    sequence,
    kind,
    createdAtMs,
    documentMode,
    state,
    attempts,
    deadlineAtMs,
    finishedAtMs: whole(finishedAtMs),
    lastOutcome,
    lastStatus,
  }
}

export function stateOf(tables: Tables, deliveryId: string): DeliveryState | null {
  if (tables.pending.has(deliveryId)) return 'PENDING'
  return tables.final.get(deliveryId)?.state ?? null
}
