// Plain records of one run, from a simulation or from real processes: what was acknowledged, what
// receivers saw, what the database holds, which faults there were. The checker reads nothing else.
// All instants are on one true clock, but for those that the database holds (…AtMs of rows).

import type { DeliveryState, FinalState } from '../../server/core/delivery/delivery.ts'
import type { DeliverMode } from '../../server/core/delivery/endpoint-settings.ts'

/** What the checker must know of the settings. */
export interface Limits {
  patienceMs: number
  runMs: number
  /** The last attempt of a run lies in this last part of its 7 days. */
  closingMs: number
  attemptMsMax: number
  leaseMs: number
  pollMs: number
  /** Control served by one process holds in every other after this. */
  controlMsMax: number
  /** All due work is tried within this, once the faults have ended. */
  rescueMsMax: number
  /** A retry that was asked for is followed by an attempt within this, where it is checked. */
  retryMsMax?: number
  /** A newer update that was accepted is known to the owner after this, where it is checked. */
  newerMsMax?: number
  /** Where the database's clock jumps: how late what was scheduled by it may be, besides its longest delay. */
  jumpNoticedMs?: number
  /** All that is owed fits into memory. */
  hasRoom?: boolean
  /** What is read of one payment may fill the memory of a process. */
  isFilledByOne?: boolean
  /** After a graceful stop its shards have another owner within this. */
  handOverMsMax: number
  keyOverlapMs: number
  /** Delay after the n-th attempt of a run, before jitter; jitter's share; the longest breaker pause. */
  retryBaseMs: number
  retryCapMs: number
  jitter: number
  breakerMsMax: number
  /** How far rows' instants and the true clock may be apart. */
  clockErrorMs: number
  /** How far the clocks of two processes may be apart, one that has just started included. */
  clocksApartMs: number
}

export interface EndpointAct {
  kind:
    | 'register'
    | 'rotate'
    | 'pause'
    | 'resume'
    | 'disable'
    | 'delete'
    | 'retry'
    | 'cancel'
    | 'deliver'
  /** When the caller began, when it was committed, and when the caller had the answer (null: never). */
  askedAtMs: number
  appliedAtMs: number
  acknowledgedAtMs: number | null
  /** The time that it gave to rows, by the clock of the process that served it, where it is known. */
  writtenMs?: number
  /** The process that served it, where that is known. */
  node: string | null
  keyName: string | null
}

export interface EndpointHistory {
  id: string
  accountId: string | null
  /** The kinds of event that it hears; null: all. */
  events: readonly string[] | null
  acts: EndpointAct[]
  /** Where it is known. */
  shard?: number
  /** What it asked for when it was registered; left out: every. An act `deliver` turns it over. */
  deliver?: DeliverMode
}

export interface AcknowledgedWrite {
  paymentId: string
  accountId: string
  version: number
  outcome: 'created' | 'changed' | 'unchanged' | 'stale'
  /** The text as it was answered, where that is known. */
  event: { id: string; sequence: number; text?: string } | null
  askedAtMs: number
  acknowledgedAtMs: number
}

export interface StoredEvent {
  id: string
  paymentId: string
  accountId: string
  sequence: number
  kind: string
  text: string
  createdAtMs: number
}

export interface StoredDelivery {
  id: string
  eventId: string
  endpointId: string
  paymentId: string
  sequence: number
  state: DeliveryState
  attempts: number
  nextAttemptAtMs: number | null
  deadlineAtMs: number | null
  isReplay: boolean
}

export interface StoredAttempt {
  deliveryId: string
  attempt: number
  atMs: number
  /** Where it is known. */
  durationMs?: number
  outcome: string
  status: number | null
}

/** Every time that a delivery became final; a replayed one does so more than once. */
export interface FinalAct {
  deliveryId: string
  state: FinalState
  atMs: number
}

export interface ReplayAct {
  deliveryId: string
  atMs: number
  /** How many attempts it had by then: they belong to earlier runs. */
  attemptsBefore: number
  /** Those with the same number were asked for at once, oldest first; null or left out: alone. */
  recovery?: number | null
}

/** What was owed became due at a caller's request: a retry, or the cancellation of what held it back. */
export interface RetryAct {
  endpointId: string
  /** Null: of all that the endpoint is owed. */
  paymentId: string | null
  /** When the process that was asked read its clock, to write that time: what begins after it is what was asked for,
   *  although the transaction commits a moment later. */
  sinceMs: number
  atMs: number
  /** The deliveries that it concerned. */
  owed: readonly string[]
}

export interface ReceivedRequest {
  endpointId: string
  webhookId: string
  paymentId: string
  sequence: number
  attempt: number
  isReplay: boolean
  bodyHash: string
  /** Names of the keys whose signatures it carried and that verified; null: one did not. */
  signedBy: readonly string[] | null
  /** Who sent it, where that is known. */
  node: string | null
  /** Its process was frozen after its last look at its lease and before the system call, until others had the shard. */
  hasLeftOnWaking?: boolean
  sentAtMs: number
  startedAtMs: number
  /** What the receiver answered; null when it did not. */
  status: number | null
  /** When it had answered or hung up; null when it did neither. */
  answeredAtMs: number | null
  /** False when the answer was lost or came too late: the sender cannot know of it. */
  wasAnswerHeard: boolean
}

export interface FaultAct {
  kind:
    | 'crash'
    | 'stall'
    | 'partition'
    | 'starve'
    | 'store'
    | 'stop'
    /** Its session was ended at the database; all else goes on. */
    | 'cut'
    /** The machine sleeps, and its clocks tell so when it wakes up. */
    | 'sleep'
    /** The machine is paused and no clock of its own tells; until it has renewed its leases. */
    | 'pause'
    | 'wall-clock'
    | 'database-clock'
  /** Null: all of them. */
  node: string | null
  fromMs: number
  untilMs: number
  /** The database's clock is behind what it was before. */
  isSetBack?: boolean
}

export interface LeaseAct {
  shard: number
  epoch: number
  owner: string
  atMs: number
}

/** Health was written: the endpoint is shown as failing, although a later success was known. */
export interface FailingWrite {
  endpointId: string
  atMs: number
  /** The same instant, by the clock of the process that wrote. */
  writerMs: number
  knownSuccessAtMs: number
  failingSinceMs: number
}

export interface RunRecord {
  limits: Limits
  endpoints: readonly EndpointHistory[]
  writes: readonly AcknowledgedWrite[]
  events: readonly StoredEvent[]
  deliveries: readonly StoredDelivery[]
  attempts: readonly StoredAttempt[]
  finals: readonly FinalAct[]
  replays: readonly ReplayAct[]
  /** Where they are known. */
  retries?: readonly RetryAct[]
  requests: readonly ReceivedRequest[]
  faults: readonly FaultAct[]
  leases: readonly LeaseAct[]
  /** How many attempts each endpoint's health tells of, where that is known. */
  health?: readonly { endpointId: string; attempts: number }[]
  /** Where they are known. */
  failingWrites?: readonly FailingWrite[]
  /** Deliveries that were due, with nothing in their way, when the faults ended. */
  dueAtFaultsEnd: readonly string[]
  faultsEndedAtMs: number
  endedAtMs: number
  /** What became of calls to the service, where that is known. */
  calls?: {
    /** Never answered, although all faults had ended. */
    unanswered: number
    wronglyRefused: readonly { paymentId: string; reason: string }[]
  }
}

/** On its way, or waiting for its answer. */
export function isInFlight(request: ReceivedRequest, node: string, nowMs: number): boolean {
  const endsAtMs = Math.min(request.answeredAtMs ?? Infinity, request.sentAtMs + 15_000)
  return request.node === node && request.startedAtMs <= nowMs && endsAtMs > nowMs
}

export interface Violation {
  invariant: string
  detail: string
  /** To narrow the timeline down. */
  endpointId: string | null
  paymentId: string | null
  atMs: number | null
}
