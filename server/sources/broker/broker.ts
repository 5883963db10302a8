// The seam between what all brokers have in common (this room) and what one of them is (nats/, kafka/). An adapter opens
// sessions; a session reads records and hands them to the intake (record-intake.ts), which asks only what is here.

import type { PaymentMessage } from '../../core/payments/payment-message.ts'
import type { ServiceError } from '../../core/plain/errors.ts'
import type { PaymentGatherer } from '../../operations/accepting/payment-gatherer.ts'

export interface SourceLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/** The right to consume a source, a stream or a partition, which one process has at a time. */
export interface ConsumerRight {
  readonly source: string
  /** Another one each time that it is taken. */
  readonly id: string
  /** False from the moment on when another process may have it. */
  isHeld(): boolean
}

export interface BrokerRecord {
  /** The one that it was read under. */
  readonly right: ConsumerRight
  /** Where it is at the broker, for the log. */
  readonly origin: Readonly<Record<string, string | number>>
  read(): PaymentMessage
  /** Stores it as a dead letter. It is acknowledged only then. */
  putAside(accountId: string | null, problem: ServiceError): Promise<void>
  /** Resolves when a later record of its payment may be applied: what is read again after that is not older. */
  acknowledge(): Promise<void>
}

/** From taking the right to the first failure, the loss of the right, or the stop. */
export interface BrokerSession {
  /** False also while nothing that is asked of the broker succeeds, or a fault of our own stands. */
  readonly isConsuming: boolean
  /** Records that wait at the broker or are in hand, as far as this session has the right to them. */
  readonly lag: number
  readonly hasSettled: boolean
  /** Until its end. Rejects with what has ended it. */
  run(): Promise<void>
  /** May be called more than once: only the first failure counts. */
  end(failure: Error | null): void
  /** Gives the right back, after the run. */
  release(): Promise<void>
}

export interface Broker {
  readonly name: 'nats' | 'kafka'
  /** Null while another process has the right, or the broker is away. `wakeUp` is called when that may be over. */
  open(wakeUp: () => void): Promise<BrokerSession | null>
  /** The source stops: `open` waits no longer. */
  interrupt(): void
  close(): Promise<void>
}

/** What a source of either broker is given. */
export interface SourceOptions {
  gatherer: Pick<PaymentGatherer, 'submit'>
  log: SourceLog
  /** Called for every record that was recorded or dead-lettered. */
  onRecord?(outcome: 'recorded' | 'dead-lettered'): void
  /** Called for everything that failed at the broker and is tried again. */
  onBrokerFailure?(): void
}

export interface SourceTiming {
  /** Pauses between sessions: the first, and the longest after failures in a row. */
  restMs: number
  restMsMax: number
  /** How often the right is asked for while another process has it. */
  askEveryMs: number
}
