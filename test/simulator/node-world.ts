// What a simulated process needs of the world it runs in.

import type { EngineOptions } from '../../server/delivery/engine.ts'
import type { GathererLimits } from '../../server/operations/accepting/payment-gatherer.ts'
import type { HoldLimits } from '../../server/operations/accepting/payment-holds.ts'
import type { RecordingDeps } from '../../server/operations/accepting/record-payments.ts'
import type { WakeUp } from '../../server/store/owed/wake-ups.ts'
import type { Counters } from './counters.ts'
import type { StoreWeather } from './node-store.ts'
import type { Receiver } from './receivers.ts'
import type { FaultAct } from './records.ts'
import type { Scheduler } from './scheduler.ts'
import type { SiblingChannels } from './sibling-channels.ts'
import type { SignSessions } from './sign-sessions.ts'
import type { Subject } from './subject.ts'
import type { Twin } from './twin.ts'

export interface NodeWorld {
  seed: number
  subject: Subject
  scheduler: Scheduler
  twin: Twin
  signs: SignSessions
  siblings: SiblingChannels
  counters: Counters
  options: Omit<EngineOptions, 'onDatabaseTime'>
  accepting: AcceptingLimits
  accounts: RecordingDeps['accounts']
  startMs: number
  weather(): StoreWeather
  databaseMs(): number
  receiverAt(url: string): Receiver | undefined
  /** A notification from one process to all others; it may be lost. */
  announce(from: string, wakeUp: WakeUp): void
  onFault(fault: FaultAct): void
  log(node: string, message: string, fields: object): void
}

export interface AcceptingLimits {
  gatherer: GathererLimits
  holds: HoldLimits
}

/** Runs something in the process, if it is still alive and when it is awake; returns how to call it off. */
export type Door = (
  ms: number,
  label: string,
  run: () => void,
  options?: { isMidTurn?: boolean },
) => () => void
