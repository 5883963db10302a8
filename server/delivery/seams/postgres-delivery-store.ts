// The delivery store on PostgreSQL: the functions of store/, bound to a pool and to this process.

import type { Pool } from 'pg'
import type { LeasePolicy } from '../../core/delivery/lease.ts'
import { readShownHealth, saveHealth } from '../../store/endpoints/endpoint-health.ts'
import { readPayloads } from '../../store/history/events.ts'
import { readDue, readStrands } from '../../store/owed/deliveries.ts'
import { bringForward } from '../../store/owed/late-due-times.ts'
import {
  leaveProcesses,
  type ProcessIdentity,
  releaseLeases,
  renewLeases,
  takeLeases,
} from '../../store/owed/leases.ts'
import { recordOutcomes } from '../../store/owed/outcomes.ts'
import {
  disableFailing,
  exhaustParked,
  parkDeliveries,
  readParked,
  readParkedLanes,
} from '../../store/owed/parked.ts'
import { readChangedEndpoints, readSendingEndpoints } from '../../store/owed/sending-endpoints.ts'
import {
  beginRuns,
  exhaustDeliveries,
  postponeDeliveries,
  settleInactive,
} from '../../store/owed/unattempted.ts'
import { readDocument } from '../../store/payments/documents.ts'
import type { Sealer } from '../../store/secrets/sealing.ts'
import type { DeliveryStore } from './delivery-store.ts'

export function postgresDeliveryStore(
  pool: Pool,
  sealer: Sealer,
  process: ProcessIdentity,
  policy: LeasePolicy,
): DeliveryStore {
  return {
    renewLeases: (gone, sign, settled, ended) =>
      renewLeases(pool, process, policy.leaseMs, gone, sign, settled, ended),
    takeLeases: (wanted, marks, early) =>
      takeLeases(pool, process.id, wanted, policy.leaseMs, marks, early),
    releaseLeases: (leases) => releaseLeases(pool, process.id, leases),
    leave: (busy) => leaveProcesses(pool, process.id, busy),
    readDue: (cursors, untilMs, limit) => readDue(pool, cursors, untilMs, limit),
    readStrands: (keys, limitEach) => readStrands(pool, keys, limitEach),
    readEndpoints: (keys) => readSendingEndpoints(pool, sealer, keys),
    readChangedEndpoints: (sinceMs, afterId, limit) =>
      readChangedEndpoints(pool, sinceMs, afterId, limit),
    readPayloads: (keys) => readPayloads(pool, keys),
    readFile: (clientKey, hash) => readDocument(pool, clientKey, hash),
    recordOutcomes: (records, nowMs) => recordOutcomes(pool, records, new Date(nowMs)),
    bringForward: (lease, latestMs, limit) =>
      bringForward(
        pool,
        lease,
        latestMs.map((ms) => new Date(ms)),
        limit,
      ),
    beginRuns: (deliveries, nowMs, deadlineMs) =>
      beginRuns(pool, deliveries, new Date(nowMs), new Date(deadlineMs)),
    postpone: (postponed) => postponeDeliveries(pool, postponed),
    readParkedLanes: (shards) => readParkedLanes(pool, shards),
    readParked: (lane, afterId, limit) => readParked(pool, lane, afterId, limit),
    exhaust: (deliveries, nowMs) => exhaustDeliveries(pool, deliveries, new Date(nowMs)),
    park: (deliveries) => parkDeliveries(pool, deliveries),
    exhaustParked: (lane, page, nowMs) => exhaustParked(pool, lane, page, new Date(nowMs)),
    disableFailing: (shards, sinceMs, nowMs) =>
      disableFailing(pool, shards, new Date(sinceMs), new Date(nowMs)),
    settleInactive: (deliveries, nowMs) => settleInactive(pool, deliveries, new Date(nowMs)),
    readShownHealth: (keys) => readShownHealth(pool, keys),
    saveHealth: (deltas, nowMs) => saveHealth(pool, deltas, new Date(nowMs)),
  }
}
