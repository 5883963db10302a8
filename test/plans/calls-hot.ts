// Every statement of the hot path, called as the service calls it: accepting, recording, what is due, leases,
// and what each attempt reads. test/plans/rules.ts holds all of them to more than the others.

import { fanOut } from '../../server/core/delivery/fan-out.ts'
import { UNSIGNED } from '../../server/core/delivery/session-signs.ts'
import { NIL_UUID } from '../../server/core/plain/uuid.ts'
import { inTransaction } from '../../server/store/connection/db.ts'
import { readShownHealth, saveHealth } from '../../server/store/endpoints/endpoint-health.ts'
import { readPayloads } from '../../server/store/history/events.ts'
import { readDue, readStrands } from '../../server/store/owed/deliveries.ts'
import { recordLateSuccesses } from '../../server/store/owed/late-successes.ts'
import {
  leaveProcesses,
  readDatabaseTimeMs,
  releaseLeases,
  renewLeases,
  takeLeases,
} from '../../server/store/owed/leases.ts'
import { type AttemptRecord, recordOutcomes } from '../../server/store/owed/outcomes.ts'
import {
  exhaustParked,
  parkDeliveries,
  readParked,
  readParkedLanes,
} from '../../server/store/owed/parked.ts'
import {
  readChangedEndpoints,
  readSendingEndpoints,
} from '../../server/store/owed/sending-endpoints.ts'
import {
  beginRuns,
  exhaustDeliveries,
  postponeDeliveries,
  settleInactive,
} from '../../server/store/owed/unattempted.ts'
import { readListening, saveChanges } from '../../server/store/payments/accept.ts'
import {
  readDocument,
  readDocumentParts,
  readDocumentSize,
  saveDocuments,
  trySaveDocuments,
} from '../../server/store/payments/documents.ts'
import { readEventTrace, saveEventTraces } from '../../server/store/payments/event-traces.ts'
import {
  lockPayments,
  raiseVersions,
  tryLockPayments,
} from '../../server/store/payments/payments.ts'
import { findClientsOfAccounts } from '../../server/store/secrets/accounts.ts'
import { Sealer } from '../../server/store/secrets/sealing.ts'
import type { Recorder } from './recorder.ts'
import type { Sample, SampleDelivery } from './sample.ts'

const PROCESS = {
  id: '00000000-0000-4000-8000-000000000001',
  host: 'host',
  version: '0.2.0',
}

/** As many as the recorder writes at once. */
const BATCH = 500

export async function callHotPath(recorder: Recorder, sample: Sample): Promise<void> {
  await accept(recorder, sample)
  await record(recorder, sample)
  await read(recorder, sample)
  await lease(recorder)
}

async function accept(recorder: Recorder, sample: Sample): Promise<void> {
  const { pool } = recorder
  const { now, pending } = sample
  const ofEachPayment = [...new Map(pending.map((row) => [row.paymentId, row])).values()]
  const changes = ofEachPayment.slice(0, 100).map((row) => ({
    clientKey: row.clientKey,
    id: row.eventId.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')),
    paymentId: row.paymentId,
    accountId: sample.accountId,
    sequence: 9,
    kind: 'payment.updated',
    text: '{}',
    documentHash: null,
    documentBytes: null,
    version: null,
    isLatest: true,
    isNew: false,
  }))
  const ids = changes.map(({ paymentId }) => paymentId)
  const documents = sample.documents.map(({ client_key: clientKey, hash }) => ({
    clientKey,
    hash,
    content: Buffer.from('AAAA'),
  }))
  await recorder.record('', () => findClientsOfAccounts(pool, [sample.accountId]))
  await recorder.record('', () =>
    inTransaction(pool, async (db) => {
      await tryLockPayments(db, ids)
      const stored = await lockPayments(db, ids)
      await trySaveDocuments(db, documents, now)
      await saveDocuments(db, documents, now)
      await raiseVersions(db, [...stored.values()], now)
      const clientKeys = new Map(changes.map((change) => [change.accountId, change.clientKey]))
      const listening = await readListening(db, clientKeys)
      const isHeard = (change: (typeof changes)[number]) =>
        fanOut([change], listening, now.getTime()).length > 0
      const lone = changes.findIndex(isHeard)
      for (const some of [changes.slice(lone, lone + 1), changes.toSpliced(lone, 1)]) {
        await saveChanges(db, some, fanOut(some, listening, now.getTime()), now)
        // And payments that were not there before.
        const others = some.map((change) => ({ ...change, ...otherIds(change), isNew: true }))
        await saveChanges(db, others, fanOut(others, listening, now.getTime()), now)
      }
      const keys = changes.map(({ clientKey, id: eventId }) => ({ clientKey, eventId }))
      await saveEventTraces(db, keys, '0'.repeat(55), now)
    }),
  )
}

function otherIds({ id, paymentId }: { id: string; paymentId: string }) {
  const other = (uuid: string) => uuid.replace(/.{8}$/, 'ffffffff')
  return { id: other(id), paymentId: other(paymentId) }
}

function recordOf(row: SampleDelivery, of: Partial<AttemptRecord>, nowMs: number): AttemptRecord {
  return {
    ...row,
    attempt: row.attempts + 1,
    runAttempt: row.attempts + 1,
    atMs: nowMs - 100,
    durationMs: 100,
    outcome: 'answered',
    status: 200,
    excerpt: null,
    state: 'DELIVERED',
    nextAttemptAtMs: null,
    firstAttemptAtMs: nowMs,
    firstFailedAtMs: null,
    deadlineAtMs: nowMs + 1,
    supersedes: false,
    ...of,
  }
}

async function record(recorder: Recorder, { now, pending }: Sample): Promise<void> {
  const { pool } = recorder
  const nowMs = now.getTime()
  const of = (from: number, fields: Partial<AttemptRecord>) =>
    pending.slice(from, from + BATCH).map((row) => recordOf(row, fields, nowMs))
  const failed = { state: 'PENDING', status: 503, nextAttemptAtMs: nowMs + 1 } as const
  await recorder.record('', () => recordOutcomes(pool, of(0, {}), now))
  await recorder.record('with excerpts', () =>
    recordOutcomes(pool, of(BATCH, { excerpt: Buffer.from('x') }), now),
  )
  await recorder.record('', () =>
    recordOutcomes(pool, [...of(2 * BATCH, failed), ...of(3 * BATCH, { supersedes: true })], now),
  )
  // A second time: they have ended, and nothing is changed.
  await recorder.record('', () => recordOutcomes(pool, of(0, {}), now))
  // Of attempts that nothing else tells of.
  await recorder.record('', () => recordLateSuccesses(pool, of(0, { attempt: 99 })))
  const rest = pending.slice(4 * BATCH)
  const nextAttemptAtMs = nowMs + 1_000
  await recorder.record('', () =>
    postponeDeliveries(
      pool,
      rest.map((row) => ({ ...row, knownAtMs: nowMs, nextAttemptAtMs })),
    ),
  )
  await recorder.record('', () => beginRuns(pool, rest.slice(0, 1), now, new Date(nowMs + 1_000)))
  await recorder.record('', () => parkDeliveries(pool, rest))
  await recorder.record('', () => settleInactive(pool, rest, now))
  await recorder.record('', () => exhaustDeliveries(pool, rest, now))
  const { clientKey, endpointId, shard, epoch } = rest[0] as SampleDelivery
  const lane = { clientKey, endpointId, shard, epoch }
  await recorder.record('', () =>
    exhaustParked(pool, lane, { afterId: NIL_UUID, limit: 5_000 }, now),
  )
  const durations = [1, 0, 0]
  const health = {
    clientKey,
    endpointId,
    attempts: 1,
    delivered: 1,
    durations,
    lastSuccessAtMs: nowMs,
    lastFailureAtMs: null,
    lastError: null,
    failingSinceMs: null,
    circuit: 'CLOSED',
    nextProbeAtMs: null,
  } as const
  await recorder.record('', () => saveHealth(pool, [health], now))
  await recorder.record('', () => readShownHealth(pool, [health]))
}

async function read(recorder: Recorder, sample: Sample): Promise<void> {
  const { pool } = recorder
  const { now, pending, clientKey, endpointId } = sample
  const nowMs = now.getTime()
  const afterId = '00000000-0000-0000-0000-000000000000'
  const cursors = [1, 2, 3].map((shard) => ({ shard, afterMs: 0, afterId }))
  await recorder.record('', () => readDue(pool, cursors, nowMs, 500))
  await recorder.record('', () => readStrands(pool, pending.slice(0, 50), 100))
  const latest = pending.slice(0, 50).map((row) => ({ ...row, deliver: 'latest' as const }))
  await recorder.record('', () => readStrands(pool, latest, 100))
  await recorder.record('', () => readParkedLanes(pool, [1, 2, 3, 4]))
  await recorder.record('', () =>
    readParked(pool, { clientKey, endpointId, shard: 3 }, afterId, 100),
  )
  await recorder.record('', () => readPayloads(pool, pending.slice(0, 50)))
  const sealer = new Sealer([Buffer.alloc(32)])
  await recorder.record('', () => readSendingEndpoints(pool, sealer, pending.slice(0, 50)))
  await recorder.record('', () => readChangedEndpoints(pool, nowMs - 60_000, afterId, 100))
  await recorder.record('', () => readEventTrace(pool, clientKey, sample.eventId))
  const [document] = sample.documents
  if (document === undefined) throw new Error('the world has no documents')
  await recorder.record('', () => readDocument(pool, document.client_key, document.hash))
  await recorder.record('', () => readDocumentSize(pool, document.client_key, document.hash))
  await recorder.record('', () =>
    readDocumentParts(pool, document.client_key, document.hash).next(),
  )
}

async function lease(recorder: Recorder): Promise<void> {
  const { pool } = recorder
  const gone = new Map([[PROCESS.id, 'mark']])
  await recorder.record('', () => readDatabaseTimeMs(pool))
  await recorder.record('', () => renewLeases(pool, PROCESS, 25_000, gone))
  const ended = [{ id: PROCESS.id, name: 'sign', forMs: 300 }]
  const note = () => renewLeases(pool, PROCESS, 25_000, new Map(), UNSIGNED, [], ended)
  await recorder.record('', note)
  await recorder.record('', () => takeLeases(pool, PROCESS.id, 3, 25_000, new Map([[5, 'mark']])))
  const held = [{ shard: 5, epoch: 1, beat: 1 }]
  await recorder.record('', () => releaseLeases(pool, PROCESS.id, held))
  await recorder.record('', () => leaveProcesses(pool, PROCESS.id, [7]))
}
