// The broker of a run: a real nats-server with its stream on disk, killed and started again, and the feed
// that publishes payments to it. What is acknowledged is that a message is in the stream: from then on it is
// the service's to record.

import { setTimeout as sleep } from 'node:timers/promises'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { findNatsServer, type NatsServer, startNatsServer } from '../support/nats-server.ts'
import type { Owner } from '../support/owner.ts'
import type { Acknowledged } from './feeds.ts'

const STREAM = 'PAYBELL'
const AGAIN_MS = 50

export class Broker {
  readonly #server: NatsServer
  readonly #connection: NatsConnection
  isGivenUp = false

  private constructor(server: NatsServer, connection: NatsConnection) {
    this.#server = server
    this.#connection = connection
  }

  /** Null where no nats-server is installed. */
  static async start(owner: Owner): Promise<Broker | null> {
    const binary = findNatsServer()
    if (binary === null) return null
    const server = await startNatsServer(owner, binary)
    const servers = server.url
    const connection = await connect({ servers, maxReconnectAttempts: -1, reconnectTimeWait: 50 })
    owner.after(() => connection.close())
    const manager = await jetstreamManager(connection)
    await manager.streams.add({ name: STREAM, subjects: ['paybell.payments.>'] })
    return new Broker(server, connection)
  }

  get url(): string {
    return this.#server.url
  }

  async kill(downMs: number): Promise<void> {
    await this.#server.stop('SIGKILL')
    await sleep(downMs)
    await this.#server.start()
  }

  /** Until it is in the stream, once: a repeated message is known by its id. */
  async write(accountId: string, body: { id: string; version: number }): Promise<Acknowledged> {
    const subject = `paybell.payments.${accountId}`
    const msgID = `${body.id}/${body.version}`
    for (;;) {
      try {
        const bytes = JSON.stringify(body)
        await jetstream(this.#connection).publish(subject, bytes, { msgID, timeout: 2_000 })
        return { outcome: 'changed', event: null }
      } catch (error) {
        if (this.isGivenUp) throw error
        await sleep(AGAIN_MS)
      }
    }
  }

  /** Messages that are not acknowledged by the service yet. */
  async open(): Promise<number> {
    const manager = await jetstreamManager(this.#connection)
    const info = await manager.consumers.info(STREAM, 'paybell')
    return info.num_pending + info.num_ack_pending
  }
}
