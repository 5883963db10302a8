// One session of the Kafka source: this process's partitions of one generation of the group. Offsets are committed up to
// where everything is on disk or in the dead letters. What is unfinished at its end is read again, by this process or another.

import { setTimeout as delay, setImmediate as yieldToOthers } from 'node:timers/promises'
import { type PaymentMessage, readPaymentRecord } from '../../core/payments/payment-message.ts'
import { Ending } from '../../core/plain/ending.ts'
import type { ServiceError } from '../../core/plain/errors.ts'
import {
  type FetchedPartition,
  type FetchedRecord,
  type Opened,
  type RefusedBatch,
  readBatches,
} from '../batches/record-batches.ts'
import type {
  BrokerRecord,
  BrokerSession,
  ConsumerRight,
  SourceOptions,
  SourceTiming,
} from '../broker/broker.ts'
import { describeError } from '../broker/describe-error.ts'
import { IN_HAND_BYTES_MAX, IN_HAND_MAX, type InHandLimits } from '../broker/in-hand.ts'
import type { OwnFaults } from '../broker/own-faults.ts'
import { assertHeld, RecordIntake } from '../broker/record-intake.ts'
import { PartitionsInHand } from './partitions-in-hand.ts'
import { PartitionsProgress } from './partitions-progress.ts'

/** What cannot be tried again within a session: the group has gone on, or an offset is not there. */
export class SessionOver extends Error {}

export interface FetchRequest {
  node: number
  positions: ReadonlyMap<number, bigint>
  /** Whether not to wait long for new records: others of the broker's partitions have no room now, and may soon. */
  isHasty: boolean
}

/** What a session asks of the cluster. A `SessionOver` ends it; after anything else it tries again. */
export interface SessionCluster {
  /** The partitions by the broker that leads them, without those that none leads now. */
  findLeaders(partitions: readonly number[]): Promise<ReadonlyMap<number, readonly number[]>>
  /** Where the reading of each begins: only who leads it knows from where on there are records. */
  findStarts(partitions: readonly number[]): Promise<ReadonlyMap<number, bigint>>
  fetch(request: FetchRequest): Promise<readonly FetchedPartition[]>
  commit(offsets: ReadonlyMap<number, bigint>): Promise<void>
  putAside(
    partition: number,
    fetched: FetchedRecord | RefusedBatch,
    problem: ServiceError,
  ): Promise<void>
}

export interface KafkaTiming extends SourceTiming {
  /** Between two commits: what is settled in the meantime shares one. */
  commitEveryMs: number
}

export interface KafkaSessionOptions extends SourceOptions {
  timing: KafkaTiming
  cluster: SessionCluster
  ownFaults: OwnFaults
  /** Its own, with the right to each. */
  partitions: ReadonlyMap<number, ConsumerRight>
  inHand?: Pick<InHandLimits, 'messagesMax'>
  /** Offsets of a partition that are remembered beyond the one up to which it can be committed. */
  aheadMax?: number
}

interface KafkaRecord extends BrokerRecord {
  readonly partition: number
  readonly bytes: number
}

/** Parsing more at once would hold up deliveries. */
const TAKEN_AT_ONCE = 100
const TAKEN_BYTES_AT_ONCE = 1_024 * 1_024
/** Some 10 MB in each partition. */
const AHEAD_MAX = 100_000
/** A new leader is found within seconds. */
const READ_REST_MS_MAX = 5_000
/** At the end, a broker that does not answer is not waited for. */
const END_MS_MAX = 2_000

export class KafkaSession implements BrokerSession {
  readonly #options: KafkaSessionOptions
  readonly #intake: RecordIntake<KafkaRecord>
  readonly #inHand: PartitionsInHand
  readonly #progress = new PartitionsProgress()
  #leaderless = ''
  #isRunning = false
  #failure: Error | null = null
  readonly #fetches = new Set<Promise<unknown>>()
  /** Fetches that failed in a row. */
  #failures = 0
  #answers = 0
  readonly #ending = new Ending()
  #onSettled = Promise.withResolvers<void>()
  #onCommitted = Promise.withResolvers<void>()

  constructor(options: KafkaSessionOptions) {
    this.#options = options
    const limits = { messagesMax: IN_HAND_MAX, bytesMax: IN_HAND_BYTES_MAX, ...options.inHand }
    this.#inHand = new PartitionsInHand(options.partitions.size, limits)
    this.#intake = new RecordIntake({
      ...options,
      name: 'kafka',
      restMs: options.timing.restMs,
      onSettled: (record) => {
        this.#inHand.settle(record.partition, record.bytes)
        this.#tellSettled()
      },
      onFailure: (error) => this.end(error),
    })
  }

  get isConsuming(): boolean {
    if (!this.#isRunning || this.#failures > 0 || this.#intake.isHeldUp) return false
    return this.#options.partitions.values().every((right) => right.isHeld())
  }

  get lag(): number {
    return this.#progress.lag
  }

  get hasSettled(): boolean {
    return this.#intake.hasSettled
  }

  end(failure: Error | null): void {
    this.#failure ??= this.#ending.isOver ? null : failure
    this.#ending.end()
    this.#intake.end()
    this.#tellSettled()
    this.#tellCommitted()
  }

  async run(): Promise<void> {
    this.#isRunning = true
    const committing = this.#commitWhileItRuns()
    try {
      while (!this.#ending.isOver) await this.#readRound()
    } catch (error) {
      this.end(error as Error)
    }
    this.#isRunning = false
    await this.#intake.idle()
    // Less is read again by the next; where the partitions have moved, nothing is committed.
    const lastCommit = committing.then(() => this.#commit()).catch(() => {})
    // The next session must not ask a broker that still answers this one.
    const lastFetches = Promise.allSettled(this.#fetches)
    const patience = delay(END_MS_MAX, undefined, { ref: false })
    await Promise.race([Promise.all([lastCommit, lastFetches]), patience])
    if (this.#failure !== null) throw this.#failure
  }

  /** The group keeps the partitions until it shares them out anew. */
  async release(): Promise<void> {}

  /** Reads from all brokers at once, until one of them fails: another may lead its partitions then. */
  async #readRound(): Promise<void> {
    const { partitions, cluster, timing } = this.#options
    const round = new Ending()
    try {
      const leaders = await cluster.findLeaders([...partitions.keys()])
      if (leaders.size === 0) throw new Error('no partition has a leader')
      this.#lookAgain(leaders, round)
      const reads = [...leaders].map(([node, own]) =>
        this.#readFrom(node, own, round).finally(() => round.end()),
      )
      for (const read of await Promise.allSettled(reads)) {
        if (read.status === 'rejected') throw read.reason
      }
    } catch (error) {
      for (const right of partitions.values()) assertHeld(right)
      if (error instanceof SessionOver) throw error
      if (this.#ending.isOver) return
      this.#report(error, 'kafka.not-read')
      await this.#rest(Math.min(timing.restMs * 2 ** this.#failures++, READ_REST_MS_MAX))
    }
  }

  /** Partitions without a leader have one as soon as a broker is back, and nobody says when: the round ends early. */
  #lookAgain(leaders: ReadonlyMap<number, readonly number[]>, round: Ending): void {
    const { partitions, timing, log, onBrokerFailure } = this.#options
    const led = new Set([...leaders.values()].flat())
    const others = [...partitions.keys()].filter((partition) => !led.has(partition))
    if (others.length > 0 && this.#leaderless !== others.join()) {
      log.warn({ partitions: others }, 'kafka.no-leader')
    }
    this.#leaderless = others.join()
    if (others.length === 0) return
    onBrokerFailure?.()
    void this.#rest(timing.restMs).then(() => round.end())
  }

  #report(error: unknown, message: string): void {
    const { log, onBrokerFailure } = this.#options
    log.warn({ error: describeError(error) }, message)
    onBrokerFailure?.()
  }

  /** Or until the end. */
  async #rest(ms: number): Promise<void> {
    await this.#ending.orEnd(delay(ms, undefined, { ref: false }))
  }

  async #readFrom(node: number, own: readonly number[], round: Ending): Promise<void> {
    const { partitions, cluster, aheadMax = AHEAD_MAX } = this.#options
    await this.#begin(own)
    while (!this.#ending.isOver && !round.isOver) {
      const positions = new Map<number, bigint>()
      for (const partition of this.#inHand.withRoom(own)) {
        assertHeld(partitions.get(partition) as ConsumerRight)
        const { next, ahead } = this.#progress.of(partition)
        if (ahead < aheadMax) positions.set(partition, next)
      }
      if (positions.size === 0) {
        // Not for long where another broker has failed: it may lead none of its partitions by now.
        await round.orEnd(this.#onSettled.promise)
        continue
      }
      const isHasty = positions.size < own.length
      const fetching = cluster.fetch({ node, positions, isHasty })
      this.#fetches.add(fetching)
      void fetching.catch(() => {}).then(() => this.#fetches.delete(fetching))
      const fetched = await this.#ending.orEnd(fetching)
      this.#failures = 0
      await this.#takeAll(fetched ?? [])
    }
  }

  async #begin(partitions: readonly number[]): Promise<void> {
    const unknown = this.#progress.notBegun(partitions)
    if (unknown.length === 0) return
    const starts = await this.#ending.orEnd(this.#options.cluster.findStarts(unknown))
    if (starts !== null) this.#progress.begin(starts)
  }

  /** Another partition is first each time: one whose batches are large leaves the others nothing of what is opened. */
  async #takeAll(fetched: readonly FetchedPartition[]): Promise<void> {
    const opened: Opened = { bytes: 0, records: 0 }
    const first = this.#answers++ % Math.max(1, fetched.length)
    for (const one of [...fetched.slice(first), ...fetched.slice(0, first)]) {
      await this.#take(one, opened)
    }
  }

  async #take(fetched: FetchedPartition, opened: Opened): Promise<void> {
    const right = this.#options.partitions.get(fetched.partitionIndex)
    // A broker goes on with what it was asked for earlier until it is told not to.
    if (right === undefined) return
    const progress = this.#progress.of(fetched.partitionIndex)
    progress.end = fetched.highWatermark
    let taken = { records: 0, bytes: 0 }
    for await (const one of readBatches(fetched, progress.next, opened)) {
      if (taken.records >= TAKEN_AT_ONCE || taken.bytes >= TAKEN_BYTES_AT_ONCE) {
        await yieldToOthers()
        taken = { records: 0, bytes: 0 }
      }
      if (this.#ending.isOver) return
      if (one.kind === 'passed') {
        progress.next = one.next
        continue
      }
      progress.take(one.offset)
      if (one.kind === 'refused') progress.next = one.last + 1n
      const record = this.#toRecord(fetched.partitionIndex, one, right)
      taken.records++
      taken.bytes += record.bytes
      this.#inHand.hold(record.partition, record.bytes)
      this.#intake.take(record)
    }
    this.#tellSettled()
  }

  #toRecord(
    partition: number,
    fetched: FetchedRecord | RefusedBatch,
    right: ConsumerRight,
  ): KafkaRecord {
    const { cluster } = this.#options
    const progress = this.#progress.of(partition)
    const { offset } = fetched
    const read = readFetched(fetched)
    return {
      partition,
      bytes: fetched.kind === 'record' ? fetched.record.bytes : 0,
      right,
      origin: {
        partition,
        offset: Number(offset),
        ...(fetched.kind === 'refused' && { last: Number(fetched.last) }),
      },
      read: () => read,
      putAside: (_, problem) => cluster.putAside(partition, fetched, problem),
      acknowledge: async () => {
        progress.settle(offset)
        this.#tellSettled()
        // Applied again after a later one it would undo that, unless its version says that it is old.
        if (read.change !== null && read.change.write.version !== null) return
        while (!progress.isCommitted(offset)) {
          if (this.#ending.isOver) return
          await this.#onCommitted.promise
        }
      },
    }
  }

  async #commitWhileItRuns(): Promise<void> {
    const { timing } = this.#options
    while (!this.#ending.isOver) {
      if (this.#progress.committable().size === 0) await this.#onSettled.promise
      try {
        await this.#commit()
      } catch (error) {
        if (error instanceof SessionOver) return this.end(error)
        if (!this.#ending.isOver) this.#report(error, 'kafka.not-committed')
        await this.#rest(timing.restMs)
      }
      await this.#rest(timing.commitEveryMs)
    }
  }

  async #commit(): Promise<void> {
    const offsets = this.#progress.committable()
    if (offsets.size === 0) return
    await this.#options.cluster.commit(offsets)
    this.#progress.commit(offsets)
    this.#tellCommitted()
  }

  #tellSettled(): void {
    this.#onSettled.resolve()
    if (!this.#ending.isOver) this.#onSettled = Promise.withResolvers()
  }

  #tellCommitted(): void {
    this.#onCommitted.resolve()
    if (!this.#ending.isOver) this.#onCommitted = Promise.withResolvers()
  }
}

function readFetched(fetched: FetchedRecord | RefusedBatch): PaymentMessage {
  if (fetched.kind === 'record') return readPaymentRecord(fetched.record.key, fetched.record.value)
  return { accountId: null, paymentId: null, change: null, error: fetched.problem }
}
