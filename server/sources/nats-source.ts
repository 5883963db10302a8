// Payment changes out of a NATS JetStream stream. A message is acknowledged only when its change is on
// disk, or when it is stored as a dead letter. Changes of one payment are applied in stream order, also
// across restarts and take-overs:
//   - one process consumes at a time, by a lease (store/connection/consumer-lease.ts), so that no two apply messages of one
//     payment at once. One that has lost its lease without knowing pulls, records and acknowledges nothing by its own
//     clock, and what it has sent already is refused by the database;
//   - a payment's next message is submitted only when the server has confirmed the ack of the one
//     before, so a redelivered message is never older than what was applied last; copies that were sent
//     before the server had the ack are recognised (in-hand.ts);
//   - a message that went to another process in between ends the session before any younger one is applied;
//   - a session (consumer-session.ts) begins by gathering what an earlier one has left unacknowledged, and applies
//     that first.
// Any failure ends the session: unfinished messages are handed back, and a new session begins later.

import { setTimeout as delay } from 'node:timers/promises'
import type { NatsConnection } from '@nats-io/transport-node'
import { ServiceError } from '../core/plain/errors.ts'
import { ConsumerSession } from './consumer-session.ts'
import { IN_HAND_MAX } from './in-hand.ts'
import { connectToNats, openConsumer } from './nats-connection.ts'
import type { NatsSourceOptions, NatsTiming } from './nats-source-options.ts'

const TIMING: NatsTiming = {
  // What a frozen process had in hand is back when its lease has gone to another.
  ackWaitMs: 20_000,
  workingEveryMs: 5_000,
  pullExpiresMs: 5_000,
  restMs: 500,
  restMsMax: 30_000,
  leaseEveryMs: 5_000,
}

const CLOSE_MS_MAX = 2_000

export class NatsSource {
  readonly #options: NatsSourceOptions
  readonly #timing: NatsTiming
  #connection: NatsConnection | null = null
  #session: ConsumerSession | null = null
  #running: Promise<void> | null = null
  #isStopped = false
  #isCutOff = false
  #failures = 0
  #wakeUp: (() => void) | null = null

  constructor(options: NatsSourceOptions) {
    this.#options = options
    this.#timing = { ...TIMING, ...options.timing }
  }

  /** Whether this process is the one that consumes. */
  get isConsuming(): boolean {
    return this.#session?.isConsuming ?? false
  }

  /** Returns at once; connects in the background, and retries while the broker is away. */
  start(): void {
    this.#running ??= this.#run()
  }

  /** Takes no new message; those under way end and are acknowledged; the rest is handed back. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#wakeUp?.()
    this.#session?.end(null)
    await this.#running
    await close(this.#connection)
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      try {
        // Without taking the lease, because another process may reach the broker.
        const hasServed = !this.#isCutOff && (await this.#serve())
        if (!hasServed) await this.#rest(this.#timing.leaseEveryMs)
      } catch (error) {
        if (this.#isStopped) return
        this.#options.log.warn({ error: describe(error) }, 'nats.interrupted')
        const { restMs, restMsMax } = this.#timing
        await this.#rest(Math.min(restMs * 2 ** Math.min(this.#failures++, 10), restMsMax))
      }
    }
  }

  /** One session. False when another process has the lease. */
  async #serve(): Promise<boolean> {
    const { takeLease, log, settings } = this.#options
    let session: ConsumerSession | null = null
    let isLost = false
    const lease = await takeLease(() => {
      isLost = true
      session?.end(new Error('the lease to consume was lost with its database connection'))
    })
    if (lease === null) return false
    try {
      this.#connection ??= await this.#connect()
      if (this.#connection === null) return true
      const consumer = await openConsumer(this.#connection, settings, {
        inHandMax: IN_HAND_MAX,
        ackWaitMs: this.#timing.ackWaitMs,
      })
      session = new ConsumerSession(this.#options, this.#timing, lease, this.#connection, consumer)
      this.#session = session
      if (isLost || this.#isStopped) return true
      log.info({ stream: settings.stream, durable: settings.durable }, 'nats.consuming')
      await session.run()
      return true
    } finally {
      // Failures count as in a row only if no message was settled in between.
      if (session?.hasSettled) this.#failures = 0
      this.#session = null
      await lease.release()
    }
  }

  /** Waits without limit for the first connection; the driver makes later ones by itself. */
  async #connect(): Promise<NatsConnection | null> {
    const connection = await connectToNats(this.#options.settings)
    if (this.#isStopped) {
      await close(connection)
      return null
    }
    void this.#watch(connection)
    return connection
  }

  /**
   * A session ends with its connection, although the driver reconnects: messages on their way are lost, and the
   * server sends them again only when their ack wait is over. Going on would apply younger messages first.
   */
  async #watch(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') {
        this.#isCutOff = true
        this.#session?.end(new Error('the connection to the broker was lost'))
      } else if (type === 'reconnect') {
        this.#isCutOff = false
        this.#wakeUp?.()
      }
    }
    // The driver has closed it. It gives up on a broker that refuses its credentials twice, as one does that is
    // back before it has read its users: the next session connects again.
    this.#connection = null
    this.#isCutOff = false
    this.#session?.end(new Error('the connection to the broker was closed'))
    this.#wakeUp?.()
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

/** Sends what is buffered, if the broker is there. */
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
