// The payment store on the twin without a network: each step is done at once, and a lock that another
// transaction holds is waited for.

import type { PaymentStore } from '../../server/operations/parts/payment-store.ts'
import type { LockedPayment } from '../../server/store/payments.ts'
import type { Twin } from '../simulator/twin.ts'
import type { NewDeliveryId, PaymentSession } from '../simulator/twin-payments.ts'

export interface TwinStoreOptions {
  /** Between the fan-out and the commit. */
  beforeCommit?: () => Promise<void>
  /** How long a statement may wait for a lock. */
  statementMsMax?: number
}

export function twinPaymentStore(
  twin: Twin,
  newDeliveryId: NewDeliveryId,
  { beforeCommit, statementMsMax = 9_500 }: TwinStoreOptions = {},
): PaymentStore {
  return {
    saveDocuments: async () => {},
    transact: async (work) => {
      const session = twin.payments.begin(newDeliveryId)
      try {
        return await work({
          tryLock: async (ids) => session.tryLock(ids),
          lock: (ids) => waitFor(session, ids, statementMsMax),
          trySaveDocuments: async () => [],
          saveAndCommit: async ({ changes, raised }, now) => {
            const handedOff = session.save(changes, raised, now.getTime())
            await beforeCommit?.()
            session.commit()
            return handedOff
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
  statementMsMax: number,
): Promise<Map<string, LockedPayment>> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      session.end()
      reject(Object.assign(new Error('canceling statement'), { code: '57014' }))
    }, statementMsMax)
    session.lock(paymentIds, (stored) => {
      clearTimeout(timer)
      resolve(stored)
    })
  })
}
