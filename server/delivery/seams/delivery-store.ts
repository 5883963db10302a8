// What the engine asks of its store: one method per transaction, so that an in-memory twin can stand
// in for PostgreSQL when the engine is simulated.

import type { ShownHealth } from '../../core/delivery/health.ts'
import type { RenewedLease, ShardEpoch } from '../../core/delivery/lease.ts'
import type { QueuedDelivery } from '../../core/delivery/queued-delivery.ts'
import type { EndedSign, Sign } from '../../core/delivery/session-signs.ts'
import type { HealthDelta } from '../../store/endpoints/endpoint-health.ts'
import type { EventKey, Payload } from '../../store/history/events.ts'
import type { DueCursor, StrandKey } from '../../store/owed/deliveries.ts'
import type { HeldDelivery } from '../../store/owed/held-deliveries.ts'
import type { Renewal } from '../../store/owed/leases.ts'
import type { AttemptRecord, Recorded } from '../../store/owed/outcomes.ts'
import type { ExhaustedPage, LaneKey, ParkedPage } from '../../store/owed/parked.ts'
import type { ChangedEndpoint, SendingEndpoint } from '../../store/owed/sending-endpoints.ts'
import type { BegunRuns, Postponement } from '../../store/owed/unattempted.ts'

export interface EndpointKey {
  clientKey: number
  endpointId: string
}

export interface DeliveryStore {
  /** `gone`: processes whose mark has not changed for long. `sign`: what our leases stand under from now on. `settled`:
   *  those that were taken early, and whose aftermath is over. `ended`: signs of others, for whoever watches after us. */
  renewLeases(
    gone: ReadonlyMap<string, string>,
    sign: Sign,
    settled: readonly ShardEpoch[],
    ended: readonly EndedSign[],
  ): Promise<Renewal>
  /** What is free, and those that still have these marks; `early` are those of them whose time is not over. */
  takeLeases(
    wanted: number,
    marks: ReadonlyMap<number, string>,
    early: readonly number[],
  ): Promise<readonly RenewedLease[]>
  releaseLeases(leases: readonly RenewedLease[]): Promise<void>
  /** Removes this process from the list of processes, and gives up all its leases but those of `busy` shards. */
  leave(busy: readonly number[]): Promise<void>

  readDue(
    cursors: readonly DueCursor[],
    untilMs: number,
    limitPerShard: number,
  ): Promise<readonly QueuedDelivery[]>
  readStrands(keys: readonly StrandKey[], limitEach: number): Promise<readonly QueuedDelivery[]>
  readEndpoints(keys: readonly EndpointKey[]): Promise<readonly SendingEndpoint[]>
  /** Endpoints changed since then, in order of their ids, those after `afterId`. */
  readChangedEndpoints(
    sinceMs: number,
    afterId: string,
    limit: number,
  ): Promise<readonly ChangedEndpoint[]>
  /** By event id; events that are gone are left out. */
  readPayloads(keys: readonly EventKey[]): Promise<ReadonlyMap<string, Payload>>
  readFile(clientKey: number, hash: Uint8Array): Promise<Uint8Array | null>

  /** Active endpoints of these shards that have parked deliveries. */
  readParkedLanes(shards: readonly number[]): Promise<readonly LaneKey[]>
  /** Parked deliveries of one lane in order of their ids, those after `afterId`. */
  readParked(lane: LaneKey, afterId: string, limit: number): Promise<readonly QueuedDelivery[]>

  recordOutcomes(records: readonly AttemptRecord[], nowMs: number): Promise<Recorded>
  /** Brings rows of a shard forward that are due later than `latestMs` allows, by attempts of the run; how many. */
  bringForward(lease: ShardEpoch, latestMs: readonly number[], limit: number): Promise<number>
  /** Their runs begin, although nothing was sent yet. */
  beginRuns(
    deliveries: readonly HeldDelivery[],
    nowMs: number,
    deadlineMs: number,
  ): Promise<BegunRuns>
  postpone(postponed: readonly Postponement[]): Promise<void>
  /** They wait for their lane, without a due time. */
  park(deliveries: readonly HeldDelivery[]): Promise<void>
  /** Those of a page of one lane's parked deliveries whose time is over end as EXHAUSTED. */
  exhaustParked(
    lane: LaneKey & { epoch: number },
    page: ParkedPage,
    nowMs: number,
  ): Promise<ExhaustedPage>
  /** Those whose time is over end as EXHAUSTED, without another attempt. */
  exhaust(deliveries: readonly HeldDelivery[], nowMs: number): Promise<void>
  /** Disables the active endpoints of these shards that have only failed since before `sinceMs`. */
  disableFailing(
    shards: readonly ShardEpoch[],
    sinceMs: number,
    nowMs: number,
  ): Promise<readonly LaneKey[]>
  settleInactive(deliveries: readonly HeldDelivery[], nowMs: number): Promise<void>
  /** What is shown of those among these endpoints that are not simply well, by their ids. */
  readShownHealth(keys: readonly EndpointKey[]): Promise<ReadonlyMap<string, ShownHealth>>
  saveHealth(deltas: readonly HealthDelta[], nowMs: number): Promise<void>
}
