// Takes the deliveries of a transaction straight from its commit into memory, where that is safe. Those of other shards go
// to the sibling that owns them, if one has asked for them; all others have to be found by the due reader, here or in the
// process that owns their shard.

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

/** Since before the transaction began: what has moved, and when that was. */
export interface HandOffSince {
  watch: ReadWatch
  beganAtMs: number
}

/**
 * Takes what was committed, or nothing; what belongs to shards of others goes to `elsewhere`. Without `since` nothing is
 * certain, and all of it is read. True when the due reader has to look.
 */
export function takeHandedOff(
  { clock }: Pick<EngineEnvironment, 'clock'>,
  parts: HandOffParts,
  since: HandOffSince | null,
  deliveries: readonly HandedOff[],
  elsewhere: (delivery: HandedOff) => void,
): boolean {
  const nowMs = clock.nowMs()
  let hasToRead = false
  for (const delivery of deliveries) {
    if (!parts.shards.holds(delivery.shard)) elsewhere(delivery)
    else if (!takeOne(parts, since, delivery, nowMs)) hasToRead = true
  }
  return hasToRead
}

/** False when the due reader has to find it at once. */
function takeOne(
  { lanes, shards, reader, payloads, endpoints }: HandOffParts,
  since: HandOffSince | null,
  delivery: HandedOff,
  nowMs: number,
): boolean {
  const { payload, shard, nextAttemptAtMs } = delivery
  delivery.payload = null
  if (since === null || mayBeKnown(shards, since, delivery)) {
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
 * True when the delivery may have been found, and even delivered, between the commit and its arrival here: by our
 * due reader, or by a former owner of the shard. Also when its endpoint has changed since.
 */
function mayBeKnown(shards: Shards, { watch, beganAtMs }: HandOffSince, delivery: HandedOff) {
  return !shards.hasHeldSince(delivery.shard, beganAtMs) || watch.isOutdated(delivery)
}
