// The payment store as one process sees it: a transaction of the twin at the other end of a connection. Its
// steps travel one by one, so that others come between them; what it has locked stays locked while the
// process is slow, and until PostgreSQL has noticed that the process is gone.

import type {
  AcceptedChanges,
  LockedPayments,
  PaymentStore,
  PaymentTransaction,
} from '../../server/operations/accepting/payment-store.ts'
import { call, type StoreLink } from './node-store.ts'
import type { Twin } from './twin.ts'
import type { PaymentSession } from './twin-payments.ts'

/** createPool in server/store/connection/db.ts. */
const STATEMENT_MS_MAX = 9_500
const IDLE_IN_TRANSACTION_MS_MAX = 30_000

/** A text that the database refuses to store. */
export const REFUSED_TEXT = 'no table takes this'

export type PaymentSight =
  | 'payment busy'
  | 'payment waited for'
  | 'wait for a payment over'
  | 'idle transaction ended'
  | 'gathered changes'
  | 'change refused by the database'

export interface PaymentLink extends StoreLink {
  onPayment(what: PaymentSight): void
}

export interface NodePayments extends PaymentStore {
  /** The process is gone: its connections are closed, and what it had locked is free soon. */
  abandon(): void
}

export function nodePayments(link: PaymentLink, twin: Twin): NodePayments {
  const open = new Set<Connection>()
  return {
    // Simulated payments carry no files.
    saveDocuments: async () => {},
    transact: async (run) => {
      const connection = new Connection(link, twin.payments.begin())
      open.add(connection)
      try {
        const result = await run(connection)
        await connection.finish()
        return result
      } catch (error) {
        await connection.rollBack()
        throw error
      } finally {
        open.delete(connection)
      }
    },
    abandon: () => {
      for (const connection of open) connection.close()
    },
  }
}

class Connection implements PaymentTransaction {
  readonly #link: PaymentLink
  readonly #session: PaymentSession
  #callOffIdle = () => {}

  constructor(link: PaymentLink, session: PaymentSession) {
    this.#link = link
    this.#session = session
  }

  tryLock(paymentIds: readonly string[], clientKeys: ReadonlyMap<string, number>) {
    if (paymentIds.length > 1) this.#link.onPayment('gathered changes')
    return this.#ask('tryLockPayments', () => {
      const tried = this.#session.tryLock(paymentIds, clientKeys)
      if (tried.busy.size > 0) this.#link.onPayment('payment busy')
      return tried
    })
  }

  lock(paymentIds: readonly string[], clientKeys: ReadonlyMap<string, number>) {
    return this.#ask('lockPayments', () => this.#waitFor(paymentIds, clientKeys))
  }

  /** No broker takes part. */
  async readConsumerLeases() {
    return new Map<string, string>()
  }

  async trySaveDocuments() {
    return []
  }

  saveAndCommit(accepted: AcceptedChanges, now: Date) {
    return this.#ask('saveAndCommit', () => {
      if (accepted.changes.some(({ text }) => text.includes(REFUSED_TEXT))) {
        this.#link.onPayment('change refused by the database')
        throw Object.assign(new Error('a value that is refused'), { code: '22P05' })
      }
      this.#session.save(accepted, now.getTime())
      // The disk takes its time, and what others commit comes between.
      return new Promise<void>((resolve) =>
        this.#link.travel(this.#link.dice.skewed(0.1, 20), 'commit', () => {
          this.#session.commit()
          resolve()
        }),
      )
    })
  }

  /** A transaction that has not committed by itself is committed. */
  async finish(): Promise<void> {
    if (!this.#session.hasEnded) await this.#ask('commit', () => this.#session.end())
  }

  /** Whatever comes of it, the connection is given up where it cannot be used again. */
  async rollBack(): Promise<void> {
    if (this.#session.hasEnded) return
    try {
      await this.#ask('rollback', () => this.#session.end())
    } catch {
      this.close()
    }
  }

  close(): void {
    this.#callOffIdle()
    const { dice } = this.#link
    // Through a broken network PostgreSQL hears nothing, and ends the transaction when it was idle for long.
    const afterMs = this.#link.isPartitioned() ? IDLE_IN_TRANSACTION_MS_MAX : dice.skewed(0.2, 50)
    this.#link.travel(afterMs, 'connection closed', () => this.#session.end())
  }

  #waitFor(
    paymentIds: readonly string[],
    clientKeys: ReadonlyMap<string, number>,
  ): Promise<LockedPayments> {
    return new Promise((resolve, reject) => {
      let callOff = () => {}
      const state = this.#session.lock(paymentIds, clientKeys, (locked) => {
        callOff()
        resolve(locked)
      })
      if (state === 'granted') return
      this.#link.onPayment('payment waited for')
      callOff = this.#link.travel(STATEMENT_MS_MAX, 'statement timeout', () => {
        this.#link.onPayment('wait for a payment over')
        this.#session.end()
        reject(Object.assign(new Error('canceling statement due to timeout'), { code: '57014' }))
      })
    })
  }

  /** One statement; when it is done, the transaction is idle until the next one arrives. */
  #ask<T>(label: string, apply: () => T | Promise<T>): Promise<T> {
    return call(this.#link, label, async () => {
      this.#callOffIdle()
      try {
        return await apply()
      } finally {
        if (!this.#session.hasEnded) this.#watchIdle()
      }
    })
  }

  #watchIdle(): void {
    this.#callOffIdle = this.#link.travel(IDLE_IN_TRANSACTION_MS_MAX, 'idle transaction', () => {
      this.#link.onPayment('idle transaction ended')
      this.#session.end()
    })
  }
}
