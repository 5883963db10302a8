// F4: the process that consumes NATS is frozen, or its machine vanishes without a word. Before, no other process consumed
// until it moved again, or until PostgreSQL's own keepalive had given it up: 2 hours and 11 minutes.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { startTcpProxy } from '../../support/database-proxy.ts'
import { findNatsServer, startNatsServer } from '../../support/nats-server.ts'
import { SAMPLE } from '../../support/payment-sample.ts'
import { until } from '../../support/until.ts'
import type { Scenario } from './scenario.ts'
import type { ServedProcess } from './served-process.ts'
import type { Stage } from './stage.ts'

/** 30 seconds are promised, and what the holder had in hand comes with them; the rest is for a busy machine. */
const REPLACED_MS_MAX = 45_000
const BATCH = 40

export const consumerFrozen: Scenario = {
  name: 'consumer-frozen',
  claim:
    'another process consumes NATS within 30 s of a freeze, in order, and the one that wakes up changes nothing',
  needs: ['nats-server'],
  async perform(stage) {
    const feed = await Feed.open(stage)
    const holder = await feed.serveHolder({ PAYBELL_NATS_URL: feed.natsUrl })
    await stage.serve({ PAYBELL_NATS_URL: feed.natsUrl })
    await feed.publish(BATCH)
    stage.note('the one that consumes is frozen')
    holder.signal('SIGSTOP')
    await feed.publish(BATCH)
    await feed.untilRecorded('while it is frozen')
    holder.signal('SIGCONT')
    stage.note('it moves again')
    await feed.publish(BATCH)
    await feed.untilRecorded('after it has woken up')
    await feed.assertOrder()
  },
}

export const consumerCutOff: Scenario = {
  name: 'consumer-cut-off',
  claim:
    'another process consumes NATS within 30 s after the machine of the one that did has vanished',
  needs: ['nats-server'],
  async perform(stage) {
    const feed = await Feed.open(stage)
    const ways = [
      await startTcpProxy(stage, stage.databaseUrl),
      await startTcpProxy(stage, feed.natsUrl.replace('nats:', 'postgres:')),
    ] as const
    await feed.serveHolder({
      DATABASE_URL: ways[0].url,
      PAYBELL_NATS_URL: `nats://127.0.0.1:${ways[1].port}`,
    })
    await stage.serve({ PAYBELL_NATS_URL: feed.natsUrl })
    await feed.publish(BATCH)
    stage.note('the one that consumes is cut off: its connections stand, and nothing comes through')
    for (const way of ways) way.isSilent = true
    await feed.publish(BATCH)
    await feed.untilRecorded('while it is cut off')
    await feed.assertOrder()
  },
}

/** Changes of one payment, each with the next number as its reference. */
class Feed {
  readonly natsUrl: string
  readonly #stage: Stage
  readonly #paymentId = randomUUID()
  readonly #send: (number: number) => Promise<void>
  #published = 0

  private constructor(stage: Stage, natsUrl: string, send: (body: object) => Promise<void>) {
    this.#stage = stage
    this.natsUrl = natsUrl
    this.#send = (number) =>
      send({
        ...SAMPLE,
        id: this.#paymentId,
        version: undefined,
        document: undefined,
        reference: String(number),
      })
  }

  static async open(stage: Stage): Promise<Feed> {
    const server = await startNatsServer(stage, findNatsServer() as string)
    const nats = await connect({ servers: server.url })
    stage.after(() => nats.close())
    const manager = await jetstreamManager(nats)
    await manager.streams.add({ name: 'PAYBELL', subjects: ['paybell.payments.>'] })
    return new Feed(stage, server.url, async (body) => {
      const bytes = new TextEncoder().encode(JSON.stringify(body))
      await jetstream(nats).publish(`paybell.payments.${stage.accountId}`, bytes)
    })
  }

  async serveHolder(env: Readonly<Record<string, string>>): Promise<ServedProcess> {
    const holder = await this.#stage.serve(env)
    await until('it consumes', () => holder.printed.includes('"msg":"nats.consuming"'))
    return holder
  }

  async publish(count: number): Promise<void> {
    for (let n = 0; n < count; n++) await this.#send(++this.#published)
  }

  async untilRecorded(when: string): Promise<void> {
    const beganAtMs = performance.now()
    const last = String(this.#published)
    await until(
      `all messages are recorded ${when}`,
      async () => (await this.#references()).includes(last),
      REPLACED_MS_MAX,
    )
    const tookMs = Math.round(performance.now() - beganAtMs)
    this.#stage.note(`${this.#published} messages are recorded ${when}, after ${tookMs} ms`)
  }

  async assertOrder(): Promise<void> {
    const expected = Array.from({ length: this.#published }, (_, index) => String(index + 1))
    assert.deepEqual(await this.#references(), expected, 'each message once, in its order')
  }

  async #references(): Promise<readonly string[]> {
    const rows = await this.#stage.query<{ reference: string }>(
      `select text::json ->> 'reference' as reference from paybell.events
       where payment_id = $1 order by sequence`,
      [this.#paymentId],
    )
    return rows.map(({ reference }) => reference)
  }
}
