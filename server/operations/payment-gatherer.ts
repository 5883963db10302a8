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

/** Whoever has handed a change in. Told once which of the two it was; must not throw. */
export interface Submitter {
  recorded(recorded: RecordedPayment): void
  refused(error: unknown): void
}

interface Waiting {
  change: PaymentChange
  bytes: number
  submitter: Submitter
}

type Record = (changes: readonly PaymentChange[]) => Promise<readonly RecordResult[]>

export class PaymentGatherer {
  readonly #record: Record
  readonly #limits: GathererLimits
  #waiting: Waiting[] = []
  #waitingBytes = 0
  #flushes = 0
  #isFlushing = false
  /** Payments that a transaction under way changes: their next change waits for it to end. */
  readonly #underWay = new Set<string>()

  constructor(record: Record, limits: GathererLimits = GATHERER_LIMITS) {
    this.#record = record
    this.#limits = limits
  }

  /** Settles when the change is on disk, or is refused. Changes of one payment keep their order. */
  submit(change: PaymentChange): Promise<RecordedPayment> {
    return new Promise((recorded, refused) => this.enter(change, { recorded, refused }))
  }

  /** The same without a promise: thousands a second come this way. */
  enter(change: PaymentChange, submitter: Submitter): void {
    const bytes = change.write.document?.file.base64.length ?? 0
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
    // When all sockets that had something to say have been read: what they brought travels together.
    // A microtask would come after the first of them, and send a transaction for it alone.
    setImmediate(() => {
      this.#isFlushing = false
      this.#flush()
    })
  }

  #flush(): void {
    while (this.#mayFlush()) {
      const batch = this.#take()
      if (batch.length === 0) return
      for (const { change } of batch) this.#underWay.add(change.write.id)
      this.#flushes++
      void this.#write(batch).finally(() => {
        for (const { change } of batch) this.#underWay.delete(change.write.id)
        this.#flushes--
        this.#flush()
      })
    }
  }

  #mayFlush(): boolean {
    if (this.#flushes >= this.#limits.flushesMax || this.#waiting.length === 0) return false
    // A second transaction only when a whole one is waiting: half-empty ones cost an fsync each.
    return this.#flushes === 0 || this.#waiting.length >= this.#limits.changesPerFlushMax
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
    let results: readonly RecordResult[]
    try {
      results = await this.#record(batch.map(({ change }) => change))
    } catch (error) {
      if (isDatabaseAway(error)) {
        // The commit may have happened: repeating the same write is harmless, so all may try again.
        for (const { submitter } of batch) submitter.refused(databaseAway(error))
      } else if (batch.length === 1) {
        batch[0]?.submitter.refused(error)
      } else {
        // One of them is poison. Strangers must not suffer: each gets a transaction of its own.
        for (const member of batch) await this.#write([member])
      }
      return
    }
    for (let index = 0; index < batch.length; index++) {
      const { submitter } = batch[index] as Waiting
      const result = results[index] as RecordResult
      if (result instanceof ServiceError) submitter.refused(result)
      else submitter.recorded(result)
    }
  }
}
