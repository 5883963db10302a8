// One term of the NATS source: from taking the turn to the first failure, the loss of the connection, or
// the stop. What is unfinished at its end is handed back.

import { setTimeout as delay } from 'node:timers/promises'
import { JetStreamError, type JsMsg, jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { ServiceError } from '../core/errors.ts'
import { isPoison, type PaymentMessage, readPaymentMessage } from '../core/payment-message.ts'
import { toServiceError } from '../operations/parts/failures.ts'
import { DeadLetters } from './dead-letters.ts'
import { InHand, MESSAGE_BYTES_MAX } from './in-hand.ts'
import type { PullConsumer } from './nats-connection.ts'
import type { NatsSourceOptions, NatsSpans } from './nats-source-options.ts'
import { PaymentChains } from './payment-chains.ts'

/** A mistake of ours may be a passing one: so often it is tried again before it is put aside. */
const TRIES_MAX = 5
const LEFTOVERS_EXPIRE_MS = 1_000
/** A server sends again what was not acknowledged a little after its time. */
const LATE_MS = 2_000
const LOOK_AGAIN_MS = 100

export class Term {
  readonly #options: NatsSourceOptions
  readonly #spans: NatsSpans
  readonly #connection: NatsConnection
  readonly #consumer: PullConsumer
  readonly #deadLetters: DeadLetters
  readonly #chains = new PaymentChains()
  readonly #inHand: InHand<JsMsg>
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
    this.#inHand = new InHand({
      messageBytesMax: connection.info?.max_payload ?? MESSAGE_BYTES_MAX,
      ...(options.inHandBytesMax === undefined ? {} : { bytesMax: options.inHandBytesMax }),
    })
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
        const room = this.#inHand.room()
        if (room === 0) await this.#settled()
        else await this.#pull(room, this.#spans.pullExpiresMs, (message) => this.#accept(message))
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
    const allAreBackAtMs = performance.now() + this.#spans.ackWaitMs + LATE_MS
    while (missing > 0 && !this.#isEnded) {
      // Once all of them must be back they come before anything new, and whatever their size they fit: an
      // earlier term had them in hand, within the same bounds.
      const areBack = performance.now() > allAreBackAtMs
      const asked = areBack ? missing : Math.min(missing, this.#inHand.room())
      if (asked === 0) await delay(LOOK_AGAIN_MS)
      else await this.#pull(asked, LEFTOVERS_EXPIRE_MS, () => {})
      missing = (await pending()) - this.#inHand.size
    }
    for (const message of this.#inHand.inOrder()) this.#submit(message)
  }

  /**
   * Asks for so many messages, and takes each as it comes. By number alone: asked by bytes, the driver waits
   * for bytes that the server, done after 100 messages, will never send. It is never broken off in the
   * middle of a term: what is on its way would come again behind younger ones.
   */
  async #pull(
    messagesMax: number,
    expiresMs: number,
    take: (message: JsMsg) => void,
  ): Promise<void> {
    const messages = await this.#consumer.fetch({ max_messages: messagesMax, expires: expiresMs })
    // Those that are here already still come out behind the stop.
    this.#stopPulling = () => messages.stop()
    try {
      if (this.#isEnded) messages.stop()
      for await (const message of messages) {
        if (this.#inHand.hold(message)) take(message)
      }
    } catch (error) {
      if (!isFull(error)) throw error
      await delay(LOOK_AGAIN_MS)
    } finally {
      this.#stopPulling = null
    }
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

  /** A payment that another transaction holds, or a queue that is full: it waits here, and with it only
   *  the later messages of its payment. */
  async #write({ change }: PaymentMessage): Promise<ServiceError | null> {
    if (change === null) return null
    for (;;) {
      const refused = await this.#options.gatherer.submit(change).then(() => null, toServiceError)
      if (refused?.code !== 'overloaded' || this.#isEnded) return refused
      await delay(this.#spans.restMs)
    }
  }

  #settle(sequence: number): void {
    this.#inHand.settle(sequence)
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
  }
}

/** To the server too many are unacknowledged: no failure, there is just no room. */
function isFull(error: unknown): boolean {
  return error instanceof JetStreamError && /exceed/i.test(error.message)
}
