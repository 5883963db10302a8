// The options of a NATS source: where to read, where to submit changes, and the lock on consuming.

import type { NatsSettings } from '../config/config.ts'
import type { PaymentGatherer } from '../operations/parts/payment-gatherer.ts'

export interface SourceLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/** The lock that lets one process at a time consume. */
export interface ConsumerLock {
  /** Null: another process has it. `onLost` is called at most once. */
  take(onLost: () => void): Promise<{ release(): Promise<void> } | null>
}

export interface NatsSourceOptions {
  settings: NatsSettings
  gatherer: Pick<PaymentGatherer, 'submit'>
  lock: ConsumerLock
  log: SourceLog
  /** Called for every message that was recorded or dead-lettered. */
  onMessage?(outcome: 'recorded' | 'dead-lettered'): void
  spans?: Partial<NatsSpans>
  inHandBytesMax?: number
}

export interface NatsSpans {
  /** How long the server waits for an acknowledgement before it sends a message again. */
  ackWaitMs: number
  /** How often the server is notified that messages in hand are still worked on. */
  workingEveryMs: number
  pullExpiresMs: number
  /** Pauses between terms: the first, and the longest after failures in a row. */
  restMs: number
  restMsMax: number
  /** How often the lock is tried while another process has it. */
  lockEveryMs: number
}
