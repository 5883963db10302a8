// What a NATS source is given: where to read, where to hand changes in, and the right to consume.

import type { NatsSettings } from '../config/config.ts'
import type { PaymentGatherer } from '../operations/parts/payment-gatherer.ts'

export interface SourceLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/** The right to consume, which one process has at a time. */
export interface Turn {
  /** Null: another process has it. `onLost` is called at most once. */
  take(onLost: () => void): Promise<{ release(): Promise<void> } | null>
}

export interface NatsSourceOptions {
  settings: NatsSettings
  gatherer: Pick<PaymentGatherer, 'submit'>
  turn: Turn
  log: SourceLog
  /** Called for every message that was recorded or put aside. */
  onMessage?(outcome: 'recorded' | 'dead-lettered'): void
  spans?: Partial<NatsSpans>
  inHandBytesMax?: number
}

export interface NatsSpans {
  /** How long the server waits for an acknowledgement before it sends a message again. */
  ackWaitMs: number
  /** How often those in hand are said to be still worked on. */
  workingEveryMs: number
  pullExpiresMs: number
  /** Between terms: from the first to the last after failures that follow each other. */
  restMs: number
  restMsMax: number
  /** How often the turn is asked for while another process has it. */
  turnEveryMs: number
}
