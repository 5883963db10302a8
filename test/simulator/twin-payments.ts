// Accepting in the twin, as store/payments and store/accept do it: a payment is locked to the end of a
// transaction, one statement saves a change and fans it out, and what it made is seen after the commit.

import type { HandedOff } from '../../server/core/queued-delivery.ts'
import type { ChangeToSave } from '../../server/store/accept.ts'
import type { LockedPayment, TriedPayments } from '../../server/store/payments.ts'
import type { EndpointRow, EventRow, PendingRow, Stored } from './twin-tables.ts'
import { whole } from './twin-tables.ts'

/** The database's dice: a delivery's id takes its time from its event. */
export type NewDeliveryId = (eventId: string, endpointId: string) => string

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

  begin(newDeliveryId: NewDeliveryId): PaymentSession {
    return new PaymentSession(this.#stored, this.#locks, newDeliveryId)
  }
}

interface Saved {
  payments: readonly LockedPayment[]
  events: readonly EventRow[]
  owed: readonly PendingRow[]
  handedOff: readonly HandedOff[]
}

/** One transaction. */
export class PaymentSession {
  readonly #stored: Stored
  readonly #locks: Map<string, PaymentLock>
  readonly #newDeliveryId: NewDeliveryId
  #state: 'open' | 'saved' | 'ended' = 'open'
  #saved: Saved = { payments: [], events: [], owed: [], handedOff: [] }

  constructor(stored: Stored, locks: Map<string, PaymentLock>, newDeliveryId: NewDeliveryId) {
    this.#stored = stored
    this.#locks = locks
    this.#newDeliveryId = newDeliveryId
  }

  get hasEnded(): boolean {
    return this.#state === 'ended'
  }

  tryLock(paymentIds: readonly string[]): TriedPayments {
    this.#mustBe('open')
    const busy = new Set(paymentIds.filter((id) => !this.#takeIfFree(id)))
    return { stored: this.#read(paymentIds), busy }
  }

  /** Takes one lock after the other, in one order; reads when all of them are its own. */
  lock(
    paymentIds: readonly string[],
    onGranted: (stored: Map<string, LockedPayment>) => void,
  ): 'granted' | 'waits' {
    this.#mustBe('open')
    const [next] = [...new Set(paymentIds)].sort().filter((id) => !this.#takeIfFree(id))
    if (next === undefined) {
      onGranted(this.#read(paymentIds))
      return 'granted'
    }
    const granted = () => void this.lock(paymentIds, onGranted)
    this.#locks.get(next)?.waiting.push({ session: this, granted })
    return 'waits'
  }

  /** Sees the endpoints and what is owed as they are now; what it makes is seen after the commit. */
  save(
    changes: readonly ChangeToSave[],
    raised: readonly LockedPayment[],
    nowMs: number,
  ): readonly HandedOff[] {
    this.#mustBe('open')
    const atMs = whole(nowMs)
    const { endpoints, pending } = this.#stored.tables
    const strands = new Set([...pending.values()].map(strandOf))
    const owed: PendingRow[] = []
    const handedOff: HandedOff[] = []
    for (const change of changes) {
      for (const endpoint of endpoints.values()) {
        if (!isOwed(endpoint, change)) continue
        const row = toPending(change, endpoint, this.#newDeliveryId(change.id, endpoint.id), atMs)
        owed.push(row)
        handedOff.push(toHandedOff(row, change, strands.has(strandOf(row))))
        strands.add(strandOf(row))
      }
    }
    const payments = [...changes.filter(({ isLatest }) => isLatest).map(toPayment), ...raised]
    const events = changes.map(toEvent)
    this.#saved = { payments, events, owed, handedOff }
    this.#state = 'saved'
    this.#stored.events.onFannedOut(events)
    return handedOff
  }

  /** No index keeps two transactions from giving one sequence number twice: only the locks do. */
  commit(): void {
    this.#mustBe('saved')
    const { payments, events, owed, handedOff } = this.#saved
    const { tables } = this.#stored
    this.#state = 'ended'
    for (const payment of payments) tables.payments.set(payment.id, payment)
    for (const event of events) tables.events.set(event.id, event)
    for (const row of owed) tables.pending.set(row.id, row)
    this.#release()
    this.#stored.events.onOwed(handedOff)
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

  #read(paymentIds: readonly string[]): Map<string, LockedPayment> {
    const stored = new Map<string, LockedPayment>()
    for (const id of paymentIds) {
      const payment = this.#stored.tables.payments.get(id)
      if (payment) stored.set(id, { ...payment, id })
    }
    return stored
  }

  #mustBe(state: 'open' | 'saved'): void {
    if (this.#state !== state) {
      throw Object.assign(new Error('the connection has ended'), { code: '25P03' })
    }
  }
}

/** Every endpoint that exists, whatever its status. */
function isOwed(endpoint: EndpointRow, { clientKey, accountId }: ChangeToSave): boolean {
  if (endpoint.clientKey !== clientKey || endpoint.deletedAtMs !== null) return false
  return endpoint.accountId === null || endpoint.accountId === accountId
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

function toPending(
  change: ChangeToSave,
  endpoint: EndpointRow,
  id: string,
  nowMs: number,
): PendingRow {
  return {
    clientKey: change.clientKey,
    id,
    eventId: change.id,
    endpointId: endpoint.id,
    paymentId: change.paymentId,
    accountId: change.accountId,
    sequence: change.sequence,
    kind: change.kind,
    shard: endpoint.shard,
    createdAtMs: nowMs,
    nextAttemptAtMs: nowMs,
    attempts: 0,
    runAttempts: 0,
    firstAttemptAtMs: null,
    firstFailedAtMs: null,
    deadlineAtMs: null,
    isReplay: false,
    lastOutcome: null,
    lastStatus: null,
  }
}

function toHandedOff(row: PendingRow, change: ChangeToSave, hasElders: boolean): HandedOff {
  const { accountId: _, createdAtMs: __, lastOutcome: ___, lastStatus: ____, ...queued } = row
  const { text, documentHash, documentBytes } = change
  return {
    ...queued,
    nextAttemptAtMs: row.nextAttemptAtMs as number,
    hasElders: row.sequence > 1 && hasElders,
    payload: { text, documentHash, documentBytes },
  }
}
