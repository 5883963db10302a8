// Payment changes in; payments, events and one delivery per endpoint out, in one transaction: a
// change is owed to everybody or was accepted by nobody. The answer waits for the commit.

import { ServiceError } from '../core/errors.ts'
import type { DocumentFile, EventKind, PaymentWrite } from '../core/payment.ts'
import { type Applied, applyChange } from '../core/payment-change.ts'
import type { HandedOff } from '../core/queued-delivery.ts'
import { type ChangeToSave, saveChangesAndFanOut } from '../store/accept.ts'
import { insertAudit } from '../store/audit.ts'
import { type Db, inTransaction } from '../store/db.ts'
import { type DocumentToSave, saveDocuments, trySaveDocuments } from '../store/documents.ts'
import {
  type LockedPayment,
  lockPayments,
  raiseVersions,
  type TriedPayments,
  tryLockPayments,
} from '../store/payments.ts'
import type { AccountDirectory } from './parts/account-directory.ts'
import { auditsOf, type GatheredAudit } from './parts/audit.ts'
import type { Deps } from './parts/deps.ts'

export interface PaymentChange {
  accountId: string
  write: PaymentWrite
  /** Written with the change, if an operator asked for it. */
  audit?: GatheredAudit
}

export interface RecordedPayment {
  outcome: Applied['outcome']
  /** The payment after the write, as its canonical text. */
  text: string
  event: { id: string; kind: EventKind; sequence: number } | null
}

/** One result per change, in order. A change that is refused is an error in its own place. */
export type RecordResult = RecordedPayment | ServiceError

/** Nothing is decided about the change. Made once: thousands may meet it. */
export const PAYMENT_BUSY = new ServiceError(
  'overloaded',
  'Another transaction holds this payment, or the file that comes with it. Try again.',
  { retryAfterSeconds: 2 },
)

/**
 * `try`: nothing is waited for, and all changes of a payment that is not free come back as PAYMENT_BUSY.
 * `wait`: for changes of one payment, until it is free or a statement's time is over.
 */
export type Locking = 'try' | 'wait'

/**
 * Applies the changes in their order, those of one payment each on top of the last. Throws only
 * when nothing was recorded at all.
 */
export async function recordPayments(
  deps: Deps,
  accounts: AccountDirectory,
  changes: readonly PaymentChange[],
  locking: Locking = 'try',
): Promise<readonly RecordResult[]> {
  const clientKeys = await accounts.find(changes.map((change) => change.accountId))
  // Before the payment is ours: a transaction that holds the file may come to wait for the payment.
  if (locking === 'wait') {
    const files = documentsOf(changes, clientKeys)
    await saveDocuments(deps.pool, files, new Date(deps.clock.nowMs()))
  }
  let handOff = (_deliveries: readonly HandedOff[]) => {}
  let committed: readonly HandedOff[] = []
  try {
    const { results, deliveries, audits } = await inTransaction(deps.pool, async (db, commit) => {
      const locked = await lock(db, changes, locking)
      // Behind the locks: of two changes of one payment the later one has the later time.
      const now = new Date(deps.clock.nowMs())
      handOff = deps.engine.beginAccept()
      const plan = await planAndSaveDocuments(db, deps, locked, clientKeys, changes, now)
      const audits = auditsOf(changes, plan.results)
      const [deliveries] = await Promise.all([
        saveChangesAndFanOut(db, plan.changes, now),
        raiseVersions(db, plan.raised, now),
        insertAudit(db, audits),
        commit(),
      ])
      return { results: plan.results, deliveries, audits }
    })
    committed = deliveries
    for (const audit of audits) audit.isOnDisk = true
    return results
  } finally {
    handOff(committed) // Only now: the engine never sees what could still be rolled back.
  }
}

async function lock(
  db: Db,
  changes: readonly PaymentChange[],
  locking: Locking,
): Promise<TriedPayments> {
  const ids = changes.map((change) => change.write.id)
  if (locking === 'try') return tryLockPayments(db, ids)
  return { stored: await lockPayments(db, ids), busy: new Set() }
}

/** A file that another transaction is saving makes its payment busy: then all is decided without it. */
async function planAndSaveDocuments(
  db: Db,
  deps: Deps,
  { stored, busy }: TriedPayments,
  clientKeys: ReadonlyMap<string, number>,
  changes: readonly PaymentChange[],
  now: Date,
): Promise<Plan> {
  const planned = () => applyChanges(deps, stored, busy, clientKeys, changes, now.getTime())
  const plan = planned()
  const unsaved = await trySaveDocuments(db, plan.documents, now)
  if (unsaved.length === 0) return plan
  for (const { paymentId } of unsaved) busy.add(paymentId)
  return planned()
}

interface Plan {
  results: RecordResult[]
  changes: ChangeToSave[]
  /** Nothing of them has changed but the version. */
  raised: LockedPayment[]
  documents: PaymentDocument[]
}

interface PaymentDocument extends DocumentToSave {
  paymentId: string
}

function applyChanges(
  deps: Deps,
  stored: Map<string, LockedPayment>,
  busy: ReadonlySet<string>,
  clientKeys: ReadonlyMap<string, number>,
  changes: readonly PaymentChange[],
  nowMs: number,
): Plan {
  const current = new Map(stored)
  const latest = new Map<string, ChangeToSave>()
  const raised = new Map<string, LockedPayment>()
  const plan: Plan = { results: [], changes: [], raised: [], documents: [] }
  for (const { accountId, write } of changes) {
    const clientKey = clientKeys.get(accountId)
    if (clientKey === undefined) {
      plan.results.push(unknownAccount())
      continue
    }
    if (busy.has(write.id)) {
      plan.results.push(PAYMENT_BUSY)
      continue
    }
    try {
      const applied = applyChange(current.get(write.id) ?? null, accountId, write, nowMs)
      const payment = { ...applied.stored, clientKey, id: write.id }
      const before = latest.get(write.id)
      if (applied.event === null) {
        if (applied.outcome === 'unchanged' && applied.versionRaised) {
          current.set(write.id, payment)
          if (before) before.version = payment.version
          else raised.set(write.id, payment)
        }
        plan.results.push({ outcome: applied.outcome, text: payment.text, event: null })
        continue
      }
      const event = { id: deps.newId(), ...applied.event }
      const change = {
        ...payment,
        ...event,
        paymentId: write.id,
        documentBytes: write.document?.file.base64.length ?? null,
        isLatest: true,
      }
      if (before) before.isLatest = false
      raised.delete(write.id)
      current.set(write.id, payment)
      latest.set(write.id, change)
      plan.changes.push(change)
      if (write.document) plan.documents.push(toDocument(clientKey, write.id, write.document.file))
      plan.results.push({ outcome: applied.outcome, text: payment.text, event })
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
