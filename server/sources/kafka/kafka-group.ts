// This process as a member of the consumer group: which partitions it has, and until when it may count on them. The
// coordinator gives a member up that it has not heard for a session's time; the member counts from the moment it sent its
// last beat, on its own clock, and for a shorter time. Each time partitions are shared out anew is a new generation.

import { Consumer, findErrorBy } from '@platformatic/kafka'
import type { KafkaSettings } from '../../config/config.ts'
import { type FrameLimits, prepare, toClientOptions } from './kafka-clients.ts'
import { SessionOver } from './kafka-session.ts'
import { sharePartitions } from './share-partitions.ts'

export interface GroupTiming {
  /** How long the coordinator waits for a sign of life. */
  sessionMs: number
  beatEveryMs: number
  /** How often the topic is looked at, for partitions that were added. */
  lookEveryMs: number
}

export interface GroupOptions extends Pick<FrameLimits, 'onRefused'> {
  settings: KafkaSettings
  timing: GroupTiming
  /** May run ahead, and never behind (delivery/seams/cautious-clock.ts). */
  cautiousMs(): number
  /** The partitions are being shared out anew, or have been. */
  onChange(): void
}

/** How much of a session's time the member counts on. */
const HELD_SHARE = 0.9
/** A join waits this much longer than a session for members that are slow. */
const JOIN_MS = 5_000

export class KafkaGroup {
  readonly #options: GroupOptions
  readonly #consumer: Consumer
  readonly #looking: NodeJS.Timeout
  #generation = 0
  #partitions: readonly number[] | null = null
  #partitionCount = 0
  #sentAtMs = 0
  #heldUntilMs = Number.NEGATIVE_INFINITY
  #failure: Error | null = null
  #closed: Promise<void> | null = null

  constructor(options: GroupOptions) {
    this.#options = options
    const { settings, timing } = options
    const consumer = new Consumer({
      ...toClientOptions(settings),
      groupId: settings.group,
      sessionTimeout: timing.sessionMs,
      rebalanceTimeout: timing.sessionMs + JOIN_MS,
      heartbeatInterval: timing.beatEveryMs,
      // It would only tell us what we count ourselves, and its timer outlives the client.
      heartbeatStallTimeout: 0,
      partitionAssigner: sharePartitions,
    })
    this.#consumer = prepare(consumer, { tls: settings.tls, onRefused: options.onRefused })
    this.#consumer.topics.track(settings.topic)
    this.#follow()
    this.#looking = setInterval(() => void this.#lookForPartitions(), timing.lookEveryMs)
  }

  /** A member that has failed, or that was not heard for too long, has to be replaced by a new one. While partitions are
   *  shared out there is no beat: that may take as long as a session, where another member is frozen. */
  get isOver(): boolean {
    if (this.#failure !== null) return true
    return this.#partitions !== null && this.#options.cautiousMs() >= this.#heldUntilMs
  }

  get generation(): number {
    return this.#generation
  }

  /** Null while they are being shared out. */
  get partitions(): readonly number[] | null {
    return this.#partitions
  }

  /** Whether the partitions of this generation are still this process's own. */
  holds(generation: number): boolean {
    return generation === this.#generation && this.#partitions !== null && !this.isOver
  }

  async join(): Promise<void> {
    this.#partitionCount = await this.#countPartitions()
    await this.#consumer.joinGroup({})
  }

  /** The offsets that the group has committed; those of partitions without one are left out. */
  async readCommitted(partitions: readonly number[]): Promise<ReadonlyMap<number, bigint>> {
    const { topic } = this.#options.settings
    const topics = [{ topic, partitions: [...partitions] }]
    const offsets = (await this.#consumer.listCommittedOffsets({ topics })).get(topic) ?? []
    return new Map(
      partitions.flatMap((partition) => {
        const offset = offsets[partition]
        return offset === undefined || offset < 0n ? [] : [[partition, offset] as const]
      }),
    )
  }

  /** Under this generation and no other: the coordinator refuses a member that the group has gone on without. */
  async commit(generation: number, offsets: ReadonlyMap<number, bigint>): Promise<void> {
    if (!this.holds(generation)) throw new SessionOver('the group shares its partitions out anew')
    const { topic } = this.#options.settings
    const own = [...offsets].map(([partition, offset]) => ({
      topic,
      partition,
      offset,
      leaderEpoch: -1,
    }))
    try {
      await this.#consumer.commit({ offsets: own })
    } catch (error) {
      if (findErrorBy(error as Error, 'needsRejoin', true) === null) throw error
      throw new SessionOver('the group has gone on without this process')
    }
  }

  /** Leaves, so that the others share its partitions out at once. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  /** It leaves first: a join that is under way would make a client that is closed a member again, which beats in vain for
   *  as long as the process lives. */
  async #close(): Promise<void> {
    clearInterval(this.#looking)
    this.#partitions = null
    try {
      await this.#consumer.leaveGroup(true)
    } catch {
      // Refused, as by a coordinator that is moving, it would remain a member, and its client open. Without an id it
      // leaves nothing; the group gives it up.
      this.#consumer.memberId = null
      await this.#consumer.leaveGroup(true)
    }
    await this.#consumer.close(true).catch(() => {})
  }

  #follow(): void {
    const { cautiousMs, timing, onChange, settings } = this.#options
    const heldFrom = (sentAtMs: number) => {
      this.#heldUntilMs = sentAtMs + timing.sessionMs * HELD_SHARE
    }
    this.#consumer.on('consumer:heartbeat:start', () => {
      this.#sentAtMs = cautiousMs()
    })
    this.#consumer.on('consumer:heartbeat:end', () => heldFrom(this.#sentAtMs))
    this.#consumer.on('consumer:group:rebalance', () => {
      this.#partitions = null
      onChange()
    })
    this.#consumer.on('consumer:group:join', ({ assignments }) => {
      const own = assignments?.find(({ topic }) => topic === settings.topic)
      this.#generation++
      this.#partitions = own?.partitions.toSorted((one, other) => one - other) ?? []
      heldFrom(cautiousMs())
      onChange()
    })
    // What the client gives up at: it could not join again.
    this.#consumer.on('error', (error) => {
      this.#failure = error
      onChange()
    })
  }

  async #countPartitions(): Promise<number> {
    const { topic } = this.#options.settings
    const metadata = await this.#consumer.metadata({ topics: [topic], forceUpdate: true })
    return metadata.topics.get(topic)?.partitionsCount ?? 0
  }

  /** No broker says that partitions were added. Whoever leads the group shares them out when it joins again. */
  async #lookForPartitions(): Promise<void> {
    if (this.#partitions === null) return
    try {
      const count = await this.#countPartitions()
      if (count === this.#partitionCount) return
      this.#partitionCount = count
      await this.#consumer.joinGroup({})
    } catch {
      // Looked for again later; what ails the group is found by its beat.
    }
  }
}
