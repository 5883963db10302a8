// Gathers payment changes that arrive together into one transaction: a flush starts when a previous
// one returns, so there is no timer, no added wait when idle, and one fsync for many when busy.

import { ServiceError } from '../core/errors.ts'
import { databaseAway, isDatabaseAway } from '../store/db.ts'
import type { PaymentChange, RecordedPayment, RecordResult } from './record-payments.ts'

export interface GathererLimits {
  changesPerFlushMax: number
  bytesPerFlushMax: number
  flushesMax: number
  /** What may wait; beyond it the caller is asked to come back. */
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

interface Waiting {
  change: PaymentChange
  bytes: number
  resolve(recorded: RecordedPayment): void
  reject(error: unknown): void
}

type Record = (changes: readonly PaymentChange[]) => Promise<readonly RecordResult[]>

export class PaymentGatherer {
  readonly #record: Record
  readonly #limits: GathererLimits
  #waiting: Waiting[] = []
  #waitingBytes = 0
  #flushes = 0
  /** Payments that a transaction under way changes: their next change waits for it to end. */
  readonly #underWay = new Set<string>()

  constructor(record: Record, limits: GathererLimits = GATHERER_LIMITS) {
    this.#record = record
    this.#limits = limits
  }

  /** Settles when the change is on disk, or is refused. Changes of one payment keep their order. */
  submit(change: PaymentChange): Promise<RecordedPayment> {
    const bytes = change.write.document?.file.base64.length ?? 0
    if (
      this.#waiting.length >= this.#limits.waitingMax ||
      (this.#waitingBytes > 0 && this.#waitingBytes + bytes > this.#limits.waitingBytesMax)
    ) {
      return Promise.reject(
        new ServiceError('overloaded', 'Too many changes are waiting to be written. Try again.', {
          retryAfterSeconds: 1,
        }),
      )
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ change, bytes, resolve, reject })
      this.#waitingBytes += bytes
      // After this turn, so that whatever arrived in it travels together.
      queueMicrotask(() => this.#flush())
    })
  }

  #flush(): void {
    if (this.#flushes >= this.#limits.flushesMax || this.#waiting.length === 0) return
    // A second transaction only when a whole one is waiting: half-empty ones cost an fsync each.
    if (this.#flushes > 0 && this.#waiting.length < this.#limits.changesPerFlushMax) return
    const batch = this.#take()
    if (batch.length === 0) return
    const paymentIds = batch.map(({ change }) => change.write.id)
    for (const id of paymentIds) this.#underWay.add(id)
    this.#flushes++
    void this.#write(batch).finally(() => {
      for (const id of paymentIds) this.#underWay.delete(id)
      this.#flushes--
      this.#flush()
    })
  }

  #take(): readonly Waiting[] {
    const { changesPerFlushMax, bytesPerFlushMax } = this.#limits
    const batch: Waiting[] = []
    const left: Waiting[] = []
    let bytes = 0
    let isFull = false
    for (const waiting of this.#waiting) {
      isFull ||= batch.length >= changesPerFlushMax
      isFull ||= batch.length > 0 && bytes + waiting.bytes > bytesPerFlushMax
      if (isFull || this.#underWay.has(waiting.change.write.id)) {
        left.push(waiting)
        continue
      }
      batch.push(waiting)
      bytes += waiting.bytes
    }
    this.#waiting = left
    this.#waitingBytes -= bytes
    return batch
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    try {
      const results = await this.#record(batch.map(({ change }) => change))
      for (const [index, { resolve, reject }] of batch.entries()) {
        const result = results[index] as RecordResult
        if (result instanceof ServiceError) reject(result)
        else resolve(result)
      }
    } catch (error) {
      if (isDatabaseAway(error)) {
        // The commit may have happened: repeating the same write is harmless, so all may try again.
        for (const { reject } of batch) reject(databaseAway(error))
      } else if (batch.length === 1) {
        batch[0]?.reject(error)
      } else {
        // One of them is poison. Strangers must not suffer: each gets a transaction of its own.
        for (const member of batch) await this.#write([member])
      }
    }
  }
}
