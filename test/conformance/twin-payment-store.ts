// The payment store on the twin without a network: each step is done at once, and a lock that another
// transaction holds is waited for.

import type {
  LockedPayments,
  PaymentStore,
} from '../../server/operations/accepting/payment-store.ts'
import type { Twin } from '../simulator/twin.ts'
import type { PaymentSession } from '../simulator/twin-payments.ts'

export interface TwinStoreOptions {
  /** Between the fan-out and the commit. */
  beforeCommit?: () => Promise<void>
  /** How long a statement may wait for a lock. */
  statementMsMax?: number
}

export function twinPaymentStore(
  twin: Twin,
  { beforeCommit, statementMsMax = 9_500 }: TwinStoreOptions = {},
): PaymentStore {
  return {
    saveDocuments: async () => {},
    transact: async (work) => {
      const session = twin.payments.begin()
      try {
        return await work({
          tryLock: async (ids, clientKeys) => session.tryLock(ids, clientKeys),
          lock: (ids, clientKeys) => waitFor(session, ids, clientKeys, statementMsMax),
          readConsumerLeases: async () => new Map(),
          trySaveDocuments: async () => [],
          saveAndCommit: async (accepted, now) => {
            session.save(accepted, now.getTime())
            await beforeCommit?.()
            session.commit()
          },
        })
      } finally {
        session.end()
      }
    },
  }
}

function waitFor(
  session: PaymentSession,
  paymentIds: readonly string[],
  clientKeys: ReadonlyMap<string, number>,
  statementMsMax: number,
): Promise<LockedPayments> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      session.end()
      reject(Object.assign(new Error('canceling statement'), { code: '57014' }))
    }, statementMsMax)
    session.lock(paymentIds, clientKeys, (locked) => {
      clearTimeout(timer)
      resolve(locked)
    })
  })
}
