// What the suites run: the same code as in operation, with its timing compressed (reliability §6).

import type { LeasePolicy } from '../../server/core/delivery/lease.ts'
import { DUE_READER_LIMITS } from '../../server/delivery/owing/due-reader.ts'
import type { Timing } from '../../server/timing.ts'
import type { Limits } from '../simulator/records.ts'
import type { BrokerFeed } from './feeds.ts'

/** Renewals may be late by 900 ms: of 25 s it is a smaller share, but on a busy machine they are. */
const LEASES: LeasePolicy = {
  leaseMs: 1_500,
  renewEveryMs: 100,
  attemptMsMax: 500,
  recordingMsMax: 100,
  processGoneAfterMs: 1_000,
  // As much of the lease as in operation, and more than a busy machine takes for a beat.
  sign: { beatEveryMs: 50, provenMs: 200, endedMs: 260 },
}

/** What the nemesis may do to the database and the way to it, with how often it comes up. */
export const TROUBLES = [
  'postmaster killed',
  'connections cut',
  'replies delayed',
  'black hole',
  'replies swallowed',
  'backends terminated',
  'signs ended',
  'tables locked',
] as const
export type Trouble = (typeof TROUBLES)[number]

/** What it may do to one service process. */
export const BLOWS = [
  'killed',
  'stopped',
  'frozen',
  'frozen and cut',
  'held busy',
  'killed after sending',
] as const
export type Blow = (typeof BLOWS)[number]

export interface BrokerPlan {
  /** Of the payments that come through no other broker before it, those through this one. */
  share: number
  /** Milliseconds between two blows. */
  everyMs: readonly [least: number, most: number]
  /** Of the blows, those that freeze it; all others kill it. */
  frozenShare: number
}

export interface Suite {
  name: 'smoke' | 'minute' | 'full'
  seconds: number
  leases: LeasePolicy
  /** Without faults, at the beginning: then nothing may be sent twice (F16). */
  calmMs: number
  runMs: number
  patienceMs: number
  /** How long it may take, after the last fault, until everything has ended. */
  drainMsMax: number
  writesPerSecond: number
  blows: Partial<Record<Blow, number>>
  blowEveryMs: readonly [least: number, most: number]
  troubles: Partial<Record<Trouble, number>>
  troubleEveryMs: readonly [least: number, most: number]
  /** Milliseconds between changes of endpoints: pause, resume, rotate, delete. */
  controlEveryMs: readonly [least: number, most: number]
  rollingRestarts: boolean
  clocksShift: boolean
  /** The brokers, where they are installed. */
  brokers: Readonly<Partial<Record<BrokerFeed, BrokerPlan>>>
  /** Of the updates that come through no broker, those through SQL. */
  sqlShare: number
  /** The database's own clock jumps, where libfaketime is installed. */
  clockJumps: boolean
  clockJumpEveryMs: readonly [least: number, most: number]
}

export const SMOKE: Suite = {
  name: 'smoke',
  seconds: 10,
  leases: LEASES,
  calmMs: 2_000,
  runMs: 8_000,
  patienceMs: 2_000,
  drainMsMax: 25_000,
  writesPerSecond: 8,
  blows: { killed: 3, stopped: 1 },
  blowEveryMs: [500, 2_500],
  troubles: { 'postmaster killed': 1 },
  troubleEveryMs: [3_500, 6_000],
  controlEveryMs: [1_000, 3_000],
  rollingRestarts: false,
  clocksShift: false,
  // Without Kafka, which takes as long to start as the whole suite.
  brokers: { nats: { share: 0.25, everyMs: [2_000, 5_000], frozenShare: 0 } },
  sqlShare: 0.3,
  clockJumps: false,
  clockJumpEveryMs: [1_500, 5_000],
}

export const FULL: Suite = {
  name: 'full',
  seconds: 480,
  leases: LEASES,
  calmMs: 5_000,
  runMs: 60_000,
  patienceMs: 10_000,
  drainMsMax: 120_000,
  writesPerSecond: 12,
  blows: {
    killed: 6,
    stopped: 2,
    frozen: 2,
    'frozen and cut': 3,
    'held busy': 1,
    'killed after sending': 1,
  },
  // To start again takes a process two to five seconds: with more of them nothing but starts would happen on a slow machine.
  blowEveryMs: [1_000, 5_000],
  troubles: {
    'postmaster killed': 2,
    'connections cut': 2,
    'replies delayed': 2,
    'black hole': 1,
    'replies swallowed': 3,
    'backends terminated': 2,
    'signs ended': 3,
    'tables locked': 1,
  },
  troubleEveryMs: [2_000, 8_000],
  controlEveryMs: [500, 3_000],
  rollingRestarts: true,
  clocksShift: true,
  brokers: {
    nats: { share: 0.25, everyMs: [3_000, 15_000], frozenShare: 0.3 },
    // A start costs several seconds of a processor, and a group that has settled is what the next blow is for.
    kafka: { share: 0.3, everyMs: [5_000, 20_000], frozenShare: 0.3 },
  },
  sqlShare: 0.3,
  clockJumps: true,
  clockJumpEveryMs: [2_000, 12_000],
}

/** What a landing runs: all faults, and deliveries that are given up sooner, because all have to end after the last fault. */
export const MINUTE: Suite = { ...FULL, name: 'minute', seconds: 60, runMs: 20_000 }

export const RETRY_BASE_MS = 50
export const RETRY_CAP_MS = 2_000
const JITTER = 0.2
const LAST_START_MARGIN_MS = 200
const BREAKER_MS_MAX = 1_000
const POLL_MS = 200

/** How far the database's clock is off at most. From one end to the other it is 12 leases: five minutes in
 *  operation, while the run stays far longer, as it is there. */
export function clockOffMsMax(suite: Suite): number {
  return suite.clockJumps ? 6 * suite.leases.leaseMs : 0
}

/** After the run: what waited for an exhausted update gets its chance first. */
export function disableAfterMs(suite: Suite): number {
  return suite.runMs + 2_000
}

export function timingOf(suite: Suite): Timing {
  return {
    retry: {
      baseMs: RETRY_BASE_MS,
      capMs: RETRY_CAP_MS,
      jitter: JITTER,
      runMs: suite.runMs,
      lastStartMarginMs: LAST_START_MARGIN_MS,
      timeScale: 1,
    },
    circuit: {
      failuresToOpen: 20,
      failingMsToOpen: 1_000,
      pauseMs: 100,
      pauseMsMax: BREAKER_MS_MAX,
    },
    patienceMs: suite.patienceMs,
    disableAfterMs: disableAfterMs(suite),
    attempt: { deadlineMs: suite.leases.attemptMsMax, connectTimeoutMs: 300 },
    pollEveryMs: POLL_MS,
    maintainEveryMs: 1_000,
    dueReader: {
      ...DUE_READER_LIMITS,
      aheadMs: 2 * POLL_MS,
      overlapMs: 5_000,
      overlapEveryMs: 1_000,
      sweepEveryMs: 5_000,
    },
    statementTimeoutMs: 3_000,
    stopMsMax: 19_000,
    sources: {
      nats: {
        ackWaitMs: 1_500,
        workingEveryMs: 500,
        pullExpiresMs: 1_000,
        restMs: 50,
        restMsMax: 500,
        askEveryMs: 200,
      },
      // The group waits as long as a session for a member that was killed, and processes are killed every few seconds.
      kafka: {
        sessionMs: 2_000,
        beatEveryMs: 200,
        restMs: 50,
        restMsMax: 500,
        askEveryMs: 200,
      },
    },
  }
}

export function limitsOf(suite: Suite): Limits {
  // A process reads the database's clock through a slow connection: half a round trip may be wrong. And what
  // is reckoned by that clock (runs, delays, patience) is as wrong as it is.
  const clockErrorMs = (suite.troubles['replies delayed'] ? 1_100 : 600) + 2 * clockOffMsMax(suite)
  return {
    patienceMs: suite.patienceMs,
    runMs: suite.runMs,
    closingMs: LAST_START_MARGIN_MS + 3 * BREAKER_MS_MAX,
    attemptMsMax: suite.leases.attemptMsMax,
    leaseMs: suite.leases.leaseMs,
    pollMs: 5 * POLL_MS,
    controlMsMax: 5_000,
    rescueMsMax: suite.leases.leaseMs + 5_000,
    handOverMsMax: 1_000,
    keyOverlapMs: 24 * 3_600_000,
    retryBaseMs: RETRY_BASE_MS,
    retryCapMs: RETRY_CAP_MS,
    jitter: JITTER,
    breakerMsMax: BREAKER_MS_MAX,
    clockErrorMs,
    clocksApartMs: clockErrorMs,
  }
}
