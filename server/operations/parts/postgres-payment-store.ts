// The payment store on PostgreSQL: the functions of store/, bound to a pool.

import type { Pool } from 'pg'
import { saveChangesAndFanOut } from '../../store/accept.ts'
import { insertAudit } from '../../store/audit.ts'
import { type Db, inTransaction } from '../../store/db.ts'
import { saveDocuments, trySaveDocuments } from '../../store/documents.ts'
import { lockPayments, raiseVersions, tryLockPayments } from '../../store/payments.ts'
import type { RecordingDeps } from '../record-payments.ts'
import type { Deps } from './deps.ts'
import type { PaymentStore, PaymentTransaction } from './payment-store.ts'

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
): RecordingDeps {
  return { payments: postgresPaymentStore(pool), accounts, clock, newId }
}

function transactionOn(db: Db, commit: () => Promise<void>): PaymentTransaction {
  return {
    tryLock: (paymentIds) => tryLockPayments(db, paymentIds),
    lock: (paymentIds) => lockPayments(db, paymentIds),
    trySaveDocuments: (documents, now) => trySaveDocuments(db, documents, now),
    saveAndCommit: async ({ changes, raised, audits }, now) => {
      // Sent together in one round trip: the commit does nothing after a statement that has failed.
      const [deliveries] = await Promise.all([
        saveChangesAndFanOut(db, changes, now),
        raiseVersions(db, raised, now),
        insertAudit(db, audits),
        commit(),
      ])
      return deliveries
    },
  }
}
