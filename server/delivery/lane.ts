// A lane: one endpoint's queue, and what its answers have taught us: how much it carries at once
// (window), whether it is down (circuit), whether it is slow. In it a strand for each payment: whose turn it
// is among a strand's updates is decided in core/strand. Tens of thousands of strands exist: keep it small.

import {
  afterAttempt,
  afterProbeStarted,
  type Circuit,
  type CircuitPolicy,
  CLOSED_CIRCUIT,
  mayPass,
} from '../core/circuit.ts'
import type { QueuedDelivery } from '../core/queued-delivery.ts'
import { NIL_UUID } from '../core/uuid.ts'
import { narrow, rampUp, WINDOW_START, type Window, widen } from '../core/window.ts'
import { Queue } from './queue.ts'

export interface LanePolicy {
  /** Attempts in flight at one endpoint. */
  inFlightMax: number
  /** An endpoint whose answers take longer is slow. */
  slowMs: number
  /** Attempts per second at one endpoint; null for as many as it carries. */
  ratePerSecond: number | null
  /** The same for a lane that works off what was parked: an endpoint that answers at once could
   *  otherwise take the whole processor, and everybody else's callbacks would wait. */
  backlogPerSecond: number
  /** Bodies count in such pieces when lanes take turns: a lane of large ones waits in between. */
  bytesPerTurn: number
}

export interface Verdict {
  isSuccess: boolean
  durationMs: number
  bodyBytes: number
}

const BACKLOG_AHEAD_MS = 5

export class Lane {
  readonly clientKey: number
  readonly endpointId: string
  readonly shard: number
  readonly ready = new Queue<Strand>()
  /** By their keys. */
  readonly strands = new Map<string, Strand>()
  /** Those that wait for a later time. */
  readonly waiting = new Set<Strand>()
  /** Gone from memory with an attempt that is under way or not yet recorded, by their keys: one
   *  payment's updates are in flight one at a time, even when its strand is read anew meanwhile. */
  readonly departed = new Map<string, Strand>()
  circuit: Circuit = CLOSED_CIRCUIT
  /** Slow until it has shown otherwise: a stranger that hangs must not take the place of the proven. */
  isSlow = true
  inFlight = 0
  /** Deliveries in memory. */
  count = 0
  /** In the ring of lanes that can move. */
  isTurning = false
  /** Turns that it has used up in advance. */
  debt = 0
  /** Deliveries wait in the database without a due time; read up to this id. */
  hasParked = false
  parkedUpTo = NIL_UUID
  isRefilling = false
  /** Some were parked while a refill was reading: they may lie behind what it has read. */
  isParkedAnew = false
  #window: Window = WINDOW_START
  #nextSendAtMs = 0
  /** How far ahead of its pace it may be: timers are too coarse for one send at a time. */
  #aheadMs = 0

  constructor(of: { clientKey: number; endpointId: string; shard: number }) {
    this.clientKey = of.clientKey
    this.endpointId = of.endpointId
    this.shard = of.shard
  }

  /** True while it says nothing about its endpoint that would be missed. */
  get isForgettable(): boolean {
    return (
      this.strands.size === 0 &&
      this.departed.size === 0 &&
      this.inFlight === 0 &&
      !this.hasParked &&
      !this.isRefilling &&
      this.circuit === CLOSED_CIRCUIT
    )
  }

  /** When an attempt may start: now, at a later time, or (Infinity) when one in flight has ended. */
  startsAtMs(nowMs: number): number {
    if (!mayPass(this.circuit, this.inFlight, nowMs)) {
      return this.inFlight > 0 ? Number.POSITIVE_INFINITY : this.circuit.probeAtMs
    }
    if (this.inFlight >= Math.floor(this.#window.size)) return Number.POSITIVE_INFINITY
    return Math.max(nowMs, this.#nextSendAtMs - this.#aheadMs)
  }

  started(policy: LanePolicy, nowMs: number): void {
    this.inFlight++
    this.circuit = afterProbeStarted(this.circuit)
    const backlogRate = this.hasParked ? policy.backlogPerSecond : null
    const rate = policy.ratePerSecond ?? backlogRate
    this.#aheadMs = policy.ratePerSecond === null ? BACKLOG_AHEAD_MS : 0
    if (rate !== null) this.#nextSendAtMs = Math.max(nowMs, this.#nextSendAtMs) + 1_000 / rate
  }

  /** The turn was given back: nothing was sent, so nothing was learnt. */
  calledOff(): void {
    this.inFlight--
    if (this.circuit.state === 'HALF_OPEN') this.circuit = { ...this.circuit, state: 'OPEN' }
  }

  answered(verdict: Verdict, policy: LanePolicy, circuit: CircuitPolicy, nowMs: number): void {
    this.inFlight--
    this.debt += Math.floor(verdict.bodyBytes / policy.bytesPerTurn)
    const wasClosed = this.circuit.state === 'CLOSED'
    this.circuit = afterAttempt(this.circuit, verdict.isSuccess, circuit, nowMs)
    // What a failed probe says is said by the circuit: the window keeps what was safe before.
    if (wasClosed) {
      this.#window = verdict.isSuccess
        ? widen(this.#window, policy.inFlightMax)
        : narrow(this.#window, nowMs)
    } else if (verdict.isSuccess) {
      this.#window = rampUp(this.#window)
    }
  }
}

export interface Strand {
  /** Its name within the lane. */
  readonly key: string
  readonly paymentId: string
  readonly lane: Lane
  /** In sequence. */
  owed: QueuedDelivery[]
  /** False: others exist that were not read. When these are done, the strand is read again. */
  isComplete: boolean
  /** Under way, or not yet recorded. */
  inFlight: QueuedDelivery | null
  isReady: boolean
  /** The 7 days of what is in flight are over: it ends without an attempt. */
  isOver: boolean
  /** Dropped from memory; what still comes back for it is ignored. */
  isGone: boolean
  /** Its place is free; what came of it is not yet recorded. */
  isAnswered: boolean
}

/** The payment's id as it is, not a text of its own. A replay keeps no order among other updates: it is
 *  a strand of its own. */
export function strandKey(delivery: QueuedDelivery): string {
  return delivery.isReplay ? `replay/${delivery.id}` : delivery.paymentId
}

/** `owed` becomes the strand's: at least one, all of the same payment. */
export function newStrand(lane: Lane, owed: QueuedDelivery[], isComplete: boolean): Strand {
  const first = owed[0] as QueuedDelivery
  return {
    key: strandKey(first),
    paymentId: first.paymentId,
    lane,
    owed,
    isComplete,
    inFlight: null,
    isReady: false,
    isOver: false,
    isGone: false,
    isAnswered: false,
  }
}
