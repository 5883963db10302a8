// One session of the NATS source: from taking the lease to the first failure, the loss of the connection, or the
// stop. Messages that are unfinished at its end are handed back.

import { setTimeout as delay } from 'node:timers/promises'
import { JetStreamError, type JsMsg, jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import {
  isPoison,
  type PaymentMessage,
  readPaymentMessage,
} from '../core/payments/payment-message.ts'
import type { ServiceError } from '../core/plain/errors.ts'
import { toServiceError } from '../operations/shared/service-errors.ts'
import { DeadLetters } from './dead-letters.ts'
import { InHand, MESSAGE_BYTES_MAX } from './in-hand.ts'
import type { PullConsumer } from './nats-connection.ts'
import type { ConsumerRight, NatsSourceOptions, NatsTiming } from './nats-source-options.ts'
import { PaymentChains } from './payment-chains.ts'

/** A failure of ours may be temporary: a message is tried this often before it is a dead letter. */
const TRIES_MAX = 5
const LEFTOVERS_EXPIRE_MS = 1_000
/** How late after its ack wait a server may send a message again. */
const LATE_MS = 2_000
const LOOK_AGAIN_MS = 100

export class ConsumerSession {
  readonly #options: NatsSourceOptions
  readonly #timing: NatsTiming
  readonly #lease: ConsumerRight
  readonly #connection: NatsConnection
  readonly #consumer: PullConsumer
  readonly #deadLetters: DeadLetters
  readonly #chains = new PaymentChains()
  readonly #inHand: InHand<JsMsg>
  hasSettled = false
  #isEnded = false
  #isRunning = false
  /** The number of the latest delivery: those of a consumer are counted, whoever gets them. */
  #delivered = 0
  /** While all that is unacknowledged is gathered, nothing is applied, and gaps do no harm. */
  #isGathering = true
  #failure: Error | null = null
  #stopPulling: (() => void) | null = null
  #onSettled: (() => void) | null = null

  constructor(
    options: NatsSourceOptions,
    timing: NatsTiming,
    lease: ConsumerRight,
    connection: NatsConnection,
    consumer: PullConsumer,
  ) {
    this.#options = options
    this.#timing = timing
    this.#lease = lease
    this.#connection = connection
    this.#consumer = consumer
    this.#deadLetters = new DeadLetters(connection, options.settings)
    this.#inHand = new InHand({
      messageBytesMax: connection.info?.max_payload ?? MESSAGE_BYTES_MAX,
      ...(options.inHandBytesMax === undefined ? {} : { bytesMax: options.inHandBytesMax }),
    })
  }

  get isConsuming(): boolean {
    return this.#isRunning && this.#lease.isHeld()
  }

  /** May be called more than once: only the first failure counts. */
  end(failure: Error | null): void {
    this.#failure ??= this.#isEnded ? null : failure
    this.#isEnded = true
    this.#stopPulling?.()
    this.#onSettled?.()
  }

  async run(): Promise<void> {
    this.#isRunning = true
    const working = setInterval(() => {
      if (!this.#lease.isHeld()) return
      for (const message of this.#inHand.values()) message.working()
    }, this.#timing.workingEveryMs)
    try {
      await this.#takeLeftovers()
      while (!this.#isEnded) {
        const room = this.#inHand.room()
        if (room === 0) await this.#settled()
        else await this.#pull(room, this.#timing.pullExpiresMs, (message) => this.#accept(message))
      }
    } finally {
      this.#isRunning = false
      this.#isEnded = true
      await this.#chains.idle()
      clearInterval(working)
      this.#handBack()
    }
    if (this.#failure !== null) throw this.#failure
  }

  /**
   * Unacknowledged messages of an earlier session come again when their ack wait is over, and new messages may
   * come before them. So all are held until none is missing, and then submitted in stream order.
   */
  async #takeLeftovers(): Promise<void> {
    const manager = await jetstreamManager(this.#connection, { checkAPI: false })
    const { stream, durable } = this.#options.settings
    const pending = async () => {
      const info = await manager.consumers.info(stream, durable)
      this.#delivered = info.delivered.consumer_seq
      return info.num_ack_pending
    }
    let missing = await pending()
    if (missing === 0) return this.#submitGathered()
    this.#options.log.info({ count: missing }, 'nats.waiting-for-leftovers')
    const allAreBackAtMs = performance.now() + this.#timing.ackWaitMs + LATE_MS
    while (missing > 0 && !this.#isEnded) {
      // Once all of them must be back they come before anything new, and they fit whatever their size: an
      // earlier session had them in hand, within the same bounds.
      const areBack = performance.now() > allAreBackAtMs
      const wanted = areBack ? missing : Math.min(missing, this.#inHand.room())
      if (wanted === 0) await delay(LOOK_AGAIN_MS)
      else await this.#pull(wanted, LEFTOVERS_EXPIRE_MS, () => {})
      missing = (await pending()) - this.#inHand.size
    }
    this.#submitGathered()
  }

  #submitGathered(): void {
    this.#isGathering = false
    for (const message of this.#inHand.inOrder()) this.#submit(message)
  }

  /**
   * Asks for a number of messages, and takes each as it comes. Not by bytes: the driver would wait for bytes
   * that the server, done after 100 messages, will never send. A pull is never broken off in the middle of a
   * session: messages on their way would come again after younger ones.
   */
  async #pull(
    messagesMax: number,
    expiresMs: number,
    take: (message: JsMsg) => void,
  ): Promise<void> {
    this.#assertHeld()
    this.#inHand.beginPull()
    const messages = await this.#consumer.fetch({ max_messages: messagesMax, expires: expiresMs })
    // Messages that have already arrived still come out after the stop.
    this.#stopPulling = () => messages.stop()
    try {
      if (this.#isEnded) messages.stop()
      for await (const message of messages) {
        this.#follow(message.info.deliverySequence)
        if (this.#inHand.hold(message)) take(message)
      }
    } catch (error) {
      if (!isFull(error)) throw error
      await delay(LOOK_AGAIN_MS)
    } finally {
      this.#stopPulling = null
    }
  }

  /** What went elsewhere, or was lost, comes again, and must come before what is younger. */
  #follow(delivery: number): void {
    const isNext = delivery === this.#delivered + 1
    this.#delivered = delivery
    if (!isNext && !this.#isGathering) this.end(new Error('a message went elsewhere, or was lost'))
  }

  #accept(message: JsMsg): void {
    if (!this.#isEnded) this.#submit(message)
  }

  /** Asked before each step that only the holder may take. Between the question and the step a process can still be
   *  frozen: what it then records is refused, and what it pulls is missed by the next holder. */
  #assertHeld(): void {
    if (!this.#lease.isHeld()) throw new Error('another process may have the lease to consume')
  }

  #submit(message: JsMsg): void {
    const read = readPaymentMessage(message.subject, message.data)
    this.#chains.add(read.paymentId, async () => {
      // After one that failed, or after the end, the message goes back in its order.
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
    this.#assertHeld()
    const refused = read.error ?? (await this.#write(read))
    this.#assertHeld()
    if (refused !== null) {
      if (!isPoison(refused, message.info.deliveryCount >= TRIES_MAX)) throw refused
      await this.#deadLetters.put(message, read.accountId, refused)
      this.#options.log.warn(
        { code: refused.code, subject: message.subject, sequence: message.seq },
        'nats.dead-lettered',
      )
    }
    // Wait for the confirmation: after a lost ack the message would come back after later ones of its payment.
    if (!(await message.ackAck({ timeout: 5_000 }))) throw new Error('an ack was not confirmed')
    this.#options.onMessage?.(refused === null ? 'recorded' : 'dead-lettered')
  }

  /** For a payment that another transaction holds, or a full queue, it waits here; only later messages of
   *  the same payment wait with it. */
  async #write({ change }: PaymentMessage): Promise<ServiceError | null> {
    if (change === null) return null
    const fenced = { ...change, consumerLease: this.#lease.id }
    for (;;) {
      const refused = await this.#options.gatherer.submit(fenced).then(() => null, toServiceError)
      if (refused?.code !== 'overloaded' || this.#isEnded) return refused
      await delay(this.#timing.restMs)
    }
  }

  #settle(sequence: number): void {
    this.#inHand.settle(sequence)
    this.hasSettled = true
    this.#onSettled?.()
  }

  /** Resolves when a message in hand is settled, or the session has ended. */
  #settled(): Promise<void> {
    return new Promise((resolve) => {
      this.#onSettled = resolve
      if (this.#isEnded) resolve()
    })
  }

  /** Does not wait for replies: messages whose nak is lost come again when their ack wait is over. */
  #handBack(): void {
    for (const message of this.#inHand.values()) message.nak(this.#timing.restMs)
    this.#inHand.clear()
  }
}

/** The server's limit on unacknowledged messages is reached: no failure, only no room. */
function isFull(error: unknown): boolean {
  return error instanceof JetStreamError && /exceed/i.test(error.message)
}
