// What an endpoint's answers have taught its lane: how much it bears at once (window), whether it is down
// (circuit), whether it is slow, and when the next attempt may start. Every time here is one of the process's own
// monotonic clock: a database whose clock goes back by an hour would otherwise silence its endpoints for an hour.

import {
  type AnswerTimes,
  afterFullWindow,
  isOutdated,
  NEVER_MEASURED,
  slowdownOf,
} from '../../core/delivery/answer-times.ts'
import {
  afterAttempt,
  afterOutdatedFailure,
  afterProbeStarted,
  afterRetry,
  type Circuit,
  type CircuitPolicy,
  CLOSED_CIRCUIT,
  mayPass,
} from '../../core/delivery/circuit.ts'
import {
  afterSlowdown,
  narrow,
  rampUp,
  WINDOW_START,
  type Window,
  widen,
} from '../../core/delivery/window.ts'

export interface LanePolicy {
  /** Attempts in flight at one endpoint. */
  inFlightMax: number
  /** Attempts per second at one endpoint; null for as many as it bears. */
  ratePerSecond: number | null
}

export interface Verdict {
  isSuccess: boolean
  durationMs: number
  bodyBytes: number
}

/** An endpoint whose answers take longer is slow. */
export const SLOW_MS = 1_000
/** Attempts per second of a lane that works off what was parked: an endpoint that answers at once could
 *  otherwise take the whole processor, and all other callbacks would wait. */
export const BACKLOG_PER_SECOND = 2_000
/** Bodies count in such pieces when lanes take turns: a lane of large ones waits in between. */
export const BYTES_PER_TURN = 64 * 1024
/** So many answers are judged together, or as many as the window holds. */
const ANSWERS_MIN = 16
/** What is usual at an endpoint is measured with so many in flight, over so many answers. */
const MEASURED_IN_FLIGHT = 4
const MEASURED_ANSWERS = 8
/** How far ahead of its pace a lane may be: timers are too coarse for one send at a time. */
const BACKLOG_AHEAD_MS = 5

export class LanePace {
  circuit: Circuit = CLOSED_CIRCUIT
  /** Set by `Turns` alone. True until an answer was quick: an unknown endpoint that hangs must not take the
   *  slots of proven ones. */
  isSlow = true
  /** Attempts that hold a slot. */
  inFlight = 0
  /** Turns that the lane has used up in advance, by large bodies. */
  debt = 0
  #window: Window = WINDOW_START
  #answerTimes: AnswerTimes = NEVER_MEASURED
  #isMeasuring = true
  #measuresSinceMs = Number.NEGATIVE_INFINITY
  #answerCount = 0
  #answerMs = 0
  #hasBacklog = false
  #nextSendAtMs = 0
  #aheadMs = 0
  /** The last retry that the lane has heard of, by the time on its row, and when it heard. */
  #retriedAtMs = 0
  #heardAtMs = Number.NEGATIVE_INFINITY

  /** True when the endpoint answers, and quickly: its lane may hold its full share of memory. */
  get isProven(): boolean {
    return !this.isSlow && this.circuit.state === 'CLOSED'
  }

  /** When an attempt may start: now, at a later time, or (Infinity) when one in flight has ended. */
  startsAtMs(nowMs: number): number {
    if (!mayPass(this.circuit, this.inFlight, nowMs)) {
      return this.inFlight > 0 ? Number.POSITIVE_INFINITY : this.circuit.probeAtMs
    }
    const size = Math.floor(this.#window.size)
    const inFlightMax = this.#isMeasuring ? Math.min(size, MEASURED_IN_FLIGHT) : size
    if (this.inFlight >= inFlightMax) return Number.POSITIVE_INFINITY
    return Math.max(nowMs, this.#nextSendAtMs - this.#aheadMs)
  }

  /** `hasBacklog`: parked deliveries of the lane are known. */
  started(policy: LanePolicy, nowMs: number, hasBacklog = false): void {
    this.inFlight++
    this.circuit = afterProbeStarted(this.circuit)
    this.#hasBacklog = hasBacklog
    const backlogRate = hasBacklog ? BACKLOG_PER_SECOND : null
    const rate = policy.ratePerSecond ?? backlogRate
    this.#aheadMs = policy.ratePerSecond === null ? BACKLOG_AHEAD_MS : 0
    if (rate !== null) this.#nextSendAtMs = Math.max(nowMs, this.#nextSendAtMs) + 1_000 / rate
  }

  /** Nothing was sent, so nothing was learnt. */
  calledOff(): void {
    this.inFlight--
    if (this.circuit.state === 'HALF_OPEN') this.circuit = { ...this.circuit, state: 'OPEN' }
  }

  /**
   * The endpoint is said to be mended: if it was down, the next attempt is its probe, at once. A retry is heard of more
   * than once, announced and found; `retriedAtMs` names it, and it counts once. Which of two is later is not asked: the
   * clock that they were written by may have gone back.
   */
  retry(retriedAtMs: number, nowMs: number): void {
    if (retriedAtMs === this.#retriedAtMs) return
    this.#retriedAtMs = retriedAtMs
    this.#heardAtMs = nowMs
    this.circuit = afterRetry(this.circuit, nowMs)
  }

  answered(
    verdict: Verdict,
    policy: LanePolicy,
    circuit: CircuitPolicy,
    nowMs: number,
    startedAtMs = nowMs,
  ): void {
    this.inFlight--
    this.debt += Math.floor(verdict.bodyBytes / BYTES_PER_TURN)
    const wasClosed = this.circuit.state === 'CLOSED'
    if (!wasClosed && !verdict.isSuccess && startedAtMs < this.#heardAtMs) {
      this.circuit = afterOutdatedFailure(this.circuit)
      return
    }
    this.circuit = afterAttempt(this.circuit, verdict.isSuccess, circuit, nowMs)
    // A failed probe moves the circuit only: the window keeps the size that was safe before.
    if (wasClosed) {
      this.#window = verdict.isSuccess
        ? widen(this.#window, policy.inFlightMax, this.#hasBacklog)
        : narrow(this.#window, nowMs)
      if (verdict.isSuccess) this.#judgeAnswers(verdict.durationMs, nowMs)
    } else if (verdict.isSuccess) {
      this.#window = rampUp(this.#window)
    }
  }
  #judgeAnswers(durationMs: number, nowMs: number): void {
    // What began among many says nothing of an endpoint at ease.
    if (this.#isMeasuring && nowMs - durationMs < this.#measuresSinceMs) return
    this.#answerMs += durationMs
    this.#answerCount++
    const wanted = this.#isMeasuring ? MEASURED_ANSWERS : Math.max(ANSWERS_MIN, this.#window.size)
    if (this.#answerCount < wanted) return
    const averageMs = this.#answerMs / this.#answerCount
    this.#answerMs = 0
    this.#answerCount = 0
    this.#answerTimes = this.#isMeasuring
      ? { usualMs: averageMs, measuredAtMs: nowMs }
      : afterFullWindow(this.#answerTimes, averageMs)
    const slowdown = slowdownOf(this.#answerTimes, averageMs)
    this.#isMeasuring = isOutdated(this.#answerTimes, slowdown, nowMs)
    this.#measuresSinceMs = nowMs
    this.#window = afterSlowdown(this.#window, slowdown, this.#hasBacklog)
  }
}
