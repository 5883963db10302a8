// The options of a NATS source: where to read, where to submit changes, and the right to consume.

import type { NatsSettings } from '../config/config.ts'
import type { PaymentGatherer } from '../operations/accepting/payment-gatherer.ts'

export interface SourceLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/** The right to consume, which one process has at a time. */
export interface ConsumerRight {
  readonly id: string
  /** False from the moment on when another process may have it. */
  isHeld(): boolean
  release(): Promise<void>
}

export interface NatsSourceOptions {
  settings: NatsSettings
  gatherer: Pick<PaymentGatherer, 'submit'>
  /** Null: another process has it. `onLost` is called at most once. */
  takeLease(onLost: () => void): Promise<ConsumerRight | null>
  log: SourceLog
  /** Called for every message that was recorded or dead-lettered. */
  onMessage?(outcome: 'recorded' | 'dead-lettered'): void
  timing?: Partial<NatsTiming>
  inHandBytesMax?: number
}

export interface NatsTiming {
  /** How long the server waits for an acknowledgement before it sends a message again. */
  ackWaitMs: number
  /** How often the server is notified that messages in hand are still worked on. */
  workingEveryMs: number
  pullExpiresMs: number
  /** Pauses between sessions: the first, and the longest after failures in a row. */
  restMs: number
  restMsMax: number
  /** How often the lease is asked for while another process has it. */
  leaseEveryMs: number
}
