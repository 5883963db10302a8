// Accepting in the twin, as store/payments/payments and store/payments/accept do it: a payment is locked to the end of a
// transaction, the endpoints are read after the locks, and what is saved is seen after the commit. Who is
// owed what is the service's own decision.

import type { ListeningEndpoint } from '../../server/core/delivery/fan-out.ts'
import type { HandedOff } from '../../server/core/delivery/queued-delivery.ts'
import type {
  AcceptedChanges,
  LockedPayments,
} from '../../server/operations/accepting/payment-store.ts'
import type { LockedPayment } from '../../server/store/payments/payments.ts'
import type { ChangeToSave } from '../../server/store/payments/save-new.ts'
import type { EventRow, PendingRow, Stored } from './twin-tables.ts'
import { whole } from './twin-tables.ts'

interface PaymentLock {
  holder: PaymentSession
  waiting: { session: PaymentSession; granted: () => void }[]
}

export class TwinPayments {
  readonly #stored: Stored
  readonly #locks = new Map<string, PaymentLock>()

  constructor(stored: Stored) {
    this.#stored = stored
  }

  begin(): PaymentSession {
    return new PaymentSession(this.#stored, this.#locks)
  }
}

interface Saved {
  payments: readonly LockedPayment[]
  events: readonly EventRow[]
  owed: readonly PendingRow[]
  deliveries: readonly HandedOff[]
}

/** One transaction. */
export class PaymentSession {
  readonly #stored: Stored
  readonly #locks: Map<string, PaymentLock>
  #state: 'open' | 'saved' | 'ended' = 'open'
  #readAtMs = 0
  #saved: Saved = { payments: [], events: [], owed: [], deliveries: [] }

  constructor(stored: Stored, locks: Map<string, PaymentLock>) {
    this.#stored = stored
    this.#locks = locks
  }

  get hasEnded(): boolean {
    return this.#state === 'ended'
  }

  tryLock(
    paymentIds: readonly string[],
    clientKeys: ReadonlyMap<string, number> = new Map(),
  ): LockedPayments {
    this.#mustBe('open')
    const busy = new Set(paymentIds.filter((id) => !this.#takeIfFree(id)))
    return { ...this.#read(paymentIds, clientKeys), busy }
  }

  /** Takes one lock after the other, in one order; reads when all of them are its own. */
  lock(
    paymentIds: readonly string[],
    clientKeys: ReadonlyMap<string, number>,
    onGranted: (locked: LockedPayments) => void,
  ): 'granted' | 'waits' {
    this.#mustBe('open')
    const [next] = [...new Set(paymentIds)].sort().filter((id) => !this.#takeIfFree(id))
    if (next === undefined) {
      onGranted(this.#read(paymentIds, clientKeys))
      return 'granted'
    }
    const granted = () => void this.lock(paymentIds, clientKeys, onGranted)
    this.#locks.get(next)?.waiting.push({ session: this, granted })
    return 'waits'
  }

  /** Sees what is owed as it is now; what it saves is seen after the commit. */
  save({ changes, deliveries, raised }: Omit<AcceptedChanges, 'audits'>, nowMs: number): void {
    this.#mustBe('open')
    const strands = new Set([...this.#stored.tables.pending.values()].map(strandOf))
    for (const delivery of deliveries) {
      if (delivery.sequence > 1 && strands.has(strandOf(delivery))) delivery.hasElders = true
    }
    const accountIds = new Map(changes.map(({ id, accountId }) => [id, accountId]))
    const owed = deliveries.map((delivery) =>
      toPending(delivery, accountIds.get(delivery.eventId) as string, whole(nowMs)),
    )
    const payments = [...changes.filter(({ isLatest }) => isLatest).map(toPayment), ...raised]
    const events = changes.map(toEvent)
    this.#saved = { payments, events, owed, deliveries }
    this.#state = 'saved'
    this.#stored.events.onFannedOut(events, this.#readAtMs)
  }

  /** No index keeps two transactions from giving one sequence number twice: only the locks do. */
  commit(): void {
    this.#mustBe('saved')
    const { payments, events, owed, deliveries } = this.#saved
    const { tables } = this.#stored
    this.#state = 'ended'
    for (const payment of payments) tables.payments.set(payment.id, payment)
    for (const event of events) tables.events.set(event.id, event)
    for (const row of owed) tables.pending.set(row.id, row)
    this.#release()
    this.#stored.events.onOwed(deliveries)
  }

  /** A rollback, or the end of its connection. A commit that is being done is not broken off. */
  end(): void {
    if (this.#state !== 'open') return
    this.#state = 'ended'
    this.#release()
  }

  #takeIfFree(paymentId: string): boolean {
    const lock = this.#locks.get(paymentId)
    if (lock === undefined) this.#locks.set(paymentId, { holder: this, waiting: [] })
    return lock === undefined || lock.holder === this
  }

  #release(): void {
    for (const [id, lock] of this.#locks) {
      lock.waiting = lock.waiting.filter(({ session }) => session !== this)
      if (lock.holder !== this) continue
      const next = lock.waiting.shift()
      if (next === undefined) this.#locks.delete(id)
      else {
        lock.holder = next.session
        next.granted()
      }
    }
  }

  #read(paymentIds: readonly string[], clientKeys: ReadonlyMap<string, number>): LockedPayments {
    const { tables, events } = this.#stored
    const stored = new Map<string, LockedPayment>()
    for (const id of paymentIds) {
      const payment = tables.payments.get(id)
      if (payment) stored.set(id, { ...payment, id })
    }
    this.#readAtMs = events.onEndpointsRead()
    return { stored, busy: new Set(), endpoints: this.#listening(clientKeys) }
  }

  /** Whatever their status, those of these accounts and those of all accounts of their clients. */
  #listening(clientKeys: ReadonlyMap<string, number>): readonly ListeningEndpoint[] {
    const clients = new Set(clientKeys.values())
    return [...this.#stored.tables.endpoints.values()].filter(
      ({ clientKey, accountId, deletedAtMs }) =>
        deletedAtMs === null &&
        (accountId === null ? clients.has(clientKey) : clientKeys.get(accountId) === clientKey),
    )
  }

  #mustBe(state: 'open' | 'saved'): void {
    if (this.#state !== state) {
      throw Object.assign(new Error('the connection has ended'), { code: '25P03' })
    }
  }
}

function strandOf(row: { endpointId: string; paymentId: string }): string {
  return `${row.endpointId}/${row.paymentId}`
}

function toPayment(change: ChangeToSave): LockedPayment {
  const { clientKey, paymentId, accountId, sequence, version, text, documentHash } = change
  return { clientKey, id: paymentId, accountId, sequence, version, text, documentHash }
}

function toEvent(change: ChangeToSave): EventRow {
  const { clientKey, id, paymentId, accountId, sequence, kind, text } = change
  return { clientKey, id, paymentId, accountId, sequence, kind, text }
}

function toPending(delivery: HandedOff, accountId: string, nowMs: number): PendingRow {
  const { hasElders: _, payload: __, ...queued } = delivery
  return { ...queued, accountId, createdAtMs: nowMs, lastOutcome: null, lastStatus: null }
}
