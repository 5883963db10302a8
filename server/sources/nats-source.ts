// Payment changes out of a NATS JetStream stream. A message is acknowledged only when its change is on
// disk, or when what is wrong with it has reached the dead letters. Changes of one payment are applied
// in stream order, also across restarts and take-overs:
//   - one process consumes at a time (`turn`), so that no two apply messages of one payment at once;
//   - a payment's next message is submitted only when the server has confirmed the ack of the one
//     before, so what is redelivered is never older than what was applied last;
//   - a term begins by gathering what an earlier one has left unacknowledged, and applies that first.
// Whatever goes wrong ends the term: what is unfinished is handed back, and a new term begins later.

import { setTimeout as delay } from 'node:timers/promises'
import { JetStreamError, type JsMsg, jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { NatsSettings } from '../config.ts'
import { ServiceError } from '../core/errors.ts'
import { isPoison, type PaymentMessage, readPaymentMessage } from '../core/payment-message.ts'
import { toServiceError } from '../operations/failures.ts'
import type { PaymentGatherer } from '../operations/payment-gatherer.ts'
import { DeadLetters } from './dead-letters.ts'
import { connectToNats, openConsumer, type PullConsumer } from './nats-connection.ts'
import { PaymentChains } from './payment-chains.ts'

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
  /** Told of every message that was recorded or put aside. */
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

const SPANS: NatsSpans = {
  ackWaitMs: 30_000,
  workingEveryMs: 10_000,
  pullExpiresMs: 5_000,
  restMs: 500,
  restMsMax: 30_000,
  turnEveryMs: 5_000,
}

/** Messages that are delivered and not yet acknowledged; the server holds to it, too. */
export const IN_HAND_MAX = 256
/** NATS has no larger messages than 64 MiB: with nothing in hand, any one fits. */
const IN_HAND_BYTES_MAX = 66 * 1_024 * 1_024
/** While less than this share is free, nothing is asked for: mostly, it would not fit. */
const ROOM_SHARE_MIN = 1 / 64
const CLOSE_MS_MAX = 2_000
/** A mistake of ours may be a passing one: so often it is tried again before it is put aside. */
const TRIES_MAX = 5

export class NatsSource {
  readonly #options: NatsSourceOptions
  readonly #spans: NatsSpans
  #connection: NatsConnection | null = null
  #term: Term | null = null
  #running: Promise<void> | null = null
  #isStopped = false
  #failures = 0
  #wakeUp: (() => void) | null = null

  constructor(options: NatsSourceOptions) {
    this.#options = options
    this.#spans = { ...SPANS, ...options.spans }
  }

  /** Returns at once: whether the broker is there or not, it goes on asking. */
  start(): void {
    this.#running ??= this.#run()
  }

  /** No new message is taken; those under way end and are acknowledged; the rest is handed back. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#wakeUp?.()
    this.#term?.end(null)
    await this.#running
    await close(this.#connection)
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      try {
        const hasServed = await this.#serve()
        if (!hasServed) await this.#rest(this.#spans.turnEveryMs)
      } catch (error) {
        if (this.#isStopped) return
        this.#options.log.warn({ error: describe(error) }, 'nats.interrupted')
        const { restMs, restMsMax } = this.#spans
        await this.#rest(Math.min(restMs * 2 ** Math.min(this.#failures++, 10), restMsMax))
      }
    }
  }

  /** One term. False: it is another process's turn. */
  async #serve(): Promise<boolean> {
    const { turn, log, settings } = this.#options
    let term: Term | null = null
    let isLost = false
    const held = await turn.take(() => {
      isLost = true
      term?.end(new Error('the turn to consume was lost with its database connection'))
    })
    if (held === null) return false
    try {
      this.#connection ??= await this.#connect()
      if (this.#connection === null) return true
      const consumer = await openConsumer(this.#connection, settings, {
        inHandMax: IN_HAND_MAX,
        ackWaitMs: this.#spans.ackWaitMs,
      })
      term = new Term(this.#options, this.#spans, this.#connection, consumer)
      this.#term = term
      if (isLost || this.#isStopped) return true
      log.info({ stream: settings.stream, durable: settings.durable }, 'nats.consuming')
      await term.run()
      return true
    } finally {
      // Failures follow each other only where nothing was achieved in between.
      if (term?.hasSettled) this.#failures = 0
      this.#term = null
      await held.release()
    }
  }

  /** Waits as long as it takes for the first connection; later ones the driver makes by itself. */
  async #connect(): Promise<NatsConnection | null> {
    const connection = await connectToNats(this.#options.settings)
    if (!this.#isStopped) return connection
    await close(connection)
    return null
  }

  #rest(ms: number): Promise<void> {
    if (this.#isStopped) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wakeUp = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

/** From taking the turn to the first failure, or the stop. */
class Term {
  readonly #options: NatsSourceOptions
  readonly #spans: NatsSpans
  readonly #connection: NatsConnection
  readonly #consumer: PullConsumer
  readonly #deadLetters: DeadLetters
  readonly #chains = new PaymentChains()
  /** By stream sequence: everything that is delivered to us and not settled yet. */
  readonly #inHand = new Map<number, JsMsg>()
  #inHandBytes = 0
  readonly #inHandBytesMax: number
  hasSettled = false
  #isEnded = false
  #failure: Error | null = null
  #stopPulling: (() => void) | null = null
  #onSettled: (() => void) | null = null

  constructor(
    options: NatsSourceOptions,
    spans: NatsSpans,
    connection: NatsConnection,
    consumer: PullConsumer,
  ) {
    this.#options = options
    this.#spans = spans
    this.#connection = connection
    this.#consumer = consumer
    this.#deadLetters = new DeadLetters(connection, options.settings)
    this.#inHandBytesMax = options.inHandBytesMax ?? IN_HAND_BYTES_MAX
  }

  /** Called from anywhere, once or more often: only the first failure counts. */
  end(failure: Error | null): void {
    this.#failure ??= this.#isEnded ? null : failure
    this.#isEnded = true
    this.#stopPulling?.()
    this.#onSettled?.()
  }

  async run(): Promise<void> {
    const working = setInterval(() => {
      for (const message of this.#inHand.values()) message.working()
    }, this.#spans.workingEveryMs)
    try {
      await this.#takeLeftovers()
      while (!this.#isEnded) {
        const count = this.#isFull
          ? 0
          : await this.#pull(this.#roomBytes, this.#spans.pullExpiresMs, (message) =>
              this.#accept(message),
            )
        // Nothing came, perhaps because the next does not fit beside what is in hand.
        if (count === 0 && this.#inHand.size > 0) await this.#settled()
      }
    } finally {
      this.#isEnded = true
      await this.#chains.idle()
      clearInterval(working)
      this.#handBack()
    }
    if (this.#failure !== null) throw this.#failure
  }

  /**
   * What an earlier term has left comes again when the server has given up waiting for it, and new
   * messages may come before. So all are held until nothing is missing, and go in stream order.
   */
  async #takeLeftovers(): Promise<void> {
    const manager = await jetstreamManager(this.#connection, { checkAPI: false })
    const { stream, durable } = this.#options.settings
    const pending = async () => (await manager.consumers.info(stream, durable)).num_ack_pending
    let missing = await pending()
    if (missing === 0) return
    this.#options.log.info({ count: missing }, 'nats.waiting-for-leftovers')
    while (missing > 0 && !this.#isEnded) {
      // Whatever is in hand already: what is missing must always fit. Their number has a limit.
      await this.#pull(this.#inHandBytesMax, 1_000, () => {})
      missing = (await pending()) - this.#inHand.size
    }
    const inOrder = [...this.#inHand.values()].toSorted((one, other) => one.seq - other.seq)
    for (const message of inOrder) this.#submit(message)
  }

  get #isFull(): boolean {
    return (
      this.#inHand.size >= IN_HAND_MAX || this.#roomBytes < this.#inHandBytesMax * ROOM_SHARE_MIN
    )
  }

  get #roomBytes(): number {
    return this.#inHandBytesMax - this.#inHandBytes
  }

  /** Asks for so many bytes, and takes each message as it comes. The number of messages is the server's
   *  to hold to (max_ack_pending). Returns how many came. */
  async #pull(
    bytesMax: number,
    expiresMs: number,
    take: (message: JsMsg) => void,
  ): Promise<number> {
    let count = 0
    const messages = await this.#consumer.fetch({ max_bytes: bytesMax, expires: expiresMs })
    // Those that are here already still come out behind the stop.
    this.#stopPulling = () => messages.stop()
    try {
      if (this.#isEnded) messages.stop()
      for await (const message of messages) {
        count++
        if (this.#hold(message)) take(message)
      }
    } catch (error) {
      if (!isFull(error)) throw error
    } finally {
      this.#stopPulling = null
    }
    return count
  }

  /** False for one that is in hand already: its ack wait had run out on the way. */
  #hold(message: JsMsg): boolean {
    const known = this.#inHand.has(message.seq)
    if (!known) this.#inHandBytes += message.data.length
    this.#inHand.set(message.seq, message)
    return !known
  }

  #accept(message: JsMsg): void {
    if (!this.#isEnded) this.#submit(message)
  }

  #submit(message: JsMsg): void {
    const read = readPaymentMessage(message.subject, message.data)
    this.#chains.add(read.paymentId, async () => {
      // Behind one that failed, or after the end: it goes back, in its place.
      if (this.#isEnded) return
      try {
        await this.#record(message, read)
        this.#settle(message.seq)
      } catch (error) {
        this.end(error as Error)
      }
    })
  }

  async #record(message: JsMsg, read: PaymentMessage): Promise<void> {
    const refused = read.error ?? (await this.#write(read))
    if (refused !== null) {
      if (!isPoison(refused, message.info.deliveryCount >= TRIES_MAX)) throw refused
      await this.#deadLetters.put(message, read.accountId, refused)
      this.#options.log.warn(
        { code: refused.code, subject: message.subject, sequence: message.seq },
        'nats.dead-lettered',
      )
    }
    // Confirmed: an ack that got lost would bring the message back behind later ones of its payment.
    if (!(await message.ackAck({ timeout: 5_000 }))) throw new Error('an ack was not confirmed')
    this.#options.onMessage?.(refused === null ? 'recorded' : 'dead-lettered')
  }

  async #write(read: PaymentMessage): Promise<ServiceError | null> {
    if (read.change === null) return null
    try {
      await this.#options.gatherer.submit(read.change)
      return null
    } catch (error) {
      return toServiceError(error)
    }
  }

  #settle(sequence: number): void {
    this.#inHandBytes -= this.#inHand.get(sequence)?.data.length ?? 0
    this.#inHand.delete(sequence)
    this.hasSettled = true
    this.#onSettled?.()
  }

  /** When one of those in hand is done, or the term has ended. */
  #settled(): Promise<void> {
    return new Promise((resolve) => {
      this.#onSettled = resolve
      if (this.#isEnded) resolve()
    })
  }

  /** Not waited for: those that it does not reach come again when their ack wait is over. */
  #handBack(): void {
    for (const message of this.#inHand.values()) message.nak(this.#spans.restMs)
    this.#inHand.clear()
    this.#inHandBytes = 0
  }
}

/** The next message does not fit, or too many are unacknowledged: no failure, there is just no room. */
function isFull(error: unknown): boolean {
  return error instanceof JetStreamError && /exceed/i.test(error.message)
}

/** What was said last is sent, if the broker is there. */
async function close(connection: NatsConnection | null): Promise<void> {
  if (connection === null) return
  const patience = delay(CLOSE_MS_MAX, undefined, { ref: false })
  await Promise.race([connection.drain().catch(() => {}), patience])
  await connection.close().catch(() => {})
}

function describe(error: unknown): string {
  if (error instanceof ServiceError) return `${error.code}: ${error.message}`
  return error instanceof Error ? error.message : String(error)
}
