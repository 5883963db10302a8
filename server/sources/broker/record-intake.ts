// What happens to a record, whichever broker it comes from: those of one payment one after the other in the order in
// which they are taken, different payments at once. It is acknowledged only when its change is on disk, or when it is
// stored as a dead letter. The first failure ends the session, and nothing is begun after it. A fault of our own is no failure
// until it has lasted: records wait for its end (own-faults.ts).

import { setTimeout as delay } from 'node:timers/promises'
import { isPoison, type PaymentMessage } from '../../core/payments/payment-message.ts'
import { Ending } from '../../core/plain/ending.ts'
import type { ServiceError } from '../../core/plain/errors.ts'
import type { RecordedPayment } from '../../operations/accepting/record-payments.ts'
import { toServiceError } from '../../operations/shared/service-errors.ts'
import type { BrokerRecord, ConsumerRight, SourceOptions } from './broker.ts'
import { describeFault } from './describe-error.ts'
import type { OwnFaults, Turn } from './own-faults.ts'
import { PaymentChains } from './payment-chains.ts'

export interface IntakeOptions<R> extends SourceOptions {
  /** Begins the names of log lines. */
  name: string
  /** Between two tries of a payment that another transaction holds. */
  restMs: number
  ownFaults: OwnFaults
  onSettled(record: R): void
  onFailure(error: Error): void
}

export class RecordIntake<R extends BrokerRecord> {
  readonly #options: IntakeOptions<R>
  readonly #chains = new PaymentChains()
  readonly #ending = new Ending()
  hasSettled = false

  constructor(options: IntakeOptions<R>) {
    this.#options = options
    options.ownFaults.begin()
  }

  /** A fault of our own stands: nothing is recorded. */
  get isHeldUp(): boolean {
    return this.#options.ownFaults.stands
  }

  take(record: R): void {
    const read = record.read()
    this.#chains.add(read.paymentId, async () => {
      // After one that failed, or after the end, the record goes back in its order.
      if (this.#ending.isOver) return
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
    this.#ending.end()
  }

  /** Resolves when everything under way has ended. */
  idle(): Promise<void> {
    return this.#chains.idle()
  }

  async #record(record: R, read: PaymentMessage): Promise<void> {
    assertHeld(record.right)
    const refused = read.error ?? (await this.#write(record, read))
    assertHeld(record.right)
    if (refused !== null) {
      if (!isPoison(refused, true)) throw refused
      await record.putAside(read.accountId, refused)
      const { log, name } = this.#options
      log.warn({ code: refused.code, ...record.origin }, `${name}.dead-lettered`)
    }
    await record.acknowledge()
    this.#options.onRecord?.(refused === null ? 'recorded' : 'dead-lettered')
  }

  /** For a payment that another transaction holds, a full queue, or the end of a fault of our own it waits here; only later
   *  records of the same payment wait with it. */
  async #write(record: R, { change }: PaymentMessage): Promise<ServiceError | null> {
    if (change === null) return null
    const { gatherer, ownFaults, restMs } = this.#options
    const { right } = record
    const fenced = { ...change, readUnder: { source: right.source, lease: right.id } }
    for (;;) {
      const turn = await ownFaults.enter(this.#ending)
      if (this.#ending.isOver) throw new Error('the session has ended')
      assertHeld(right)
      const refused = await gatherer
        .submit(fenced)
        .then((recorded) => this.#countRecorded(recorded), toServiceError)
      const isWaitedFor = refused?.code === 'internal' && !this.#isItsOwn(record, refused, turn)
      turn.leave()
      if (isWaitedFor && ownFaults.isLasting) throw refused
      if (isWaitedFor) continue
      if (refused?.code === 'overloaded') {
        await this.#ending.orEnd(delay(restMs, undefined, { ref: false }))
        continue
      }
      if (ownFaults.stands) ownFaults.countThrough(JSON.stringify(record.origin))
      return refused
    }
  }

  /** One that was found as it is, or newer, has not shown that others can be written. */
  #countRecorded({ outcome }: RecordedPayment): null {
    if (outcome !== 'unchanged' && outcome !== 'stale') this.#options.ownFaults.countChange()
    return null
  }

  #isItsOwn({ origin }: R, { cause }: ServiceError, turn: Turn): boolean {
    const { ownFaults, log, name, onBrokerFailure } = this.#options
    if (ownFaults.countFailure(JSON.stringify(origin), turn)) return true
    log.warn({ error: describeFault(cause), ...origin }, `${name}.not-recorded`)
    onBrokerFailure?.()
    return false
  }
}

/** Asked before each step that only the holder may take. Between the question and the step a process can still be
 *  frozen: what it then records is refused by the database. */
export function assertHeld(right: ConsumerRight): void {
  if (!right.isHeld()) throw new Error('another process may have the right to consume')
}
