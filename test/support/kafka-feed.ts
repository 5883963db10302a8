// A topic of its own with a feed of payments, half of them without a version, and the world that its records change:
// payments, and the leases under which changes are taken, as in the database. So that one process can be a whole group.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Admin, Consumer, ProduceAcks, Producer } from '@platformatic/kafka'
import {
  CONSUMED_ELSEWHERE,
  type PaymentChange,
  type RecordedPayment,
} from '../../server/operations/accepting/record-payments.ts'
import type { BrokerSource } from '../../server/sources/broker/broker-source.ts'
import {
  createKafkaSource,
  type KafkaSourceOptions,
} from '../../server/sources/kafka/kafka-source.ts'
import type { Owner } from './owner.ts'
import { sampleBody } from './payment-sample.ts'
import { until } from './until.ts'

/** In place of a time: the end. */
const LATEST = -1n

/** Short, so that a test sees a member go. */
export const KAFKA_TIMING = {
  sessionMs: 6_000,
  beatEveryMs: 500,
  restMs: 50,
  restMsMax: 500,
  askEveryMs: 100,
}

const AGAIN_MS = 100
const POISON = 'poison'
const FACT_MS_MAX = 90_000

export interface Letter {
  key: string
  value: Buffer | null
  headers: ReadonlyMap<string, string>
  /** Its place: partition and offset. */
  origin: string
}

interface SentRecord {
  topic: string
  key: Buffer
  value?: Buffer
  headers?: Map<Buffer, Buffer>
}

export class KafkaFeed {
  readonly topic = `payments.${randomUUID().slice(0, 8)}`
  readonly group = `paybell.${this.topic}`
  accountId: string = randomUUID()
  /** The updates that changed each payment, in order. */
  readonly applied = new Map<string, number[]>()
  readonly warnings: string[] = []
  readonly #leases = new Map<string, string>()
  readonly #owner: Owner
  readonly #brokers: string[]
  readonly #producer: Producer
  readonly admin: Admin
  readonly ids: readonly string[]
  /** The number of the latest update of each payment. */
  round = 0
  #hasVersions = false
  #partitions = 0

  private constructor(owner: Owner, brokers: string[], payments: number) {
    this.#owner = owner
    this.#brokers = brokers
    const client = { clientId: 'feed', bootstrapBrokers: brokers, retries: 0 }
    this.#producer = new Producer(client)
    this.admin = new Admin({ ...client, retries: 5 })
    this.ids = Array.from({ length: payments }, () => randomUUID())
    owner.after(async () => {
      await Promise.allSettled([this.#producer.close(), this.admin.close()])
    })
  }

  static async open(
    owner: Owner,
    brokers: string[],
    {
      payments = 20,
      partitions = 6,
      replicas = brokers.length,
      hasVersions = false,
      configs = {} as Record<string, string>,
    } = {},
  ): Promise<KafkaFeed> {
    const feed = new KafkaFeed(owner, brokers, payments)
    feed.#hasVersions = hasVersions
    feed.#partitions = partitions
    await until(
      'the topic is made',
      () =>
        feed.admin
          .createTopics({
            topics: [feed.topic],
            partitions,
            replicas,
            configs: Object.entries(configs).map(([name, value]) => ({ name, value })),
          })
          .then(
            () => true,
            () => false,
          ),
      FACT_MS_MAX,
    )
    return feed
  }

  source(options: Partial<KafkaSourceOptions> = {}): BrokerSource {
    const source = createKafkaSource({
      settings: {
        brokers: this.#brokers,
        topic: this.topic,
        group: this.group,
        tls: null,
        sasl: null,
      },
      takeLeases: async (sources) => {
        const lease = randomUUID()
        for (const one of sources) this.#leases.set(one, lease)
        return lease
      },
      cautiousMs: () => performance.now(),
      gatherer: { submit: (change) => this.#apply(change) },
      log: {
        info() {},
        warn: (fields, message) => void this.warnings.push(`${message} ${JSON.stringify(fields)}`),
      },
      timing: KAFKA_TIMING,
      ...options,
    })
    this.#owner.after(() => source.stop())
    source.start()
    return source
  }

  /** A next update of every payment, and poison if wanted; again and again until the topic has it. */
  async publishRound({ hasPoison = false } = {}): Promise<void> {
    const round = ++this.round
    const poison = [
      { value: this.body({ id: randomUUID(), quoteId: 'x' }) },
      {}, // A tombstone.
    ].map((content, index) => ({
      topic: this.topic,
      key: Buffer.from(`${POISON} ${round}/${index}`),
      ...content,
    }))
    const messages = this.ids.map((id, index) => ({
      topic: this.topic,
      key: Buffer.from(id),
      value: this.body({
        id,
        reference: `update ${round}`,
        ...(this.#hasVersions || index % 2 === 0 ? { version: round } : {}),
      }),
    }))
    await this.send(hasPoison ? [...messages, ...poison] : messages)
  }

  body(changes: Record<string, unknown>): Buffer {
    const members = { accountId: this.accountId, document: undefined, version: undefined }
    return sampleBody({ ...members, ...changes })
  }

  async sendOnce(messages: SentRecord[]): Promise<void> {
    await this.#producer.send({ messages, acks: ProduceAcks.ALL })
  }

  async send(messages: SentRecord[]): Promise<void> {
    await until(
      'the topic has it',
      () =>
        this.sendOnce(messages).then(
          () => true,
          () => delay(AGAIN_MS).then(() => false),
        ),
      FACT_MS_MAX,
    )
  }

  /** How many updates the payment that is furthest behind does not have yet. */
  get roundsAhead(): number {
    return this.round - Math.min(...this.ids.map((id) => this.applied.get(id)?.at(-1) ?? 0))
  }

  async untilApplied(): Promise<void> {
    await until('every payment has its latest update', () => this.roundsAhead === 0, FACT_MS_MAX)
  }

  /** Nothing lost, nothing out of order, nothing twice. */
  assertWhole(): void {
    const expected = Array.from({ length: this.round }, (_, index) => index + 1)
    for (const id of this.ids) assert.deepEqual(this.applied.get(id), expected)
  }

  /** The dead letters, each once, are what the topic has of poison, and the topic has all that was published. */
  async assertPutAside(rounds: number): Promise<void> {
    await until('all is committed', async () => (await this.uncommitted()) === 0, FACT_MS_MAX)
    const countOf = (ends: readonly number[]) => ends.reduce((sum, end) => sum + end, 0)
    const all = await this.#read(this.topic, countOf(await this.ends()))
    const poison = all.filter(({ key }) => key.startsWith(POISON))
    const dead = `${this.topic}.dead`
    const letters = await this.#read(dead, countOf(await this.ends(dead, 1)))
    const named = letters.map(({ key, headers }) => {
      return `${key} of ${headers.get('Paybell-Partition')}/${headers.get('Paybell-Offset')}`
    })
    const expected = poison.map(({ key, origin }) => `${key} of ${origin}`)
    assert.deepEqual([...new Set(named)].toSorted(), expected.toSorted())
    assert.equal(new Set(poison.map(({ key }) => key)).size, 2 * rounds)
  }

  /** How many the coordinator counts in the group; null while it cannot be asked. */
  async members(): Promise<number | null> {
    const groups = await this.admin.describeGroups({ groups: [this.group] }).catch(() => null)
    return groups?.get(this.group)?.members.size ?? null
  }

  /** By partition. Kafka names only those of which something is committed. */
  async committed(): Promise<readonly number[]> {
    const groups = await this.admin.listConsumerGroupOffsets({ groups: [this.group] })
    const offsets = Array.from({ length: this.#partitions }, () => 0)
    const partitions = groups[0]?.topics.find(({ name }) => name === this.topic)?.partitions ?? []
    for (const { partitionIndex, committedOffset } of partitions) {
      offsets[partitionIndex] = Number(committedOffset)
    }
    return offsets
  }

  /** Records that the group has not committed yet. */
  async uncommitted(): Promise<number> {
    const [committed, ends] = [await this.committed(), await this.ends()]
    return ends.reduce((sum, end, partition) => sum + end - (committed[partition] ?? 0), 0)
  }

  /** The ends of the partitions: what a producer had to send twice is there twice. */
  async ends(name = this.topic, count = this.#partitions): Promise<readonly number[]> {
    const partitions = Array.from({ length: count }, (_, partitionIndex) => ({
      partitionIndex,
      timestamp: LATEST,
    }))
    const [listed] = await this.admin.listOffsets({ topics: [{ name, partitions }] })
    return (listed?.partitions ?? [])
      .toSorted((one, other) => one.partitionIndex - other.partitionIndex)
      .map(({ offset }) => Number(offset))
  }

  /** All that are in the topic of dead letters, oldest first. */
  async letters(count: number): Promise<readonly Letter[]> {
    const topic = `${this.topic}.dead`
    const isThere = async () => (await this.admin.listTopics()).includes(topic)
    await until('the topic of dead letters is there', isThere, FACT_MS_MAX)
    return this.#read(topic, count)
  }

  /** What compaction has left: it never takes the last record of a partition. */
  async remaining(): Promise<readonly Letter[]> {
    const ends = await this.ends()
    const last = ends.flatMap((end, partition) => (end > 0 ? [`${partition}/${end - 1}`] : []))
    return this.#read(this.topic, Number.POSITIVE_INFINITY, new Set(last))
  }

  /** The first so many records of a topic: all, where that is the sum of its ends and none was removed. */
  async #read(topic: string, count: number, last = new Set<string>()): Promise<readonly Letter[]> {
    const consumer = new Consumer({
      clientId: 'letters',
      groupId: randomUUID(),
      bootstrapBrokers: this.#brokers,
    })
    const letters: Letter[] = []
    try {
      const stream = await consumer.consume({
        topics: [topic],
        mode: 'earliest',
        autocommit: false,
      })
      for await (const { key, value, headers, partition, offset } of stream) {
        letters.push({
          key: String(key),
          value: value ?? null,
          headers: new Map([...headers].map(([name, text]) => [String(name), String(text)])),
          origin: `${partition}/${offset}`,
        })
        if (letters.length === count) break
        if (last.delete(`${partition}/${offset}`) && last.size === 0) break
      }
    } finally {
      await consumer.close(true)
    }
    return letters
  }

  async #apply({ write, readUnder }: PaymentChange): Promise<RecordedPayment> {
    // As long as a transaction takes: leases and payments change in the meantime.
    await delay(Math.random() * 5)
    if (this.#leases.get(readUnder?.source ?? '') !== readUnder?.lease) throw CONSUMED_ELSEWHERE
    const updates = this.applied.get(write.id) ?? []
    this.applied.set(write.id, updates)
    const latest = updates.at(-1) ?? 0
    const update = Number(write.reference.replace('update ', '')) || 1
    // Without a version an older update undoes a newer one; only what is the same changes nothing.
    if (write.version === null ? update !== latest : update > latest) updates.push(update)
    return {} as RecordedPayment
  }
}
