// The brokers of a run: real servers with what they keep on disk, killed, frozen and started again, and the feeds that
// publish payments to them. What is acknowledged is that the broker keeps it: from then on it is the service's to record.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Owner } from '../support/owner.ts'
import { type Acknowledged, BROKER_FEEDS, type BrokerFeed, FEED_NAMES } from './feeds.ts'
import { startKafkaBroker } from './kafka-broker.ts'
import { startNatsBroker } from './nats-broker.ts'
import type { Suite } from './settings.ts'

const AGAIN_MS = 50

export interface PublishedBody {
  id: string
  version: number
}

/** What one kind of broker does in its own way. */
export interface BrokerServer {
  /** Of the service that consumes from it. */
  settings: Readonly<Record<string, string>>
  /** Once; that it may be kept twice is the service's to bear. */
  publish(accountId: string, body: PublishedBody): Promise<unknown>
  /** How much it keeps that the service has not acknowledged yet. */
  open(): Promise<number>
  signal(name: NodeJS.Signals): void
  kill(): Promise<void>
  /** With what it kept. */
  restart(): Promise<void>
}

/** Or in one line why it cannot be had. */
export type StartedServer = BrokerServer | { missing: string }

const START: Record<BrokerFeed, (owner: Owner) => Promise<StartedServer>> = {
  nats: startNatsBroker,
  kafka: startKafkaBroker,
}

export class Broker {
  readonly feed: BrokerFeed
  readonly #server: BrokerServer
  isGivenUp = false

  constructor(feed: BrokerFeed, server: BrokerServer) {
    this.feed = feed
    this.#server = server
  }

  get name(): string {
    return FEED_NAMES[this.feed]
  }

  get settings(): Readonly<Record<string, string>> {
    return this.#server.settings
  }

  async kill(downMs: number): Promise<void> {
    await this.#server.kill()
    await sleep(downMs)
    // Nobody would end it any more.
    if (!this.isGivenUp) await this.#server.restart()
  }

  async freeze(ms: number): Promise<void> {
    this.#server.signal('SIGSTOP')
    await sleep(ms)
    this.#server.signal('SIGCONT')
  }

  /** Until the broker keeps it. */
  async write(accountId: string, body: PublishedBody): Promise<Acknowledged> {
    for (;;) {
      try {
        await this.#server.publish(accountId, body)
        return { outcome: 'changed', event: null }
      } catch (error) {
        if (this.isGivenUp) throw error
        await sleep(AGAIN_MS)
      }
    }
  }

  /** False also while it cannot be asked. */
  async isEmpty(): Promise<boolean> {
    return (await this.#server.open().catch(() => 1)) === 0
  }
}

export interface StartedBrokers {
  brokers: readonly Broker[]
  /** Of those that the suite has, why they cannot be had. */
  missing: ReadonlyMap<BrokerFeed, string>
}

export async function startBrokers(suite: Suite, owner: Owner): Promise<StartedBrokers> {
  const brokers: Broker[] = []
  const missing = new Map<BrokerFeed, string>()
  for (const feed of BROKER_FEEDS.filter((one) => suite.brokers[one])) {
    const server = await START[feed](owner)
    if ('missing' in server) missing.set(feed, server.missing)
    else brokers.push(new Broker(feed, server))
  }
  return { brokers, missing }
}
