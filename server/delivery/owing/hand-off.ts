// Takes the deliveries of a transaction straight from its commit into memory, where that is safe. Others have
// to be found by the due reader, here or in the process that owns their shard.

import type { HandedOff } from '../../core/delivery/queued-delivery.ts'
import type { EndpointCache } from '../caches/endpoint-cache.ts'
import type { Payloads } from '../caches/payloads.ts'
import type { Lanes } from '../lanes/lanes.ts'
import type { ReadWatch } from '../lanes/read-watches.ts'
import type { Shards } from '../leases/shards.ts'
import type { EngineEnvironment } from '../seams/environment.ts'
import type { DueReader } from './due-reader.ts'

export interface HandOffParts {
  lanes: Lanes
  shards: Shards
  reader: DueReader
  payloads: Payloads
  endpoints: EndpointCache
}

export class HandOff {
  readonly #environment: EngineEnvironment
  readonly #parts: HandOffParts
  readonly #watch: ReadWatch
  readonly #beganAtMs: number

  /** To be made before the transaction begins. */
  constructor(environment: EngineEnvironment, parts: HandOffParts) {
    this.#environment = environment
    this.#parts = parts
    this.#watch = parts.lanes.watches.begin()
    this.#beganAtMs = environment.clock.monotonicMs()
  }

  /** Takes what was committed, or nothing. True when the due reader has to look. */
  take(deliveries: readonly HandedOff[]): boolean {
    this.#watch.end()
    const nowMs = this.#environment.clock.nowMs()
    let hasToRead = false
    for (const delivery of deliveries) if (!this.#takeOne(delivery, nowMs)) hasToRead = true
    return hasToRead
  }

  /** False when the due reader has to find it at once. */
  #takeOne(delivery: HandedOff, nowMs: number): boolean {
    const { lanes, shards, reader, payloads, endpoints } = this.#parts
    const { payload, shard, nextAttemptAtMs } = delivery
    delivery.payload = null
    if (!shards.holds(shard)) {
      this.#environment.wakeUps?.announceWork(shard)
      return true
    }
    if (this.#mayBeKnown(delivery)) {
      reader.rewindTo(shard, nextAttemptAtMs)
      return false
    }
    if (reader.isFull) {
      lanes.leaveOut(delivery)
      reader.rewindTo(shard, nextAttemptAtMs)
      return true
    }
    if (payload !== null) payloads.remember(delivery.eventId, payload)
    endpoints.expect(delivery.clientKey, delivery.endpointId)
    if (lanes.add(delivery, delivery.hasElders, nowMs)) return true
    reader.reloadStrand(delivery)
    return false
  }

  /**
   * True when the delivery may have been found, and even delivered, between the commit and its reply: by our
   * due reader, or by a former owner of the shard. Also when its endpoint has changed since.
   */
  #mayBeKnown(delivery: HandedOff): boolean {
    const isOurs = this.#parts.shards.hasHeldSince(delivery.shard, this.#beganAtMs)
    return !isOurs || this.#watch.isOutdated(delivery)
  }
}
