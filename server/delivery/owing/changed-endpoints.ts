// What follows when endpoints are changed (paused, resumed, deleted, disabled, a new key, header or address, or what
// they are owed made due): everything that this process knows of them leaves memory and is read again. A change
// made here arrives at once; one made in another process is announced, and found by ChangeWatch if the announcement
// got lost.

import type { ChangedLane } from '../../store/owed/sending-endpoints.ts'
import type { EndpointCache } from '../caches/endpoint-cache.ts'
import type { Lanes } from '../lanes/lanes.ts'
import type { Shards } from '../leases/shards.ts'
import type { EngineEnvironment } from '../seams/environment.ts'
import { ChangeWatch, type ChangeWatchLimits } from './change-watch.ts'
import type { DueReader } from './due-reader.ts'

export interface ChangedEndpointsParts {
  lanes: Lanes
  shards: Shards
  reader: DueReader
  endpoints: EndpointCache
  /** Asks the database which lanes of these shards have parked deliveries. */
  findParked(shards: readonly number[]): void
  /** Reads what is due. */
  read(): void
}

export class ChangedEndpoints {
  readonly #environment: EngineEnvironment
  readonly #parts: ChangedEndpointsParts
  readonly #limits: ChangeWatchLimits
  readonly #watch: ChangeWatch

  constructor(
    environment: EngineEnvironment,
    parts: ChangedEndpointsParts,
    pollEveryMs: number,
    limits: ChangeWatchLimits,
  ) {
    this.#environment = environment
    this.#parts = parts
    this.#limits = limits
    this.#watch = new ChangeWatch(environment.store, pollEveryMs, limits)
  }

  start(): void {
    this.#watch.start(this.#environment.clock.nowMs())
  }

  /** Changed in this process, or announced by another one. */
  take(changes: readonly ChangedLane[]): void {
    for (const change of changes) this.#forget(change)
    this.#readAgain(
      changes,
      changes.map(({ shard }) => shard),
    )
  }

  /** Looks for changes that were made in other processes. */
  async look(): Promise<void> {
    const few: ChangedLane[] = []
    const shards = new Set<number>()
    try {
      await this.#watch.look(this.#environment.clock.nowMs(), (changes) => {
        for (const change of changes) {
          this.#forget(change)
          shards.add(change.shard)
          if (few.length <= this.#limits.oneByOneMax) few.push(change)
        }
      })
    } finally {
      // Also of a look that broke off: what it took out of memory has to come back.
      this.#readAgain(few, shards)
    }
  }

  /** What is known of the endpoint is wrong now, and so may be what is being read. */
  #forget({ endpointId, shard, retriedAtMs }: ChangedLane): void {
    const { endpoints, lanes, reader } = this.#parts
    if (retriedAtMs) {
      lanes.directory.find(endpointId)?.retry(retriedAtMs, this.#environment.clock.monotonicMs())
    }
    endpoints.forget(endpointId)
    lanes.watches.note(endpointId)
    const removed = lanes.removeEndpoint(endpointId)
    // What was in memory is due since its own time; what the change has made due, since a moment ago. All else that is
    // due in the shard is another's, and stays where it is.
    reader.rewindForChange(shard)
    for (const delivery of removed) reader.rewindTo(shard, delivery.nextAttemptAtMs)
    // What is due takes the room that it leaves, and memory may then be full for as long as others fail: a retry would
    // cost the endpoint the attempt that it had waited for.
    const returning = retriedAtMs ? removed.filter(({ isReplay }) => !isReplay) : []
    for (const delivery of returning) reader.reloadStrand(delivery)
  }

  /** Reads what was in memory of these endpoints, and what was parked while they were not active. */
  #readAgain(changed: readonly ChangedLane[], named: Iterable<number>): void {
    const { shards, lanes } = this.#parts
    const held = [...new Set(named)].filter((shard) => shards.holds(shard))
    if (held.length === 0) return
    if (changed.length > this.#limits.oneByOneMax) this.#parts.findParked(held)
    else for (const lane of changed) if (shards.holds(lane.shard)) lanes.feeder.noteParked(lane)
    this.#parts.read()
  }
}
