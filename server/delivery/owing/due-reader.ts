// Finds work in the database: what was never handed off (another process accepted it, or memory was
// full), what a dead owner left, and retries whose time has come. It reads forward by keyset: the left
// edge of the index is full of dead entries and is visited only by the slow sweep.

import type { DeliverMode } from '../../core/delivery/endpoint-settings.ts'
import type { QueuedDelivery } from '../../core/delivery/queued-delivery.ts'
import { NIL_UUID } from '../../core/plain/uuid.ts'
import type { DueCursor, StrandKey } from '../../store/owed/deliveries.ts'
import type { EndpointCache } from '../caches/endpoint-cache.ts'
import type { Lane } from '../lanes/lane.ts'
import type { Lanes } from '../lanes/lanes.ts'
import type { DeliveryStore } from '../seams/delivery-store.ts'
import type { EngineEnvironment } from '../seams/environment.ts'
import { ParkedSearch } from './parked-search.ts'

export interface DueReaderLimits {
  pageMax: number
  /** Reading stops while this many deliveries are in memory. Strands that are wanted are read all the same, a few updates
   *  of each: what holds the room may not move before long, and they would wait for it. */
  inMemoryMax: number
  /** Updates of one strand that are read at once, where there is room for them. */
  strandMax: number
  /** Rows due this soon are read ahead, so that they start on time. */
  aheadMs: number
  /** Commits become visible out of order: now and then a little is read again. */
  overlapMs: number
  overlapEveryMs: number
  sweepEveryMs: number
}

export const DUE_READER_LIMITS: DueReaderLimits = {
  pageMax: 500,
  inMemoryMax: 60_000,
  strandMax: 100,
  aheadMs: 1_500,
  overlapMs: 30_000,
  overlapEveryMs: 10_000,
  sweepEveryMs: 60_000,
}

const FROM_THE_START_MS = 0
/** The update whose turn it is, and the one that it may have to give way to. */
const STRAND_MIN = 2

export class DueReader {
  readonly #environment: EngineEnvironment
  readonly #lanes: Lanes
  readonly #endpoints: EndpointCache
  readonly #limits: DueReaderLimits
  readonly #cursors = new Map<number, DueCursor>()
  /** For a shard that is being read, since when rows may be due that the read has not seen. */
  readonly #unseen = new Map<number, number>()
  readonly #strandsToReload = new Map<string, StrandKey>()
  #overlappedAtMs = 0
  #sweptAtMs = 0
  readonly #parked: ParkedSearch
  #reading: Promise<void> | null = null
  #again = false

  constructor(
    environment: EngineEnvironment,
    lanes: Lanes,
    endpoints: EndpointCache,
    limits: DueReaderLimits,
  ) {
    this.#environment = environment
    this.#lanes = lanes
    this.#endpoints = endpoints
    this.#limits = limits
    this.#parked = new ParkedSearch({
      store: environment.store,
      holds: (shard) => this.#cursors.has(shard),
      onFound: (lane) => lanes.feeder.noteParked(lane),
    })
  }

  get isFull(): boolean {
    return this.#lanes.size >= this.#limits.inMemoryMax
  }

  gain(shards: readonly number[]): void {
    for (const shard of shards) this.#rewind(shard, FROM_THE_START_MS)
  }

  lose(shards: readonly number[]): void {
    for (const shard of shards) {
      this.#cursors.delete(shard)
      this.#parked.lose(shard)
    }
  }

  /** Rows due at `atMs` were not taken into memory: the cursor must not pass them. */
  rewindTo(shard: number, atMs: number): void {
    const cursor = this.#cursors.get(shard)
    if (cursor === undefined) return
    if (cursor.afterMs >= atMs) this.#rewind(shard, atMs - 1)
    // A read that is under way may have begun before they were there, and would pass them.
    else if (this.#reading) this.#keepBefore(shard, atMs)
  }

  /** An endpoint of the shard was changed: what that has made due carries the time at which its transaction began. */
  rewindForChange(shard: number): void {
    this.rewindTo(shard, this.#environment.clock.nowMs() - this.#limits.overlapMs)
  }

  #keepBefore(shard: number, atMs: number): void {
    const unseenMs = this.#unseen.get(shard) ?? Number.POSITIVE_INFINITY
    this.#unseen.set(shard, Math.min(unseenMs, atMs))
  }

  /** True where the cursor has just passed what the read may not have seen, and is back before it. */
  #goBackToUnseen({ shard, afterMs }: DueCursor): boolean {
    const sinceMs = this.#unseen.get(shard)
    this.#unseen.delete(shard)
    if (sinceMs === undefined || sinceMs > afterMs) return false
    this.#rewind(shard, sinceMs - 1)
    return true
  }

  /** The strand has to be read whole before anything of it moves. */
  reloadStrand(key: StrandKey): void {
    this.#strandsToReload.set(`${key.endpointId}/${key.paymentId}`, key)
  }

  /** Reads until nothing is due or memory is full. A call during a read makes it look once more. */
  read(): Promise<void> {
    this.#again = true
    this.#reading ??= this.#readAll()
    return this.#reading
  }

  async #readAll(): Promise<void> {
    try {
      while (this.#again) {
        this.#again = false
        await this.#reloadStrands()
        const nowMs = this.#environment.clock.nowMs()
        this.#lookBack(nowMs)
        await this.#readForward(nowMs + this.#limits.aheadMs)
      }
    } finally {
      // Reset synchronously after the loop, or a read() in between would be lost.
      this.#reading = null
    }
  }

  /** Moves the cursors back for a moment: a little often, to the very start now and then. */
  #lookBack(nowMs: number): void {
    const sinceMs = this.#environment.clock.monotonicMs()
    if (sinceMs - this.#sweptAtMs >= this.#limits.sweepEveryMs) {
      this.#sweptAtMs = sinceMs
      this.#overlappedAtMs = sinceMs
      for (const shard of this.#cursors.keys()) this.#rewind(shard, FROM_THE_START_MS)
    } else if (sinceMs - this.#overlappedAtMs >= this.#limits.overlapEveryMs) {
      this.#overlappedAtMs = sinceMs
      for (const shard of this.#cursors.keys()) this.rewindTo(shard, nowMs - this.#limits.overlapMs)
    }
  }

  async #readForward(untilMs: number): Promise<void> {
    let open = [...this.#cursors.values()]
    while (open.length > 0 && !this.isFull) {
      const limit = Math.max(10, Math.ceil(this.#limits.pageMax / open.length))
      const { rows, isOutdated, isOfChanged } = await this.#watched((store) =>
        this.#withEndpoints(store.readDue(open, untilMs, limit)),
      )
      const byShard = Map.groupBy(rows, (row) => row.shard)
      const unread: DueCursor[] = []
      for (const cursor of open) {
        // The shard was lost, or its cursor moved back, during the read: these rows are not taken.
        if (this.#cursors.get(cursor.shard) !== cursor) {
          byShard.delete(cursor.shard)
          continue
        }
        const page = byShard.get(cursor.shard) ?? []
        const last = page.at(-1)
        const next =
          last && page.length >= limit
            ? { shard: cursor.shard, afterMs: last.nextAttemptAtMs, afterId: last.id }
            : { shard: cursor.shard, afterMs: untilMs, afterId: NIL_UUID }
        this.#cursors.set(cursor.shard, next)
        // In the next round, with all others: one busy shard must not keep them waiting.
        if (this.#goBackToUnseen(next)) this.#again = true
        else if (page.length >= limit) unread.push(next)
      }
      const read = [...byShard.values()].flat()
      await this.#take(read.filter((row) => !isOutdated(row)))
      // These were not taken, and the cursor has passed them.
      for (const row of read.filter(isOfChanged)) this.rewindTo(row.shard, row.nextAttemptAtMs)
      open = unread.filter((cursor) => this.#cursors.get(cursor.shard) === cursor)
    }
  }

  async #take(rows: readonly QueuedDelivery[]): Promise<void> {
    const nowMs = this.#environment.clock.nowMs()
    for (const row of rows) {
      if (!this.#lanes.add(row, this.#mayHaveOthers(row), nowMs)) this.reloadStrand(row)
    }
    await this.#reloadStrands()
  }

  /**
   * Nothing can come before a payment's first update. But once it was tried, a later one may have gone ahead of
   * it, and has to be known of before it is tried again. And under `latest` a newer one goes in its stead.
   */
  #mayHaveOthers(row: QueuedDelivery): boolean {
    return !isUntriedFirst(row) || this.#endpoints.deliverOf(row.endpointId) === 'latest'
  }

  /** The rows, when what their endpoints ask for is at hand wherever that decides what is read of them. */
  async #withEndpoints(
    reading: Promise<readonly QueuedDelivery[]>,
  ): Promise<readonly QueuedDelivery[]> {
    const rows = await reading
    await this.#findDelivers(rows.filter(isUntriedFirst), new Map())
    return rows
  }

  async #reloadStrands(): Promise<void> {
    while (this.#strandsToReload.size > 0) {
      const keys = [...this.#strandsToReload.values()].slice(0, this.#limits.pageMax)
      for (const key of keys) this.#strandsToReload.delete(`${key.endpointId}/${key.paymentId}`)
      const delivers = new Map<string, DeliverMode>()
      const limitEach = this.#limitEach(keys.length)
      const { rows, isOutdated } = await this.#watched(async (store) => {
        await this.#findDelivers(keys, delivers)
        const wanted = keys.map((key) => ({ ...key, deliver: delivers.get(key.endpointId) }))
        return store.readStrands(wanted, limitEach)
      }).catch((error: unknown) => {
        for (const key of keys) this.reloadStrand(key)
        throw error
      })
      const nowMs = this.#environment.clock.nowMs()
      const strands = Map.groupBy(rows, (row) => `${row.endpointId}/${row.paymentId}`)
      for (const owed of strands.values()) {
        const [first] = owed
        if (first === undefined || !this.#cursors.has(first.shard)) continue
        if (owed.some(isOutdated)) {
          this.reloadStrand(first)
          continue
        }
        const deliver = delivers.get(first.endpointId) ?? 'every'
        // Of the latest the newest are read, and no others will be needed.
        const isComplete = deliver === 'latest' || owed.length < limitEach
        this.#lanes.putStrand(
          owed.map((delivery) => unparked(delivery, nowMs)),
          isComplete,
          nowMs,
          deliver,
        )
      }
    }
  }

  /** How many updates of each strand: their shares of the room that is left. Of one in which a later update has gone
   *  ahead as many again are read. */
  #limitEach(strands: number): number {
    const { inMemoryMax, strandMax } = this.#limits
    const share = Math.floor((inMemoryMax - this.#lanes.size) / (2 * strands))
    return Math.min(strandMax, Math.max(STRAND_MIN, share))
  }

  /** What the endpoints of these strands asked for: nearly always at hand. */
  async #findDelivers(keys: readonly StrandKey[], found: Map<string, DeliverMode>): Promise<void> {
    const unknown: StrandKey[] = []
    for (const key of keys) {
      const deliver = this.#endpoints.deliverOf(key.endpointId)
      if (deliver === undefined) unknown.push(key)
      else found.set(key.endpointId, deliver)
    }
    if (unknown.length === 0) return
    const reads = unknown.map(async ({ clientKey, endpointId }) => {
      const endpoint = await this.#endpoints.get(clientKey, endpointId)
      found.set(endpointId, endpoint?.settings.deliver ?? 'every')
    })
    await Promise.all(reads)
  }

  /** Takes up to `room` parked deliveries of a lane into memory. */
  async refill(lane: Lane, room: number): Promise<void> {
    // One that is called off asks for its lane without knowing that its shard is lost.
    if (!this.#cursors.has(lane.shard)) lane.parked.release()
    if (lane.parked.state.is === 'released') {
      this.#lanes.feeder.refilled(lane, null)
      return
    }
    const limit = Math.min(room, this.#limits.pageMax)
    const { rows, isOutdated } = await this.#watched((store) =>
      this.#withEndpoints(store.readParked(lane, lane.parked.after, limit)),
    )
    const nowMs = this.#environment.clock.nowMs()
    if (this.#cursors.has(lane.shard)) {
      const current = rows.filter((row) => !isOutdated(row))
      await this.#take(current.map((row) => unparked(row, nowMs)))
    }
    this.#lanes.feeder.refilled(lane, rows.length < limit ? null : (rows.at(-1)?.id ?? null))
  }

  /** Finds the lanes of these shards that have something parked, and of those that could not be asked about before. */
  findParked(shards: readonly number[]): Promise<void> {
    return this.#parked.search(shards)
  }

  /** Reads rows, and tells those apart that have moved on since the read began. */
  async #watched(read: (store: DeliveryStore) => Promise<readonly QueuedDelivery[]>) {
    const watch = this.#lanes.watches.begin()
    try {
      return { ...watch, rows: await read(this.#environment.store) }
    } finally {
      watch.end()
    }
  }

  #rewind(shard: number, afterMs: number): void {
    this.#cursors.set(shard, { shard, afterMs, afterId: NIL_UUID })
  }
}

function isUntriedFirst({ sequence, attempts }: QueuedDelivery): boolean {
  return sequence === 1 && attempts === 0
}

/** A parked delivery waits for room in its lane and nothing else: in memory it is due at once. */
function unparked(delivery: QueuedDelivery, nowMs: number): QueuedDelivery {
  return delivery.nextAttemptAtMs === Number.POSITIVE_INFINITY
    ? { ...delivery, nextAttemptAtMs: nowMs }
    : delivery
}
