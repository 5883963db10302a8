// Payment changes in; payments, events and one delivery per endpoint out, in one transaction: a
// change is owed to every endpoint, or it was not accepted. The answer waits for the commit.

import { fanOut } from '../../core/delivery/fan-out.ts'
import type { HandedOff } from '../../core/delivery/queued-delivery.ts'
import type { DocumentFile, EventKind, PaymentWrite } from '../../core/payments/payment.ts'
import {
  type Applied,
  applyChange,
  type StoredPayment,
} from '../../core/payments/payment-change.ts'
import type { Clock } from '../../core/plain/clock.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import type { DocumentToSave } from '../../store/payments/documents.ts'
import type { LockedPayment } from '../../store/payments/payments.ts'
import type { ChangeToSave } from '../../store/payments/save-new.ts'
import type { AccountDirectory } from '../access/account-directory.ts'
import { type ClientMoves, refusePayment } from '../access/move-checks.ts'
import { auditsOf, type GatheredAudit } from '../shared/audit-trail.ts'
import type { EngineNotices } from '../shared/deps.ts'
import { handOffAfterCommit } from './after-commit.ts'
import type { LockedPayments, PaymentStore, PaymentTransaction } from './payment-store.ts'

/** What recording needs; the simulator passes its own. */
export interface RecordingDeps {
  payments: PaymentStore
  accounts: Pick<AccountDirectory, 'find'>
  clock: Pick<Clock, 'nowMs'>
  /** Clients that are moved to another cell; without it there are none. */
  moves?: Pick<ClientMoves, 'current'>
  newId(): string
}

export interface PaymentChange {
  accountId: string
  write: PaymentWrite
  /** Written with the change, if an operator asked for it. */
  audit?: GatheredAudit
  /** The consumer's lease that it was read under: it is refused once another process has one. */
  readUnder?: { source: string; lease: string }
}

export interface RecordedPayment {
  outcome: Applied['outcome']
  /** The payment after the write, as its canonical text. */
  text: string
  event: { id: string; kind: EventKind; sequence: number } | null
}

/** A change that is refused is an error in its own position. */
export type RecordResult = RecordedPayment | ServiceError

export interface RecordedChanges {
  /** One per change, in order. */
  results: readonly RecordResult[]
  /** The deliveries that the commit has created. */
  deliveries: readonly HandedOff[]
}

/** The change was neither recorded nor refused. Made once, because thousands of callers may get it. */
export const PAYMENT_BUSY = new ServiceError(
  'overloaded',
  'Another transaction holds this payment, or the file that comes with it. Try again.',
  { retryAfterSeconds: 2 },
)

/** Another process consumes this source by now, and records the change in its turn. */
export const CONSUMED_ELSEWHERE = new ServiceError(
  'not-ready',
  'Another process has taken over the source that this change was read from.',
)

/**
 * `try`: waits for no lock; all changes of a locked payment come back as PAYMENT_BUSY.
 * `wait`: for changes of one payment; waits until it is free or the statement times out.
 */
export type Locking = 'try' | 'wait'

/** Records the changes, and hands the new deliveries to the engine. */
export function acceptPayments(
  deps: RecordingDeps,
  engine: Pick<EngineNotices, 'beginAccept'>,
  changes: readonly PaymentChange[],
  locking: Locking = 'try',
): Promise<RecordedChanges> {
  return handOffAfterCommit(
    engine,
    () => recordPayments(deps, changes, locking),
    ({ deliveries }) => deliveries,
  )
}

/**
 * Applies the changes in their order, those of one payment each on top of the last. Throws only when
 * nothing was recorded, or when the result of the commit is unknown.
 */
export async function recordPayments(
  deps: RecordingDeps,
  changes: readonly PaymentChange[],
  locking: Locking = 'try',
): Promise<RecordedChanges> {
  const { payments, accounts, clock } = deps
  const moves = await deps.moves?.current()
  const clientKeys = await accounts.find(changes.map((change) => change.accountId))
  // Before the payment is locked: a transaction that holds the file may wait for the payment, which would
  // be a deadlock.
  if (locking === 'wait') {
    const files = documentsOf(changes, clientKeys)
    await payments.saveDocuments(files, new Date(clock.nowMs()))
  }
  const { results, deliveries, audits } = await payments.transact(async (transaction) => {
    const locked = await lock(transaction, changes, clientKeys, locking)
    const isConsumedElsewhere = await readConsumers(transaction, changes)
    // Read the clock after locking, so that of two changes of one payment the later one has the later time.
    const now = new Date(clock.nowMs())
    const plan = await planAndSaveDocuments(
      {
        newId: deps.newId,
        refuse: (clientKey, change) =>
          isConsumedElsewhere(change)
            ? CONSUMED_ELSEWHERE
            : refusePayment(moves?.get(clientKey), change.accountId),
      },
      transaction,
      locked,
      clientKeys,
      changes,
      now,
    )
    const audits = auditsOf(changes, plan.results)
    const { changes: saved, raised } = plan
    const deliveries = fanOut(saved, locked.endpoints, now.getTime())
    await transaction.saveAndCommit({ changes: saved, deliveries, raised, audits }, now)
    return { results: plan.results, deliveries, audits }
  })
  for (const audit of audits) audit.isOnDisk = true
  return { results, deliveries }
}

/** Asked after the locks: a later holder's changes of these payments wait for them. */
async function readConsumers(
  transaction: PaymentTransaction,
  changes: readonly PaymentChange[],
): Promise<(change: PaymentChange) => boolean> {
  const sources = new Set<string>()
  for (const { readUnder } of changes) if (readUnder) sources.add(readUnder.source)
  if (sources.size === 0) return () => false
  const leases = await transaction.readConsumerLeases([...sources])
  return ({ readUnder }) =>
    readUnder !== undefined && leases.get(readUnder.source) !== readUnder.lease
}

async function lock(
  transaction: PaymentTransaction,
  changes: readonly PaymentChange[],
  clientKeys: ReadonlyMap<string, number>,
  locking: Locking,
): Promise<LockedPayments> {
  const ids = changes.map((change) => change.write.id)
  if (locking === 'try') return transaction.tryLock(ids, clientKeys)
  return transaction.lock(ids, clientKeys)
}

/** A file that another transaction is saving makes its payment busy: the rest is decided without it. */
async function planAndSaveDocuments(
  deps: PlanningDeps,
  transaction: PaymentTransaction,
  { stored, busy }: LockedPayments,
  clientKeys: ReadonlyMap<string, number>,
  changes: readonly PaymentChange[],
  now: Date,
): Promise<Plan> {
  const planned = () => applyChanges(deps, stored, busy, clientKeys, changes, now.getTime())
  const plan = planned()
  const unsaved = await transaction.trySaveDocuments(plan.documents, now)
  if (unsaved.length === 0) return plan
  for (const { paymentId } of unsaved) busy.add(paymentId)
  return planned()
}

interface PlanningDeps {
  newId(): string
  /** Why a change is not accepted, whatever is in it. */
  refuse(clientKey: number, change: PaymentChange): ServiceError | null
}

interface Plan {
  results: RecordResult[]
  changes: ChangeToSave[]
  /** Payments of which only the version has changed. */
  raised: LockedPayment[]
  documents: PaymentDocument[]
}

interface PaymentDocument extends DocumentToSave {
  paymentId: string
}

function applyChanges(
  deps: PlanningDeps,
  stored: Map<string, LockedPayment>,
  busy: ReadonlySet<string>,
  clientKeys: ReadonlyMap<string, number>,
  changes: readonly PaymentChange[],
  nowMs: number,
): Plan {
  const current = new Map<string, StoredPayment>(stored)
  const latest = new Map<string, ChangeToSave>()
  const raised = new Map<string, LockedPayment>()
  const plan: Plan = { results: [], changes: [], raised: [], documents: [] }
  for (const change of changes) {
    const { accountId, write } = change
    const clientKey = clientKeys.get(accountId)
    if (clientKey === undefined) {
      plan.results.push(unknownAccount())
      continue
    }
    const refused = deps.refuse(clientKey, change)
    if (refused !== null) {
      plan.results.push(refused)
      continue
    }
    if (busy.has(write.id)) {
      plan.results.push(PAYMENT_BUSY)
      continue
    }
    try {
      const applied = applyChange(current.get(write.id) ?? null, accountId, write, nowMs)
      const { outcome, stored: after } = applied
      const before = latest.get(write.id)
      if (applied.event === null) {
        if (applied.outcome === 'unchanged' && applied.versionRaised) {
          current.set(write.id, after)
          if (before) before.version = after.version
          else raised.set(write.id, { ...after, clientKey, id: write.id })
        }
        plan.results.push({ outcome, text: after.text, event: null })
        continue
      }
      const { kind, sequence } = applied.event
      const event = { id: deps.newId(), kind, sequence }
      // Field by field: objects that are spread into one another are copied several times.
      const saved: ChangeToSave = {
        clientKey,
        id: event.id,
        paymentId: write.id,
        accountId: after.accountId,
        sequence,
        version: after.version,
        kind,
        text: after.text,
        documentHash: after.documentHash,
        documentBytes: write.document?.file.base64.length ?? null,
        isLatest: true,
        isNew: !stored.has(write.id),
      }
      if (before) before.isLatest = false
      raised.delete(write.id)
      current.set(write.id, after)
      latest.set(write.id, saved)
      plan.changes.push(saved)
      if (write.document) plan.documents.push(toDocument(clientKey, write.id, write.document.file))
      plan.results.push({ outcome, text: after.text, event })
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      plan.results.push(error)
    }
  }
  plan.raised.push(...raised.values())
  return plan
}

function documentsOf(
  changes: readonly PaymentChange[],
  clientKeys: ReadonlyMap<string, number>,
): PaymentDocument[] {
  return changes.flatMap(({ accountId, write }) => {
    const clientKey = clientKeys.get(accountId)
    if (clientKey === undefined || !write.document) return []
    return [toDocument(clientKey, write.id, write.document.file)]
  })
}

function toDocument(clientKey: number, paymentId: string, file: DocumentFile): PaymentDocument {
  return { clientKey, paymentId, hash: file.hash, content: file.base64 }
}

export function unknownAccount(): ServiceError {
  return new ServiceError('unknown-account', 'No account has this id.')
}
