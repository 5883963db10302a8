// The payment store on PostgreSQL: the functions of store/, bound to a pool.

import type { Pool } from 'pg'
import { readConsumerLeases } from '../../store/connection/consumer-lease.ts'
import { type Db, inTransaction } from '../../store/connection/db.ts'
import { readListening, saveChanges } from '../../store/payments/accept.ts'
import { saveDocuments, trySaveDocuments } from '../../store/payments/documents.ts'
import { lockPayments, raiseVersions, tryLockPayments } from '../../store/payments/payments.ts'
import { insertAudit } from '../../store/proofs/audit-table.ts'
import type { ClientMoves } from '../access/move-checks.ts'
import type { Deps } from '../shared/deps.ts'
import type { PaymentStore, PaymentTransaction } from './payment-store.ts'
import type { RecordingDeps } from './record-payments.ts'

export function postgresPaymentStore(pool: Pool): PaymentStore {
  return {
    saveDocuments: (documents, now) => saveDocuments(pool, documents, now),
    transact: (work) => inTransaction(pool, (db, commit) => work(transactionOn(db, commit))),
  }
}

/** What recording payments needs, on PostgreSQL. */
export function recordingOn(
  { pool, clock, newId }: Pick<Deps, 'pool' | 'clock' | 'newId'>,
  accounts: RecordingDeps['accounts'],
  moves?: ClientMoves,
): RecordingDeps {
  const payments = postgresPaymentStore(pool)
  return { payments, accounts, clock, newId, ...(moves ? { moves } : {}) }
}

function transactionOn(db: Db, commit: () => Promise<void>): PaymentTransaction {
  return {
    // One round trip: the endpoints are read when the payments are locked.
    tryLock: async (paymentIds, clientKeys) => {
      const locking = tryLockPayments(db, paymentIds)
      const [tried, endpoints] = await allOf([locking, readListening(db, clientKeys)])
      return { ...tried, endpoints }
    },
    lock: async (paymentIds, clientKeys) => {
      const locking = lockPayments(db, paymentIds)
      const [stored, endpoints] = await allOf([locking, readListening(db, clientKeys)])
      return { stored, busy: new Set(), endpoints }
    },
    readConsumerLeases: (sources) => readConsumerLeases(db, sources),
    trySaveDocuments: (documents, now) => trySaveDocuments(db, documents, now),
    // Sent together in one round trip: the commit does nothing after a statement that has failed.
    saveAndCommit: async ({ changes, deliveries, raised, audits }, now) => {
      await allOf([
        saveChanges(db, changes, deliveries, now),
        raiseVersions(db, raised, now),
        insertAudit(db, audits),
        commit(),
      ])
    },
  }
}

/** Statements sent together. Of errors the first in this order counts: those after it follow from it. */
async function allOf<T extends readonly unknown[]>(
  sent: readonly [...{ [K in keyof T]: Promise<T[K]> }],
): Promise<T> {
  const settled = await Promise.allSettled(sent)
  for (const one of settled) if (one.status === 'rejected') throw one.reason
  return settled.map((one) => (one as PromiseFulfilledResult<unknown>).value) as unknown as T
}
