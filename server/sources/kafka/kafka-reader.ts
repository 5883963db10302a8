// Reads partitions of the topic, on connections of its own: a broker answers the requests of one connection in order, and
// a fetch that waits for records would hold up beats and commits.

import {
  Consumer,
  FetchIsolationLevels,
  findErrorBy,
  ListOffsetTimestamps,
} from '@platformatic/kafka'
import type { KafkaSettings } from '../../config/config.ts'
import type { FetchedPartition } from '../batches/record-batches.ts'
import { leaveBatchesClosed } from './kafka-answers.ts'
import { type FrameLimits, prepare, rotated, toClientOptions } from './kafka-clients.ts'
import { type FetchRequest, SessionOver } from './kafka-session.ts'

/** Of one answer; a record that is larger still comes, alone. More at once is recorded no sooner, and while it is,
 *  deliveries wait: they leave memory, and have to be read again, at twice the price (measure:kafka). */
const ANSWER_BYTES_MAX = 512 * 1_024
const PARTITION_BYTES_MAX = 128 * 1_024
/** The largest request that brokers take by default (socket.request.max.bytes): no larger batch is in a topic, unless they
 *  were told otherwise. One that is too large to be read has to come all the same: its head says where the next begins. */
const BATCH_BYTES_MAX = 100 * 1_024 * 1_024
const FRAME_BYTES_MAX = BATCH_BYTES_MAX + 2 * ANSWER_BYTES_MAX
const WAIT_MS = 500
const HASTY_WAIT_MS = 50
/** A broker that is silent for longer is frozen, and another leads its partitions by now. */
const ANSWER_MS_MAX = 10_000

export class KafkaReader {
  readonly #settings: KafkaSettings
  readonly #onRefused: FrameLimits['onRefused']
  readonly #topic: string
  #topicId = ''
  #consumer: Consumer
  #turns = 0

  constructor(settings: KafkaSettings, onRefused: FrameLimits['onRefused']) {
    this.#settings = settings
    this.#topic = settings.topic
    this.#onRefused = onRefused
    this.#consumer = openConsumer(settings, onRefused)
  }

  /** The partitions by the broker that leads them; those that none leads now are left out. */
  async findLeaders(
    partitions: readonly number[],
  ): Promise<ReadonlyMap<number, readonly number[]>> {
    const metadata = await this.#consumer
      .metadata({ topics: [this.#topic], forceUpdate: true })
      .catch((error: unknown) => this.#turnToOthers(error))
    const topic = metadata.topics.get(this.#topic)
    if (topic === undefined) throw new Error(`the topic ${this.#topic} is not there`)
    this.#topicId = topic.id
    const leaders = Map.groupBy(
      partitions,
      (partition) => topic.partitions[partition]?.leader ?? -1,
    )
    leaders.delete(-1)
    return leaders
  }

  /** Waits a moment where there is nothing to read yet. */
  async fetch({ node, positions, isHasty }: FetchRequest): Promise<readonly FetchedPartition[]> {
    const partitions = [...positions].map(([partition, fetchOffset]) => ({
      partition,
      fetchOffset,
      currentLeaderEpoch: -1,
      lastFetchedEpoch: -1,
      partitionMaxBytes: PARTITION_BYTES_MAX,
    }))
    const topics = [{ topicId: this.#topicId, partitions }]
    const limits = { maxBytes: ANSWER_BYTES_MAX, maxWaitTime: isHasty ? HASTY_WAIT_MS : WAIT_MS }
    try {
      const { responses } = await this.#consumer.fetch({ node, topics, ...limits })
      // As kafka-answers.ts has parsed them.
      return responses.flatMap(({ partitions }) => partitions as unknown as FetchedPartition[])
    } catch (error) {
      if (findErrorBy(error as Error, 'apiId', 'OFFSET_OUT_OF_RANGE') === null) throw error
      throw new SessionOver('an offset is not there: it was deleted, or never written')
    }
  }

  /** From where to where there are records. */
  async readBounds(
    partitions: readonly number[],
  ): Promise<ReadonlyMap<number, { first: bigint; end: bigint }>> {
    const list = async (timestamp: bigint) => {
      const topics = [this.#topic]
      const own = { [this.#topic]: [...partitions] }
      const offsets = await this.#consumer.listOffsets({ topics, partitions: own, timestamp })
      return offsets.get(this.#topic) ?? []
    }
    const first = await list(ListOffsetTimestamps.EARLIEST)
    const end = await list(ListOffsetTimestamps.LATEST)
    return new Map(
      partitions.map((partition) => [
        partition,
        { first: first[partition] ?? 0n, end: end[partition] ?? 0n },
      ]),
    )
  }

  async close(): Promise<void> {
    await this.#consumer.close(true).catch(() => {})
  }

  /** The broker that was asked may be frozen. */
  #turnToOthers(error: unknown): never {
    void this.close()
    this.#consumer = openConsumer(rotated(this.#settings, ++this.#turns), this.#onRefused)
    throw error
  }
}

function openConsumer(settings: KafkaSettings, onRefused: FrameLimits['onRefused']): Consumer {
  const limits = { ...settings, frameBytesMax: FRAME_BYTES_MAX, onRefused }
  // It never joins the group; the client wants its name.
  const own = {
    requestTimeout: ANSWER_MS_MAX,
    groupId: settings.group,
    isolationLevel: FetchIsolationLevels.READ_COMMITTED,
  }
  const consumer = leaveBatchesClosed(
    prepare(new Consumer({ ...toClientOptions(settings), ...own }), limits),
  )
  consumer.topics.track(settings.topic)
  // Every failure is that of a request, too.
  consumer.on('error', () => {})
  return consumer
}
