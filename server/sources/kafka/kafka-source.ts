// Payment changes out of a Kafka topic, applied in the order of the partition for each payment, also across rebalances:
//   - processes share the partitions by a consumer group; each generation of it is a session (kafka-session.ts);
//   - before a session reads, it takes a lease on each of its partitions in the database. What a process still records
//     that was frozen, and whose partitions have moved, is refused there, and its commits by the group;
//   - an offset is committed when everything before it is on disk or a dead letter. What was applied and not committed is
//     read again: the payment's version makes that harmless, and of records without one the next of a payment waits
//     for the commit of the one before.

import { setTimeout as delay } from 'node:timers/promises'
import type { KafkaSettings } from '../../config/config.ts'
import { Ending } from '../../core/plain/ending.ts'
import type { Broker, ConsumerRight, SourceOptions } from '../broker/broker.ts'
import { BrokerSource } from '../broker/broker-source.ts'
import { OwnFaults } from '../broker/own-faults.ts'
import { rotated } from './kafka-clients.ts'
import { KafkaDeadLetters } from './kafka-dead-letters.ts'
import { type GroupTiming, KafkaGroup } from './kafka-group.ts'
import { KafkaReader } from './kafka-reader.ts'
import { KafkaSession, type KafkaTiming } from './kafka-session.ts'

export type KafkaSourceTiming = KafkaTiming & GroupTiming

export interface KafkaSourceOptions extends SourceOptions {
  settings: KafkaSettings
  /** Takes the right to consume these sources from whoever has it, and returns the lease. */
  takeLeases(sources: readonly string[]): Promise<string>
  /** May run ahead, and never behind. */
  cautiousMs(): number
  timing?: Partial<KafkaSourceTiming>
}

const TIMING: KafkaSourceTiming = {
  sessionMs: 20_000,
  beatEveryMs: 3_000,
  lookEveryMs: 30_000,
  commitEveryMs: 25,
  restMs: 500,
  restMsMax: 30_000,
  askEveryMs: 1_000,
}

const CLOSE_MS_MAX = 2_000

export function createKafkaSource(options: KafkaSourceOptions): BrokerSource {
  const timing = { ...TIMING, ...options.timing }
  return new BrokerSource(new KafkaBroker(options, timing), options, timing)
}

class KafkaBroker implements Broker {
  readonly name = 'kafka'
  readonly #options: KafkaSourceOptions
  readonly #timing: KafkaSourceTiming
  readonly #reader: KafkaReader
  readonly #deadLetters: KafkaDeadLetters
  readonly #ownFaults: OwnFaults
  readonly #interrupted = new Ending()
  #group: KafkaGroup | null = null
  #joins = 0
  #session: KafkaSession | null = null
  #wakeUp: (() => void) | null = null

  constructor(options: KafkaSourceOptions, timing: KafkaSourceTiming) {
    this.#options = options
    this.#timing = timing
    this.#ownFaults = new OwnFaults(timing)
    const onRefused = (fault: string) => this.#reportRefused(fault)
    this.#reader = new KafkaReader(options.settings, onRefused)
    this.#deadLetters = new KafkaDeadLetters(options.settings, onRefused)
  }

  async open(wakeUp: () => void): Promise<KafkaSession | null> {
    this.#wakeUp = wakeUp
    const group = await this.#interrupted.orEnd(this.#join())
    const partitions = group?.partitions ?? []
    if (group === null || partitions.length === 0) return null
    const { generation } = group
    const own = await this.#take(group, generation, partitions)
    if (!group.holds(generation)) return null
    const session = new KafkaSession({
      ...this.#options,
      timing: this.#timing,
      ownFaults: this.#ownFaults,
      partitions: own,
      cluster: {
        findLeaders: (numbers) => this.#reader.findLeaders(numbers),
        findStarts: (numbers) => this.#findStarts(group, numbers),
        fetch: (request) => this.#reader.fetch(request),
        commit: (offsets) => group.commit(generation, offsets),
        putAside: (...letter) => this.#deadLetters.put(...letter),
      },
    })
    this.#session = session
    const { topic, group: name } = this.#options.settings
    this.#options.log.info({ topic, group: name, partitions }, 'kafka.consuming')
    return session
  }

  interrupt(): void {
    this.#interrupted.end()
  }

  async close(): Promise<void> {
    const closed = Promise.all([
      this.#group?.close(),
      this.#reader.close(),
      this.#deadLetters.close(),
    ])
    await Promise.race([closed, delay(CLOSE_MS_MAX, undefined, { ref: false })])
  }

  async #join(): Promise<KafkaGroup> {
    if (this.#group?.isOver === false) return this.#group
    void this.#group?.close()
    this.#group = null
    const { settings, cautiousMs } = this.#options
    const group = new KafkaGroup({
      settings: rotated(settings, this.#joins++),
      timing: this.#timing,
      onRefused: (fault) => this.#reportRefused(fault),
      cautiousMs,
      onChange: () => {
        if (this.#group !== group) return
        this.#session?.end(null)
        this.#wakeUp?.()
      },
    })
    this.#group = group
    try {
      await group.join()
    } catch (error) {
      this.#group = null
      void group.close()
      throw error
    }
    return group
  }

  #reportRefused(error: string): void {
    const { log, onBrokerFailure } = this.#options
    log.warn({ error }, 'kafka.answer-refused')
    onBrokerFailure?.()
  }

  /** Before committed offsets are read: what the one before has applied until then is read again, and it applies
   *  nothing more. */
  async #take(
    group: KafkaGroup,
    generation: number,
    partitions: readonly number[],
  ): Promise<ReadonlyMap<number, ConsumerRight>> {
    const { takeLeases, settings } = this.#options
    // Not by the group: two groups that feed one database would overtake each other.
    const sourceOf = (partition: number) => `kafka:${settings.topic}/${partition}`
    const id = await takeLeases(partitions.map(sourceOf))
    const isHeld = () => group.holds(generation)
    return new Map(
      partitions.map((partition) => [partition, { source: sourceOf(partition), id, isHeld }]),
    )
  }

  async #findStarts(
    group: KafkaGroup,
    partitions: readonly number[],
  ): Promise<ReadonlyMap<number, bigint>> {
    const bounds = await this.#reader.readBounds(partitions)
    const committed = await group.readCommitted(partitions)
    const starts = new Map<number, bigint>()
    for (const [partition, { first, end }] of bounds) {
      const offset = committed.get(partition) ?? first
      const isThere = offset >= first && offset <= end
      // Either records were deleted before they were read, or the topic was made again.
      if (!isThere) {
        const gone = { partition, committed: Number(offset), first: Number(first) }
        this.#options.log.warn(gone, 'kafka.records-gone')
      }
      starts.set(partition, isThere ? offset : first)
    }
    return starts
  }
}
