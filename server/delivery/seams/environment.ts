// Everything that the engine takes from the world: time, dice, timers, network, store, log. The
// composition hands in the real ones, the simulator its own.

import type { AttemptResult, CallbackRequest } from '../../core/delivery/callback-request.ts'
import type { Outcome } from '../../core/delivery/delivery.ts'
import type { QueuedDelivery } from '../../core/delivery/queued-delivery.ts'
import type { Clock } from '../../core/plain/clock.ts'
import type { SigningPair } from '../../core/signatures/asymmetric-signature.ts'
import type { ChangedLane } from '../../store/owed/sending-endpoints.ts'
import type { DeliveryStore } from './delivery-store.ts'

export interface AttemptReport {
  deliveryId: string
  eventId: string
  endpointId: string
  paymentId: string
  kind: string
  sequence: number
  isReplay: boolean
  shard: number
  epoch: number
  attempt: number
  atMs: number
  durationMs: number
  outcome: Outcome
  state: string
  nextAttemptAtMs: number | null
}

/** The session whose lock is this process's sign (core/delivery/session-signs). */
export interface SignSession {
  /** No other session ever has it. */
  readonly name: string
  /** Which of these signs have ended. Rejects when the session, or its lock, is gone. */
  beat(watched: readonly string[]): Promise<readonly string[]>
  close(): void
}

export interface EngineEnvironment {
  clock: Clock
  /** The most that can have passed, for what must end in time: see cautious-clock.ts. */
  cautiousMs(): number
  random(): number
  /** Calls `task` once after `ms`; returns the function that calls it off. */
  setTimer(ms: number, task: () => void): () => void
  store: DeliveryStore
  /** Opens the session whose lock is this process's sign; `onEnd` tells that it is gone. Rejects when none can be had soon.
   *  Without it a process that dies is known by its silence alone. */
  openSign?(onEnd: () => void): Promise<SignSession>
  /** Never hangs. Rejects only if no byte was sent: the engine then does not count an attempt. */
  send(request: CallbackRequest): Promise<AttemptResult>
  /** The service's own keys, the newest first. Rejects when none can be read. */
  signers(): Promise<readonly SigningPair[]>
  /** Announces work and changes to other processes; without it they find them by polling. */
  wakeUps?: {
    announceWork(shard: number): void
    announceEndpoint(lane: ChangedLane): void
    /** This process has started or stopped, or has given shards up: others may give or take. */
    announceLeases(): void
  }
  /**
   * Where an endpoint fetches the file of an event, for those that are sent a link. Always the same text. Rejects when it
   * cannot be kept: then nothing is sent.
   */
  documentLink(
    delivery: Pick<QueuedDelivery, 'clientKey' | 'eventId' | 'endpointId'>,
  ): Promise<string>
  log: EngineLog
  /** Called for each attempt once it is recorded. */
  onAttempt(report: AttemptReport): void
  /** Nothing was sent, for a reason of our own; the delivery is tried again soon. */
  onNotAttempted?(): void
  /** A callback was signed with the service's own keys; others of the same second share it. */
  onSigned?(): void
  /** An endpoint that has only failed was disabled. */
  onDisabled?(): void
}

export interface EngineLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}
