// Payment changes out of a NATS JetStream stream, applied in stream order for each payment, also across restarts and
// take-overs:
//   - one process consumes at a time, by a lease (store/connection/consumer-lease.ts), so that no two apply messages of one
//     payment at once. One that has lost its lease without knowing pulls, records and acknowledges nothing by its own
//     clock, and what it has sent already is refused by the database;
//   - a payment's next message is submitted only when the server has confirmed the ack of the one
//     before, so a redelivered message is never older than what was applied last; copies that were sent
//     before the server had the ack are recognised (broker/in-hand.ts);
//   - a message that went to another process in between ends the session before any younger one is applied;
//   - a session (nats-session.ts) begins by gathering what an earlier one has left unacknowledged, and applies
//     that first.

import { setTimeout as delay } from 'node:timers/promises'
import type { NatsConnection } from '@nats-io/transport-node'
import type { NatsSettings } from '../../config/config.ts'
import type { Broker, SourceOptions } from '../broker/broker.ts'
import { BrokerSource } from '../broker/broker-source.ts'
import { IN_HAND_MAX } from '../broker/in-hand.ts'
import { OwnFaults } from '../broker/own-faults.ts'
import { connectToNats, openConsumer } from './nats-connection.ts'
import { type NatsRight, NatsSession, type NatsTiming } from './nats-session.ts'

export interface NatsSourceOptions extends SourceOptions {
  settings: NatsSettings
  /** Null: another process has it. `onLost` is called at most once. */
  takeLease(onLost: () => void): Promise<NatsRight | null>
  timing?: Partial<NatsTiming>
  inHandBytesMax?: number
}

const TIMING: NatsTiming = {
  // What a frozen process had in hand is back when its lease has gone to another.
  ackWaitMs: 20_000,
  workingEveryMs: 5_000,
  pullExpiresMs: 5_000,
  restMs: 500,
  restMsMax: 30_000,
  askEveryMs: 5_000,
}

const CLOSE_MS_MAX = 2_000

export function createNatsSource(options: NatsSourceOptions): BrokerSource {
  const timing = { ...TIMING, ...options.timing }
  return new BrokerSource(new NatsBroker(options, timing), options, timing)
}

class NatsBroker implements Broker {
  readonly name = 'nats'
  readonly #options: NatsSourceOptions
  readonly #timing: NatsTiming
  readonly #ownFaults: OwnFaults
  #connection: NatsConnection | null = null
  #session: NatsSession | null = null
  #isCutOff = false
  #wakeUp: (() => void) | null = null

  constructor(options: NatsSourceOptions, timing: NatsTiming) {
    this.#options = options
    this.#timing = timing
    this.#ownFaults = new OwnFaults(timing)
  }

  async open(wakeUp: () => void): Promise<NatsSession | null> {
    this.#wakeUp = wakeUp
    // Without taking the lease, because another process may reach the broker.
    if (this.#isCutOff) return null
    const { takeLease, log, settings } = this.#options
    let session: NatsSession | null = null
    let isLost = false
    const onLost = () => {
      isLost = true
      session?.end(new Error('the lease to consume was lost with its database connection'))
    }
    const lease = await takeLease(onLost)
    if (lease === null) return null
    try {
      this.#connection ??= await this.#connect()
      const limits = { inHandMax: IN_HAND_MAX, ackWaitMs: this.#timing.ackWaitMs }
      const consumer = await openConsumer(this.#connection, settings, limits)
      const options = { ...this.#options, ownFaults: this.#ownFaults }
      session = new NatsSession(options, this.#timing, lease, this.#connection, consumer)
    } catch (error) {
      await lease.release()
      throw error
    }
    this.#session = session
    if (isLost) onLost()
    else log.info({ stream: settings.stream, durable: settings.durable }, 'nats.consuming')
    return session
  }

  /** The driver gives a connection up soon enough. */
  interrupt(): void {}

  /** Sends what is buffered, if the broker is there. */
  async close(): Promise<void> {
    const connection = this.#connection
    if (connection === null) return
    const patience = delay(CLOSE_MS_MAX, undefined, { ref: false })
    await Promise.race([connection.drain().catch(() => {}), patience])
    await connection.close().catch(() => {})
  }

  /** Waits without limit for the first connection; the driver makes later ones by itself. */
  async #connect(): Promise<NatsConnection> {
    const connection = await connectToNats(this.#options.settings)
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
}
