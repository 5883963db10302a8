// The engine's maintenance: ends what is past its deadline in lanes that are down, and disables endpoints that only fail.
// A lane that fails, because it has too much parked or for any other reason, keeps none of the others waiting.

import { NIL_UUID } from '../core/plain/uuid.ts'
import type { LaneKey } from '../store/owed/parked.ts'
import type { Lane } from './lanes/lane.ts'
import type { Lanes } from './lanes/lanes.ts'
import type { Shards } from './leases/shards.ts'
import type { EngineEnvironment } from './seams/environment.ts'

export interface MaintenanceParts {
  lanes: Lanes
  shards: Shards
  onDisabled(lane: LaneKey): void
}

/** Parked deliveries that one statement looks at: it ends them within a second, far from its time limit. */
const PAGE_MAX = 5_000
/** Pages of one lane in a run. A longer lane goes on with the next run: of ten million it sees all in 100. */
const PAGES_MAX = 20

export class Maintenance {
  readonly #environment: EngineEnvironment
  readonly #parts: MaintenanceParts
  readonly #disableAfterMs: number
  /** Where the next run goes on in a lane that the last one did not see the end of. */
  readonly #positions = new WeakMap<Lane, string>()

  constructor(environment: EngineEnvironment, parts: MaintenanceParts, disableAfterMs: number) {
    this.#environment = environment
    this.#parts = parts
    this.#disableAfterMs = disableAfterMs
  }

  /** Never rejects. */
  async run(): Promise<void> {
    const { clock, log } = this.#environment
    if (clock.hasJumped) return
    for (const lane of this.#parts.lanes.directory.broken) {
      await this.#exhaust(lane).catch((error: unknown) => {
        log.warn({ ...laneKey(lane), error: String(error) }, 'lane.care-failed')
      })
    }
    await this.#disable().catch((error: unknown) => {
      log.warn({ error: String(error) }, 'engine.care-failed')
    })
  }

  async #exhaust(lane: Lane): Promise<void> {
    const { clock, store, log } = this.#environment
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      const epoch = this.#parts.shards.epochOf(lane.shard)
      // In an aftermath its last attempt may be under way, and the next update would follow.
      if (epoch === undefined || this.#parts.shards.aftermathMs(lane.shard) > 0) return
      const page = { afterId: this.#positions.get(lane) ?? NIL_UUID, limit: PAGE_MAX }
      const found = await store.exhaustParked({ ...laneKey(lane), epoch }, page, clock.nowMs())
      const { exhausted, afterId } = found
      if (exhausted > 0) log.warn({ ...laneKey(lane), exhausted }, 'deliveries.exhausted')
      this.#positions.set(lane, afterId ?? NIL_UUID)
      if (afterId === null) return
    }
  }

  async #disable(): Promise<void> {
    const { clock, store, log } = this.#environment
    const { shards, onDisabled } = this.#parts
    const sinceMs = clock.nowMs() - this.#disableAfterMs
    for (const lane of await store.disableFailing(shards.epochs, sinceMs, clock.nowMs())) {
      log.warn(lane, 'endpoint.disabled')
      this.#environment.onDisabled?.()
      onDisabled(lane)
    }
  }
}

function laneKey({ clientKey, endpointId, shard }: Lane): LaneKey {
  return { clientKey, endpointId, shard }
}
