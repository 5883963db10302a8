// Writes down what leaves memory although it is due: postponed until another update of its payment may have
// ended, or parked until its lane has room.

import type { QueuedDelivery } from '../../core/delivery/queued-delivery.ts'
import type { LaneKey } from '../../store/owed/parked.ts'
import type { Lane } from '../lanes/lane.ts'
import type { Lanes } from '../lanes/lanes.ts'
import { Queue } from '../lanes/queue.ts'
import type { Shards } from '../leases/shards.ts'
import type { EngineEnvironment } from '../seams/environment.ts'
import type { DueReader } from './due-reader.ts'

export interface ParkingParts {
  lanes: Lanes
  shards: Shards
  reader: DueReader
  /** Asks the database which lanes of these shards have parked deliveries. */
  findParked(shards: readonly number[]): void
  /** Something may be able to move again. */
  onMoved(): void
}

/** Refills under way at once: after an outage thousands of lanes need one in the same moment. */
const REFILLS_MAX = 4

export class Parking {
  readonly #environment: EngineEnvironment
  readonly #parts: ParkingParts
  readonly #retryMs: number
  #parking: QueuedDelivery[] = []
  /** Lanes that wait for a refill, the first that asked first. */
  readonly #awaitingRefill = new Queue<{ lane: Lane; room: number }>()
  #refills = 0
  #isStopped = false
  /** What writes at the moment, and all that waits for its turn. */
  #written: Promise<unknown> = Promise.resolve()

  constructor(environment: EngineEnvironment, parts: ParkingParts, retryMs: number) {
    this.#environment = environment
    this.#parts = parts
    this.#retryMs = retryMs
  }

  postpone(deliveries: readonly QueuedDelivery[], untilMs: number): void {
    const dueAtMs = new Map(deliveries.map(({ id, nextAttemptAtMs }) => [id, nextAttemptAtMs]))
    const held = this.#parts.shards.toHeld(deliveries)
    const postponed = held.map((delivery) => ({
      ...delivery,
      knownAtMs: dueAtMs.get(delivery.id) as number,
      nextAttemptAtMs: untilMs,
    }))
    // When this fails the rows are merely read again a little too often.
    this.#inTurn(() => this.#environment.store.postpone(postponed)).catch((error: unknown) =>
      this.#warn(error, 'deliveries.not-postponed'),
    )
  }

  /** Parked rows leave the due index; once they have, their lane knows where to find them. */
  park(deliveries: readonly QueuedDelivery[]): void {
    if (deliveries.length === 0) return
    if (this.#parking.length === 0) void this.#inTurn(() => this.#write())
    this.#parking.push(...deliveries)
  }

  /**
   * One statement after the other: a row that is read again before it has left the due index is written once more, and two
   * statements that come to the same rows in another order wait for each other until the server ends one of them.
   */
  #inTurn(write: () => Promise<unknown>): Promise<unknown> {
    const written = this.#written.then(write)
    this.#written = written.catch(() => {})
    return written
  }

  /** Nothing is read for lanes any more. */
  stop(): void {
    this.#isStopped = true
  }

  /** Takes parked deliveries of a lane into memory, after the lanes that asked before. */
  refill(lane: Lane, room: number): void {
    this.#awaitingRefill.push({ lane, room })
    this.refillNext()
  }

  /** To be called when memory has room again: while it is full no refill begins. */
  refillNext(): void {
    while (this.#awaitingRefill.length > 0 && this.#refills < REFILLS_MAX) {
      if (this.#isStopped || this.#parts.reader.isFull) return
      const next = this.#awaitingRefill.shift()
      if (next !== undefined) void this.#refill(next.lane, next.room)
    }
  }

  async #refill(lane: Lane, room: number): Promise<void> {
    const { lanes, reader, onMoved } = this.#parts
    this.#refills++
    try {
      await reader.refill(lane, room)
    } catch (error) {
      this.#warn(error, 'lane.not-refilled')
      // Not at once: a database that refuses everything would be asked without end.
      this.#environment.setTimer(this.#retryMs, () => {
        if (!this.#isStopped) lanes.feeder.refillFailed(lane)
      })
    }
    this.#refills--
    this.refillNext()
    onMoved()
  }

  async #write(): Promise<void> {
    const { shards, reader, onMoved } = this.#parts
    const parked = this.#parking
    this.#parking = []
    const byLane = new Map(parked.map((delivery) => [delivery.endpointId, delivery]))
    const releases = new Map([...byLane.keys()].map((id) => [id, this.#releasesOf(id)]))
    try {
      await this.#environment.store.park(shards.toHeld(parked))
    } catch (error) {
      // They are still due, and the due reader finds them again.
      this.#warn(error, 'deliveries.not-parked')
      for (const { shard, nextAttemptAtMs } of parked) reader.rewindTo(shard, nextAttemptAtMs)
      return
    }
    for (const [id, lane] of byLane) this.#note(lane, this.#releasesOf(id) !== releases.get(id))
    onMoved()
  }

  /**
   * One that was released while its rows were parked may be of an endpoint that is not active. It would read them, find
   * that out, and park again what it has no room for, without end. The database knows whether it is active by now.
   */
  #note(lane: LaneKey, wasReleased: boolean): void {
    const { lanes, shards, findParked } = this.#parts
    if (!shards.holds(lane.shard)) return
    if (wasReleased) findParked([lane.shard])
    else lanes.feeder.noteParked(lane)
  }

  #releasesOf(endpointId: string): number | undefined {
    return this.#parts.lanes.directory.find(endpointId)?.parked.releases
  }

  #warn(error: unknown, message: string): void {
    this.#environment.log.warn({ error: String(error) }, message)
  }
}
