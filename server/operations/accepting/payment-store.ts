// What recordPayments asks of its store: one method for each step of its transaction, so that an in-memory
// twin can stand in for PostgreSQL when accepting is simulated.

import type { ListeningEndpoint } from '../../core/delivery/fan-out.ts'
import type { HandedOff } from '../../core/delivery/queued-delivery.ts'
import type { DocumentToSave } from '../../store/payments/documents.ts'
import type { LockedPayment, TriedPayments } from '../../store/payments/payments.ts'
import type { ChangeToSave } from '../../store/payments/save-new.ts'
import type { AuditEntry } from '../../store/proofs/audit-table.ts'

export interface PaymentStore {
  /** Outside any transaction: waits for transactions that are saving the same files. */
  saveDocuments(documents: readonly DocumentToSave[], now: Date): Promise<void>
  /** One transaction: what `work` has locked stays locked until it ends, and an error rolls it back. */
  transact<T>(work: (transaction: PaymentTransaction) => Promise<T>): Promise<T>
}

export interface PaymentTransaction {
  /** Locks the payments that are free and reads all of them. Waits for no lock. */
  tryLock(
    paymentIds: readonly string[],
    clientKeys: ReadonlyMap<string, number>,
  ): Promise<LockedPayments>
  /** Waits for the locks, until a statement's time is over. */
  lock(
    paymentIds: readonly string[],
    clientKeys: ReadonlyMap<string, number>,
  ): Promise<LockedPayments>
  /** Waits for no other transaction; returns the files that another one is saving. */
  trySaveDocuments<D extends DocumentToSave>(
    documents: readonly D[],
    now: Date,
  ): Promise<readonly D[]>
  /** The leases that these sources of changes are consumed under now. To be asked for after the locks. */
  readConsumerLeases(sources: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** Saves and commits. Completes what the deliveries say of their elders. */
  saveAndCommit(accepted: AcceptedChanges, now: Date): Promise<void>
}

export interface LockedPayments extends TriedPayments {
  /** Of the accounts asked for, by client: read in the same transaction, after the locks. */
  endpoints: readonly ListeningEndpoint[]
}

export interface AcceptedChanges {
  changes: readonly ChangeToSave[]
  deliveries: readonly HandedOff[]
  /** Payments of which only the version has changed. */
  raised: readonly LockedPayment[]
  audits: readonly AuditEntry[]
}
