// One session of the NATS source: from taking the lease to the first failure, the loss of the connection, or the
// stop. Messages that are unfinished at its end are handed back.

import { setTimeout as delay } from 'node:timers/promises'
import { JetStreamError, type JsMsg, jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { NatsSettings } from '../../config/config.ts'
import { readPaymentMessage } from '../../core/payments/payment-message.ts'
import type { ServiceError } from '../../core/plain/errors.ts'
import type {
  BrokerRecord,
  BrokerSession,
  ConsumerRight,
  SourceOptions,
  SourceTiming,
} from '../broker/broker.ts'
import { InHand, MESSAGE_BYTES_MAX } from '../broker/in-hand.ts'
import type { OwnFaults } from '../broker/own-faults.ts'
import { assertHeld, RecordIntake } from '../broker/record-intake.ts'
import type { PullConsumer } from './nats-connection.ts'
import { NatsDeadLetters } from './nats-dead-letters.ts'

export interface NatsTiming extends SourceTiming {
  /** How long the server waits for an acknowledgement before it sends a message again. */
  ackWaitMs: number
  /** How often the server is notified that messages in hand are still worked on. */
  workingEveryMs: number
  pullExpiresMs: number
}

export interface NatsRight extends ConsumerRight {
  release(): Promise<void>
}

export interface NatsSessionOptions extends SourceOptions {
  settings: NatsSettings
  ownFaults: OwnFaults
  inHandBytesMax?: number
}

const LEFTOVERS_EXPIRE_MS = 1_000
/** How late after its ack wait a server may send a message again. */
const LATE_MS = 2_000
const LOOK_AGAIN_MS = 100

export class NatsSession implements BrokerSession {
  readonly #options: NatsSessionOptions
  readonly #timing: NatsTiming
  readonly #lease: NatsRight
  readonly #connection: NatsConnection
  readonly #consumer: PullConsumer
  readonly #deadLetters: NatsDeadLetters
  readonly #intake: RecordIntake<NatsRecord>
  readonly #inHand: InHand<JsMsg>
  #isEnded = false
  #isRunning = false
  /** The number of the latest delivery: those of a consumer are counted, whoever gets them. */
  #delivered = 0
  /** Behind the latest message, in the stream. */
  #waiting = 0
  /** While all that is unacknowledged is gathered, nothing is applied. */
  #isGathering = true
  /** A message went elsewhere, or was lost, since it began to gather. */
  #hasStrayed = false
  #failure: Error | null = null
  #stopPulling: (() => void) | null = null
  #onSettled: (() => void) | null = null

  constructor(
    options: NatsSessionOptions,
    timing: NatsTiming,
    lease: NatsRight,
    connection: NatsConnection,
    consumer: PullConsumer,
  ) {
    this.#options = options
    this.#timing = timing
    this.#lease = lease
    this.#connection = connection
    this.#consumer = consumer
    this.#deadLetters = new NatsDeadLetters(connection, options.settings)
    this.#inHand = new InHand({
      messageBytesMax: connection.info?.max_payload ?? MESSAGE_BYTES_MAX,
      ...(options.inHandBytesMax === undefined ? {} : { bytesMax: options.inHandBytesMax }),
    })
    this.#intake = new RecordIntake({
      ...options,
      name: 'nats',
      restMs: timing.restMs,
      onSettled: ({ origin }) => {
        this.#inHand.settle(origin.sequence)
        this.#onSettled?.()
      },
      onFailure: (error) => this.end(error),
    })
  }

  get isConsuming(): boolean {
    return this.#isRunning && !this.#intake.isHeldUp && this.#lease.isHeld()
  }

  get lag(): number {
    return this.#waiting + this.#inHand.size
  }

  get hasSettled(): boolean {
    return this.#intake.hasSettled
  }

  release(): Promise<void> {
    return this.#lease.release()
  }

  end(failure: Error | null): void {
    this.#failure ??= this.#isEnded ? null : failure
    this.#isEnded = true
    this.#intake.end()
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
        else await this.#pull(room, this.#timing.pullExpiresMs, (message) => this.#take(message))
      }
    } finally {
      this.#isRunning = false
      this.#isEnded = true
      this.#intake.end()
      await this.#intake.idle()
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
    while (!(await this.#gather())) this.#handBack()
    this.#isGathering = false
    for (const message of this.#inHand.inOrder()) this.#take(message)
  }

  /**
   * True when all that was unacknowledged has come here since, and nothing went elsewhere. A process that was frozen with
   * the right may still get a message, and acknowledge what it had recorded, of what is in hand, too: then nobody tells
   * which are missing, and all is gathered again.
   */
  async #gather(): Promise<boolean> {
    const manager = await jetstreamManager(this.#connection, { checkAPI: false })
    const { stream, durable } = this.#options.settings
    const { num_ack_pending: count, delivered } = await manager.consumers.info(stream, durable)
    this.#delivered = delivered.consumer_seq
    this.#hasStrayed = false
    if (count > 0) this.#options.log.info({ count }, 'nats.waiting-for-leftovers')
    const allAreBackAtMs = performance.now() + this.#timing.ackWaitMs + LATE_MS
    for (let missing = count; missing > 0 && !this.#isEnded; ) {
      // Once all of them must be back they come before anything new, and they fit whatever their size: an
      // earlier session had them in hand, within the same bounds.
      const areBack = performance.now() > allAreBackAtMs
      const wanted = areBack ? missing : Math.min(missing, this.#inHand.room())
      if (wanted === 0) await delay(LOOK_AGAIN_MS)
      else await this.#pull(wanted, LEFTOVERS_EXPIRE_MS, () => {})
      const before = missing
      missing = count - this.#inHand.countUpTo(delivered.stream_seq)
      if (areBack && missing === before) return false
    }
    return this.#isEnded || !this.#hasStrayed
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
    // What a process pulls that lost its lease a moment ago is missed by the next holder.
    assertHeld(this.#lease)
    this.#inHand.beginPull()
    const messages = await this.#consumer.fetch({ max_messages: messagesMax, expires: expiresMs })
    // Messages that have already arrived still come out after the stop.
    this.#stopPulling = () => messages.stop()
    try {
      if (this.#isEnded) messages.stop()
      for await (const message of messages) {
        this.#follow(message.info.deliverySequence)
        this.#waiting = message.info.pending
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
    if (isNext) return
    if (this.#isGathering) this.#hasStrayed = true
    else this.end(new Error('a message went elsewhere, or was lost'))
  }

  #take(message: JsMsg): void {
    if (!this.#isEnded) this.#intake.take(this.#toRecord(message))
  }

  #toRecord(message: JsMsg): NatsRecord {
    return {
      right: this.#lease,
      origin: { subject: message.subject, sequence: message.seq },
      read: () => readPaymentMessage(message.subject, message.data),
      putAside: (accountId: string | null, problem: ServiceError) =>
        this.#deadLetters.put(message, accountId, problem),
      // Wait for the confirmation: after a lost ack the message would come back after later ones of its payment.
      acknowledge: async () => {
        if (!(await message.ackAck({ timeout: 5_000 }))) throw new Error('an ack was not confirmed')
      },
    }
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

interface NatsRecord extends BrokerRecord {
  readonly origin: { subject: string; sequence: number }
}

/** The server's limit on unacknowledged messages is reached: no failure, only no room. */
function isFull(error: unknown): boolean {
  return error instanceof JetStreamError && /exceed/i.test(error.message)
}
