// One request and its answer, as undici's handler. Status line and headers decide; of the body a
// little is read for the record. Whatever happens, and in whichever order, it ends exactly once.

import type { Dispatcher } from 'undici'
import type { Outcome } from '../core/delivery.ts'
import type { Connection, ConnectionPool, Waiter } from './connection-pool.ts'
import { toFailedOutcome } from './send-failure.ts'
import { type TimerWheel, WheelEntry } from './timer-wheel.ts'

export interface AttemptResult {
  outcome: Outcome
  /** Until the answer's header, which decides; for a failure, until it was one. */
  durationMs: number
}

export interface ExchangeLimits {
  wheel: TimerWheel
  monotonicMs: () => number
  deadlineMs: number
  bodyTimeMs: number
  bodyBytesMax: number
  excerptBytesMax: number
}

export interface CallbackRequest {
  url: string
  /** Whoever the endpoint belongs to: tenants never share a connection. */
  tenant: string
  /** Name, value, name, value …; all but `host` and `content-length`, which are added here. */
  headers: readonly string[]
  /** Sent in this order, as one body. */
  body: readonly Uint8Array[]
  /** Whose callback it is: nothing that is sent, but what a listener fetches it by. */
  endpointId?: string
  deliveryId?: string
}

/** Where a callback goes, once its URL has passed the rules. */
export interface Target {
  origin: string
  path: string
}

// Parts below this are copied into one buffer: cheaper than a write each. Above, they are written
// one by one as they are, so that a document of 14 MB is never in memory twice.
const JOINED_BYTES_MAX = 64 * 1024

const TIMEOUT: Outcome = { kind: 'unreachable', reason: 'timeout' }

export class Exchange extends WheelEntry implements Dispatcher.DispatchHandler, Waiter {
  readonly #pool: ConnectionPool
  readonly #limits: ExchangeLimits
  readonly #target: Target
  readonly #request: CallbackRequest
  readonly #onEnd: (result: AttemptResult) => void
  #startedAtMs = 0
  #connection: Connection | null = null
  #isEnded = false
  /** Set with the header; from then on the answer stands. */
  #status = 0
  #retryAfter: string | undefined
  #answeredAfterMs = 0
  #bodyBytes = 0
  #excerpt: Buffer | null = null

  constructor(
    { pool, limits }: { pool: ConnectionPool; limits: ExchangeLimits },
    target: Target,
    request: CallbackRequest,
    onEnd: (result: AttemptResult) => void,
  ) {
    super()
    this.#pool = pool
    this.#limits = limits
    this.#target = target
    this.#request = request
    this.#onEnd = onEnd
  }

  start(): void {
    this.#startedAtMs = this.#limits.monotonicMs()
    this.#limits.wheel.set(this, this.#startedAtMs + this.#limits.deadlineMs)
    const connection = this.#pool.take(this.#request.tenant, this.#target.origin, this)
    if (connection !== null) this.onConnection(connection)
  }

  onConnection(connection: Connection): void {
    this.#connection = connection
    // It waited for the socket until its time was over: the wheel is about to say so.
    if (this.#elapsedMs() >= this.#limits.deadlineMs) {
      this.#fail(TIMEOUT)
      return
    }
    try {
      // Undici tells of its own refusals, a header that cannot be sent among them, by onResponseError.
      connection.client.dispatch(toDispatchOptions(this.#target.path, this.#request), this)
    } catch (error) {
      this.onResponseError(null, error)
    }
  }

  /** The deadline, or the end of the time for the body. */
  override onDue(): void {
    if (this.#status === 0) this.#fail(TIMEOUT)
    else this.#end(this.#answer(), false)
  }

  // The last moment before the first byte. Undici connects first, or looks for a turn of the loop at a
  // socket that was idle. A process that is frozen meanwhile would send when it wakes up, before its
  // timers run: behind the end of its lease, when another has delivered newer updates (F3).
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#elapsedMs() < this.#limits.deadlineMs) return
    this.#fail(TIMEOUT)
    controller.abort(new Error('its time was over before it could be sent'))
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // 1xx is no answer yet; however many come, the deadline stands.
    if (status < 200 || this.#isEnded) return
    const afterMs = this.#elapsedMs()
    // The wheel is coarse; an answer after the deadline is late all the same.
    if (afterMs > this.#limits.deadlineMs) {
      this.#fail(TIMEOUT)
      return
    }
    this.#status = status
    this.#answeredAfterMs = afterMs
    if (status === 429 || status === 503) {
      const retryAfter = headers['retry-after']
      this.#retryAfter = Array.isArray(retryAfter) ? retryAfter[0] : retryAfter
    }
    const bodyMs = Math.min(afterMs + this.#limits.bodyTimeMs, this.#limits.deadlineMs)
    this.#limits.wheel.set(this, this.#startedAtMs + bodyMs)
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isEnded) return
    this.#keep(chunk)
    this.#bodyBytes += chunk.length
    // An unread body blocks its socket: past the limit the socket goes.
    if (this.#bodyBytes >= this.#limits.bodyBytesMax) this.#end(this.#answer(), false)
  }

  onResponseEnd(): void {
    this.#end(this.#answer(), true)
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: unknown): void {
    // A reset after the header takes nothing back: the receiver has answered.
    if (this.#status === 0) this.#fail(toFailedOutcome(error))
    else this.#end(this.#answer(), false)
  }

  #elapsedMs(): number {
    return this.#limits.monotonicMs() - this.#startedAtMs
  }

  #keep(chunk: Buffer): void {
    const room = this.#limits.excerptBytesMax - this.#bodyBytes
    if (room <= 0) return
    // Copied: the chunk is a window on a buffer of the socket's, which is much larger.
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
    this.#isEnded = true
    this.#limits.wheel.clear(this)
    if (this.#connection === null) {
      this.#pool.stopWaiting(this.#request.tenant, this.#target.origin, this)
    } else if (isReusable) this.#pool.release(this.#connection)
    else this.#pool.drop(this.#connection)
    this.#onEnd(result)
  }
}

function toDispatchOptions(
  path: string,
  { headers, body: parts }: CallbackRequest,
): Dispatcher.DispatchOptions {
  const options = { path, method: 'POST', headers: headers as string[] }
  if (parts.length <= 1) return { ...options, body: parts[0] ?? null }
  const bytes = parts.reduce((sum, part) => sum + part.byteLength, 0)
  if (bytes <= JOINED_BYTES_MAX) return { ...options, body: Buffer.concat(parts, bytes) }
  return {
    ...options,
    headers: [...headers, 'content-length', String(bytes)],
    // Undici writes any iterable of buffers in turn, waiting for the socket to drain between them;
    // its types know only streams.
    body: parts as unknown as Buffer,
  }
}
