// Gathers payment changes that arrive together into one transaction: a flush starts when a previous one
// returns, so there is no timer, no added wait when idle, and one fsync for many when busy. A gathered
// transaction never waits for a locked payment: such changes are split off, and wait in a transaction of
// their own or are retried (payment-holds.ts).

import { ServiceError } from '../../core/plain/errors.ts'
import { databaseAway, isDatabaseAway } from '../../store/connection/db.ts'
import { isWaitOver } from '../../store/payments/payments.ts'
import { HOLD_LIMITS, type Hold, type HoldLimits, PaymentHolds } from './payment-holds.ts'
import {
  type Locking,
  PAYMENT_BUSY,
  type PaymentChange,
  type RecordedPayment,
  type RecordResult,
} from './record-payments.ts'

export interface GathererLimits {
  changesPerFlushMax: number
  bytesPerFlushMax: number
  flushesMax: number
  /** Limits on waiting changes; beyond them callers are refused with a Retry-After. */
  waitingMax: number
  waitingBytesMax: number
}

export const GATHERER_LIMITS: GathererLimits = {
  changesPerFlushMax: 500,
  bytesPerFlushMax: 4 * 1024 * 1024,
  flushesMax: 2,
  waitingMax: 20_000,
  waitingBytesMax: 128 * 1024 * 1024,
}

/** Takes the answer to one change: one of the two, once. Must not throw. */
export interface Submitter {
  recorded(recorded: RecordedPayment): void
  refused(error: unknown): void
}

interface Waiting {
  change: PaymentChange
  bytes: number
  submitter: Submitter
}

/** Timers; the simulator passes its own. */
export interface GathererTimers {
  /** After all sockets that can be read now have been read. */
  soon(task: () => void): void
  later(ms: number, task: () => void): void
}

const NODE_TIMERS: GathererTimers = {
  soon: (task) => void setImmediate(task),
  later: (ms, task) => void setTimeout(task, ms),
}

type Record = (
  changes: readonly PaymentChange[],
  locking: Locking,
) => Promise<readonly RecordResult[]>

export class PaymentGatherer {
  readonly #record: Record
  readonly #limits: GathererLimits
  readonly #timers: GathererTimers
  #waiting: Waiting[] = []
  #waitingBytes = 0
  #flushes = 0
  #isFlushing = false
  /** Payments that a transaction under way changes, or that are held: their next change waits. */
  readonly #underWay = new Set<string>()
  readonly #holds: PaymentHolds<Waiting>
  /** Holds that are due to be tried. */
  #dueHolds: Hold<Waiting>[] = []

  constructor(
    record: Record,
    limits: GathererLimits = GATHERER_LIMITS,
    holds: HoldLimits = HOLD_LIMITS,
    timers: GathererTimers = NODE_TIMERS,
  ) {
    this.#record = record
    this.#limits = limits
    this.#timers = timers
    this.#holds = new PaymentHolds(holds)
  }

  /** Settles when the change is on disk, or is refused. Changes of one payment keep their order. */
  submit(change: PaymentChange): Promise<RecordedPayment> {
    return new Promise((recorded, refused) => this.enter(change, { recorded, refused }))
  }

  /** `submit` without a promise, for the thousands of changes a second. */
  enter(change: PaymentChange, submitter: Submitter): void {
    const bytes = change.write.document?.file.base64.length ?? 0
    const hold = this.#holds.size === 0 ? undefined : this.#holds.get(change.write.id)
    if (hold) {
      if (!this.#holds.add(hold, { change, bytes, submitter })) submitter.refused(PAYMENT_BUSY)
      return
    }
    if (
      this.#waiting.length >= this.#limits.waitingMax ||
      (this.#waitingBytes > 0 && this.#waitingBytes + bytes > this.#limits.waitingBytesMax)
    ) {
      submitter.refused(
        new ServiceError('overloaded', 'Too many changes are waiting to be written. Try again.', {
          retryAfterSeconds: 1,
        }),
      )
      return
    }
    this.#waiting.push({ change, bytes, submitter })
    this.#waitingBytes += bytes
    if (this.#isFlushing) return
    this.#isFlushing = true
    // Changes from all readable sockets share a transaction. A microtask would run after the first
    // socket, and start a transaction for it alone.
    this.#timers.soon(() => {
      this.#isFlushing = false
      this.#flush()
    })
  }

  #flush(): void {
    while (this.#mayFlush()) {
      const { batch, tried } = this.#take()
      if (batch.length === 0) return
      for (const { change } of batch) this.#underWay.add(change.write.id)
      this.#flushes++
      void this.#write(batch, 'try').then((busy) => {
        this.#flushes--
        this.#holdBack(busy, tried)
        for (const { change } of batch) this.#freeUnlessHeld(change.write.id)
        this.#flush()
      })
    }
  }

  #mayFlush(): boolean {
    if (this.#flushes >= this.#limits.flushesMax) return false
    if (this.#waiting.length === 0 && this.#dueHolds.length === 0) return false
    // A second transaction only when enough waits to fill it: each costs an fsync, even half empty.
    return this.#flushes === 0 || this.#waiting.length >= this.#limits.changesPerFlushMax
  }

  #take(): { batch: readonly Waiting[]; tried: readonly Hold<Waiting>[] } {
    const { changesPerFlushMax, bytesPerFlushMax } = this.#limits
    const batch: Waiting[] = []
    let bytes = 0
    let isFull = false
    const fits = (more: number) => {
      isFull ||= batch.length >= changesPerFlushMax
      isFull ||= batch.length > 0 && bytes + more > bytesPerFlushMax
      return !isFull
    }
    const tried: Hold<Waiting>[] = []
    for (const hold of this.#dueHolds) {
      if (!fits(0)) break
      tried.push(hold)
      batch.push(...hold.members)
      for (const member of hold.members) bytes += member.bytes
    }
    this.#dueHolds = this.#dueHolds.slice(tried.length)
    const left: Waiting[] = []
    for (const waiting of this.#waiting) {
      if (!fits(waiting.bytes) || this.#underWay.has(waiting.change.write.id)) {
        left.push(waiting)
        continue
      }
      batch.push(waiting)
      bytes += waiting.bytes
      this.#waitingBytes -= waiting.bytes
    }
    this.#waiting = left
    return { batch, tried }
  }

  /** Answers all changes except those of locked payments, which it returns. */
  async #write(batch: readonly Waiting[], locking: Locking): Promise<readonly Waiting[]> {
    let results: readonly RecordResult[]
    try {
      results = await this.#record(
        batch.map(({ change }) => change),
        locking,
      )
    } catch (error) {
      if (locking === 'wait' && isWaitOver(error)) return batch
      if (isDatabaseAway(error)) {
        // The commit may have happened, but repeating the same write is harmless: all may retry.
        for (const { submitter } of batch) submitter.refused(databaseAway(error))
      } else if (batch.length === 1) {
        batch[0]?.submitter.refused(error)
      } else {
        // The database refuses one change. To keep the others from failing too, write them one by one.
        return this.#writeOneByOne(batch, locking)
      }
      return []
    }
    const busy: Waiting[] = []
    for (let index = 0; index < batch.length; index++) {
      const member = batch[index] as Waiting
      const result = results[index] as RecordResult
      if (result === PAYMENT_BUSY) busy.push(member)
      else if (result instanceof ServiceError) member.submitter.refused(result)
      else member.submitter.recorded(result)
    }
    return busy
  }

  async #writeOneByOne(batch: readonly Waiting[], locking: Locking): Promise<readonly Waiting[]> {
    const busy: Waiting[] = []
    const busyIds = new Set<string>()
    for (const member of batch) {
      const { id } = member.change.write
      // If an earlier change of its payment waits, this one must not overtake it.
      const left = busyIds.has(id) ? [member] : await this.#write([member], locking)
      if (left.length === 0) continue
      busy.push(member)
      busyIds.add(id)
    }
    return busy
  }

  /** `tried` are the holds in this transaction: those that are not busy again have ended. */
  #holdBack(busy: readonly Waiting[], tried: readonly Hold<Waiting>[]): void {
    if (busy.length === 0 && tried.length === 0) return
    const byPayment = Map.groupBy(busy, ({ change }) => change.write.id)
    for (const hold of tried) {
      if (!byPayment.has(hold.paymentId)) this.#letGo(hold)
    }
    const begun = new Map<string, Hold<Waiting> | null>()
    for (const [paymentId, members] of byPayment) {
      const hold = this.#holds.get(paymentId)
      if (hold) {
        this.#holds.renew(hold, members)
        this.#tryLater(hold)
        continue
      }
      begun.set(paymentId, this.#holds.begin(paymentId, members))
      if (!begun.get(paymentId)) refuse(members)
    }
    // First, so that changes that came during the try are not overtaken by those that come during the hold.
    this.#takeAlong(begun)
    for (const hold of begun.values()) {
      if (hold === null) continue
      if (this.#holds.beginWait()) void this.#wait(hold)
      else this.#tryLater(hold)
    }
  }

  /** Later changes of newly held payments wait with them, or are refused with them. */
  #takeAlong(begun: ReadonlyMap<string, Hold<Waiting> | null>): void {
    if (begun.size === 0) return
    const left: Waiting[] = []
    const refused: Waiting[] = []
    const full = new Set<string>()
    for (const waiting of this.#waiting) {
      const { id } = waiting.change.write
      const hold = begun.get(id)
      if (hold === undefined) {
        left.push(waiting)
        continue
      }
      this.#waitingBytes -= waiting.bytes
      if (hold !== null && !full.has(id) && this.#holds.add(hold, waiting)) continue
      full.add(id)
      refused.push(waiting)
    }
    this.#waiting = left
    refuse(refused)
  }

  /** Waits in a transaction of its own: PostgreSQL grants the lock as soon as the payment is free. */
  async #wait(hold: Hold<Waiting>): Promise<void> {
    const busy = await this.#write(hold.members, 'wait')
    this.#holds.endWait()
    if (busy.length === 0) this.#letGo(hold)
    else this.#giveUp(hold, busy)
    this.#flush()
  }

  #tryLater(hold: Hold<Waiting>): void {
    const ms = this.#holds.nextTryMs(hold)
    if (ms === null) {
      this.#giveUp(hold, hold.members)
      return
    }
    this.#timers.later(ms, () => {
      this.#dueHolds.push(hold)
      this.#flush()
    })
  }

  /** Ends a hold whose members have their answers. Changes that came during it are next. */
  #letGo(hold: Hold<Waiting>): void {
    this.#holds.end(hold)
    this.#freeUnlessHeld(hold.paymentId)
    for (const { bytes } of hold.later) this.#waitingBytes += bytes
    if (hold.later.length > 0) this.#waiting = [...hold.later, ...this.#waiting]
  }

  /** Refuses also what came during the hold, so that no change of a payment waits twice as long. */
  #giveUp(hold: Hold<Waiting>, busy: readonly Waiting[]): void {
    this.#holds.end(hold)
    this.#freeUnlessHeld(hold.paymentId)
    refuse([...busy, ...hold.later])
  }

  #freeUnlessHeld(paymentId: string): void {
    if (!this.#holds.get(paymentId)) this.#underWay.delete(paymentId)
  }
}

function refuse(members: readonly Waiting[]): void {
  for (const { submitter } of members) submitter.refused(PAYMENT_BUSY)
}
