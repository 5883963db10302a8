// Payment changes in; payments, events and one delivery per endpoint out, in one transaction: a
// change is owed to everybody or was accepted by nobody. The answer waits for the commit.

import { ServiceError } from '../core/errors.ts'
import type { DocumentFile, EventKind, PaymentWrite } from '../core/payment.ts'
import { type Applied, applyChange } from '../core/payment-change.ts'
import type { HandedOff } from '../core/queued-delivery.ts'
import { type ChangeToSave, saveChangesAndFanOut } from '../store/accept.ts'
import { insertAudit } from '../store/audit.ts'
import { inTransaction } from '../store/db.ts'
import { type DocumentToSave, saveDocuments } from '../store/documents.ts'
import { type LockedPayment, lockPayments, raiseVersions } from '../store/payments.ts'
import type { AccountDirectory } from './account-directory.ts'
import { auditsOf, type GatheredAudit } from './audit.ts'
import type { Deps } from './deps.ts'

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

/**
 * Applies the changes in their order, those of one payment each on top of the last. Throws only
 * when nothing was recorded at all.
 */
export async function recordPayments(
  deps: Deps,
  accounts: AccountDirectory,
  changes: readonly PaymentChange[],
): Promise<readonly RecordResult[]> {
  const now = new Date(deps.clock.nowMs())
  const clientKeys = await accounts.find(changes.map((change) => change.accountId))
  const handOff = deps.engine.beginAccept()
  let committed: readonly HandedOff[] = []
  try {
    const { results, deliveries, audits } = await inTransaction(deps.pool, async (db, commit) => {
      const stored = await lockPayments(
        db,
        changes.map((change) => change.write.id),
      )
      const plan = applyChanges(deps, stored, clientKeys, changes, now.getTime())
      const audits = auditsOf(changes, plan.results)
      await saveDocuments(db, plan.documents, now)
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

interface Plan {
  results: RecordResult[]
  changes: ChangeToSave[]
  /** Nothing of them has changed but the version. */
  raised: LockedPayment[]
  documents: DocumentToSave[]
}

function applyChanges(
  deps: Deps,
  stored: Map<string, LockedPayment>,
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
      if (write.document) plan.documents.push(toDocument(clientKey, write.document.file))
      plan.results.push({ outcome: applied.outcome, text: payment.text, event })
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      plan.results.push(error)
    }
  }
  plan.raised.push(...raised.values())
  return plan
}

function toDocument(clientKey: number, file: DocumentFile): DocumentToSave {
  return { clientKey, hash: file.hash, content: file.base64 }
}

export function unknownAccount(): ServiceError {
  return new ServiceError('unknown-account', 'No account has this id.')
}
