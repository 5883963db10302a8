// What happens to a record, whichever broker it comes from: those of one payment one after the other in the order in
// which they are taken, different payments at once. It is acknowledged only when its change is on disk, or when it is
// stored as a dead letter. The first failure ends the session, and nothing is begun after it.

import { setTimeout as delay } from 'node:timers/promises'
import { isPoison, type PaymentMessage } from '../../core/payments/payment-message.ts'
import type { ServiceError } from '../../core/plain/errors.ts'
import { toServiceError } from '../../operations/shared/service-errors.ts'
import type { BrokerRecord, ConsumerRight, SourceOptions } from './broker.ts'
import { PaymentChains } from './payment-chains.ts'

/** A failure of ours may be temporary: a record is tried this often before it is a dead letter. */
const TRIES_MAX = 5

export interface IntakeOptions<R> extends SourceOptions {
  /** Begins the names of log lines. */
  name: string
  /** Between two tries of a payment that another transaction holds. */
  restMs: number
  onSettled(record: R): void
  onFailure(error: Error): void
}

export class RecordIntake<R extends BrokerRecord> {
  readonly #options: IntakeOptions<R>
  readonly #chains = new PaymentChains()
  hasSettled = false
  #isEnded = false

  constructor(options: IntakeOptions<R>) {
    this.#options = options
  }

  take(record: R): void {
    const read = record.read()
    this.#chains.add(read.paymentId, async () => {
      // After one that failed, or after the end, the record goes back in its order.
      if (this.#isEnded) return
      try {
        await this.#record(record, read)
        this.hasSettled = true
        this.#options.onSettled(record)
      } catch (error) {
        this.#options.onFailure(error as Error)
      }
    })
  }

  end(): void {
    this.#isEnded = true
  }

  /** Resolves when everything under way has ended. */
  idle(): Promise<void> {
    return this.#chains.idle()
  }

  async #record(record: R, read: PaymentMessage): Promise<void> {
    assertHeld(record.right)
    const refused = read.error ?? (await this.#write(record.right, read))
    assertHeld(record.right)
    if (refused !== null) {
      const isLastTry = refused.code === 'internal' && record.countTry() >= TRIES_MAX
      if (!isPoison(refused, isLastTry)) throw refused
      await record.putAside(read.accountId, refused)
      const { log, name } = this.#options
      log.warn({ code: refused.code, ...record.origin }, `${name}.dead-lettered`)
    }
    await record.acknowledge()
    this.#options.onRecord?.(refused === null ? 'recorded' : 'dead-lettered')
  }

  /** For a payment that another transaction holds, or a full queue, it waits here; only later records of
   *  the same payment wait with it. */
  async #write(right: ConsumerRight, { change }: PaymentMessage): Promise<ServiceError | null> {
    if (change === null) return null
    const fenced = { ...change, readUnder: { source: right.source, lease: right.id } }
    for (;;) {
      const refused = await this.#options.gatherer.submit(fenced).then(() => null, toServiceError)
      if (refused?.code !== 'overloaded' || this.#isEnded) return refused
      await delay(this.#options.restMs)
    }
  }
}

/** Asked before each step that only the holder may take. Between the question and the step a process can still be
 *  frozen: what it then records is refused by the database. */
export function assertHeld(right: ConsumerRight): void {
  if (!right.isHeld()) throw new Error('another process may have the right to consume')
}
