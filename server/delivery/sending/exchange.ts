// One request and its answer. Status line and headers decide; of the body a
// little is read for the record. Whatever happens, and in whichever order, it ends exactly once.

import type { AttemptResult, CallbackRequest } from '../../core/delivery/callback-request.ts'
import type { Outcome } from '../../core/delivery/delivery.ts'
import type { AnswerHead } from './answer-head.ts'
import type { Link } from './chain.ts'
import type { ConnectionPool } from './connection-pool.ts'
import type { Connection, Place, Waiter } from './origin-pool.ts'
import { OwnFailure } from './own-failure.ts'
import { toRequestBytes } from './request-bytes.ts'
import { toFailedOutcome } from './send-failure.ts'
import { TimeLimit } from './time-limit.ts'
import type { TlsSettings } from './tls-settings.ts'
import type { Carried } from './wire.ts'

export interface ExchangeLimits {
  monotonicMs: () => number
  /** The most that can have passed: whether a request may still leave is asked of this clock. */
  cautiousMs: () => number
  deadlineMs: number
  bodyTimeMs: number
  bodyBytesMax: number
  excerptBytesMax: number
}

/** What leaves of a callback; its other members are for the code before the socket. */
export type Posted = Pick<CallbackRequest, 'url' | 'clientKey' | 'headers' | 'body'> &
  Partial<Pick<CallbackRequest, 'beginByMs'>> & {
    /** Where the endpoint has settings of its own. */
    tlsSettings?: TlsSettings | null
    /** Where its time was running before. */
    begun?: Begun
    /** How much of the answer's body is kept, where that is not the usual. */
    keptBytesMax?: number
  }

/** The beginning of an attempt that is more than one exchange: its deadline counts from then. */
export interface Begun {
  atMs: number
  atCautiousMs: number
}

/** Where a callback goes, once its URL has passed the rules. */
export interface Target {
  place: Place
  /** The lines that its requests begin with. */
  beginning: string
}

const TIMEOUT: Outcome = { kind: 'unreachable', reason: 'timeout' }
const UNSENDABLE: Outcome = { kind: 'unsendable', reason: 'invalid-header' }

/** What all exchanges of one sender share. */
export interface ExchangeParts {
  pool: ConnectionPool
  limits: ExchangeLimits
  /** Called at each end, before the promise of `send` settles. */
  onEnded(): void
}

export class Exchange implements Carried, Waiter {
  link: Link<Waiter> | null = null
  readonly #parts: ExchangeParts
  readonly #target: Target
  readonly #request: Posted
  readonly #onEnd: (result: AttemptResult) => void
  readonly #onUnsent: (error: Error) => void
  readonly #limit: TimeLimit
  #startedAtMs = 0
  #startedAtCautiousMs = 0
  #connection: Connection | null = null
  #isEnded = false
  /** Set with the header; from then on the answer stands. */
  #status = 0
  #retryAfter: string | undefined
  #answeredAfterMs = 0
  #bodyBytes = 0
  #keptMs = 0
  #excerpt: Buffer | null = null

  constructor(
    parts: ExchangeParts,
    target: Target,
    request: Posted,
    onEnd: (result: AttemptResult) => void,
    onUnsent: (error: Error) => void,
  ) {
    this.#parts = parts
    this.#target = target
    this.#request = request
    this.#onEnd = onEnd
    this.#onUnsent = onUnsent
    this.#limit = new TimeLimit(parts.limits.monotonicMs, () => this.#onTimeOver())
  }

  start(): void {
    const { pool, limits } = this.#parts
    const { begun } = this.#request
    this.#startedAtMs = begun?.atMs ?? limits.monotonicMs()
    this.#startedAtCautiousMs = begun?.atCautiousMs ?? limits.cautiousMs()
    // The process stood still after it had looked at its lease: there is no time for a whole attempt any more.
    if (this.#startedAtCautiousMs >= (this.#request.beginByMs ?? Infinity)) {
      this.#giveUp(new Error('the lease may end before the attempt is over'))
      return
    }
    this.#limit.set(this.#startedAtMs + limits.deadlineMs)
    const connection = pool.take(this.#request.clientKey, this.#target.place, this)
    if (connection !== null) this.#dispatch(connection)
  }

  onConnection(connection: Connection): void {
    // It waited for the socket until its time was over: its limit is about to say so.
    if (this.#isTooLate()) {
      this.#connection = connection
      this.#fail(TIMEOUT)
    } else this.#dispatch(connection)
  }

  #dispatch(connection: Connection): void {
    this.#connection = connection
    const { headers, body } = this.#request
    const bytes = toRequestBytes(this.#target.beginning, headers, body)
    if (bytes === null) this.#fail(UNSENDABLE)
    else connection.wire.carry(this, bytes)
  }

  /** The deadline, or the end of the time for the body. */
  #onTimeOver(): void {
    if (this.#status === 0) this.#fail(TIMEOUT)
    else this.#end(this.#answer(), false)
  }

  // The last moment before the first byte. The wire connects first, or looks at a socket that was idle for one
  // round of the event loop. A process that is frozen in between, or whose machine sleeps, would send when
  // it wakes up, before its timers run: after the end of its lease, when another process has delivered newer
  // updates (F3).
  mayBegin(): boolean {
    if (this.#isTooLate()) this.#fail(TIMEOUT)
    return !this.#isEnded
  }

  onHead({ status, retryAfter }: AnswerHead, isWhole: boolean): void {
    if (this.#isEnded) return
    const { limits } = this.#parts
    const afterMs = this.#elapsedMs()
    // An answer that is read before the timers run is late all the same.
    if (afterMs > limits.deadlineMs) {
      this.#fail(TIMEOUT)
      return
    }
    this.#status = status
    this.#answeredAfterMs = afterMs
    if (status === 429 || status === 503) this.#retryAfter = retryAfter
    // The body is here already: no time is left to limit.
    if (isWhole) return
    const bodyMs = Math.min(afterMs + limits.bodyTimeMs, limits.deadlineMs)
    this.#limit.set(this.#startedAtMs + bodyMs)
  }

  onBody(chunk: Buffer): void {
    if (this.#isEnded) return
    this.#keep(chunk)
    this.#bodyBytes += chunk.length
    // An unread body blocks its socket: past the limit the socket goes.
    if (this.#bodyBytes >= this.#parts.limits.bodyBytesMax) this.#end(this.#answer(), false)
  }

  onWhole({ keptMs }: AnswerHead): void {
    if (this.#isEnded) return
    this.#keptMs = keptMs
    const isFree = this.#connection?.wire.rest() === true
    this.#end(this.#answer(), isFree && keptMs > 0)
  }

  onBroken(error: unknown): void {
    // A reset after the header takes nothing back: the receiver has answered.
    if (error instanceof OwnFailure) this.#giveUp(error)
    else if (this.#status === 0) this.#fail(toFailedOutcome(error))
    else this.#end(this.#answer(), false)
  }

  #elapsedMs(): number {
    return this.#parts.limits.monotonicMs() - this.#startedAtMs
  }

  /** The lease that it was begun under may be over: nothing of it leaves any more. */
  #isTooLate(): boolean {
    const { cautiousMs, deadlineMs } = this.#parts.limits
    return cautiousMs() - this.#startedAtCautiousMs >= deadlineMs
  }

  #keep(chunk: Buffer): void {
    const keptBytesMax = this.#request.keptBytesMax ?? this.#parts.limits.excerptBytesMax
    const room = keptBytesMax - this.#bodyBytes
    if (room <= 0) return
    // Copied: the chunk is a view of a buffer of the socket's, which is much larger.
    const kept = Buffer.from(chunk.subarray(0, room))
    this.#excerpt = this.#excerpt === null ? kept : Buffer.concat([this.#excerpt, kept])
  }

  #answer(): AttemptResult {
    const outcome: Outcome = { kind: 'answered', status: this.#status }
    if (this.#retryAfter !== undefined) outcome.retryAfter = this.#retryAfter
    if (this.#excerpt !== null) outcome.excerpt = this.#excerpt
    return { outcome, durationMs: this.#answeredAfterMs }
  }

  #fail(outcome: Outcome): void {
    this.#end({ outcome, durationMs: this.#elapsedMs() }, false)
  }

  #end(result: AttemptResult, isReusable: boolean): void {
    if (this.#isEnded) return
    this.#letGo(isReusable)
    this.#onEnd(result)
  }

  /** Nothing was sent, for a reason of ours. */
  #giveUp(error: Error): void {
    if (this.#isEnded) return
    this.#letGo(false)
    this.#onUnsent(error)
  }

  #letGo(isReusable: boolean): void {
    this.#isEnded = true
    this.#limit.clear()
    const { pool, onEnded } = this.#parts
    if (this.#connection === null) {
      pool.stopWaiting(this.#request.clientKey, this.#target.place, this)
    } else if (isReusable) {
      pool.release(this.#connection, this.#startedAtMs + this.#answeredAfterMs, this.#keptMs)
    } else pool.drop(this.#connection)
    onEnded()
  }
}
