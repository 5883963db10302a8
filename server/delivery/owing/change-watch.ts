// Finds endpoints that other processes have changed. A change carries the time at which its transaction began,
// and can be seen once that has committed: so each look overlaps with those before it, and remembers what it
// has seen. Where very many have changed at once, the overlap is read again now and then only.

import { NIL_UUID } from '../../core/plain/uuid.ts'
import type { ChangedEndpoint } from '../../store/owed/sending-endpoints.ts'
import type { DeliveryStore } from '../seams/delivery-store.ts'

export interface ChangeWatchLimits {
  /** Rows of one statement. */
  pageMax: number
  /** With more than this in the overlap, most looks are brief. */
  rereadMax: number
  /** Changes that are remembered; any beyond are merely taken again. */
  noticedMax: number
  /** Parked deliveries of so many changed endpoints are asked for one by one; of more, by shard. */
  oneByOneMax: number
}

export const CHANGE_WATCH_LIMITS: ChangeWatchLimits = {
  pageMax: 10_000,
  rereadMax: 1_000,
  noticedMax: 200_000,
  oneByOneMax: 5,
}

/** How far a look goes back, 30 s with a poll each second: the database ends a transaction that idles for so
 *  long (store/connection/db.ts), and a statement long before. */
const OVERLAP_POLLS = 30
/** A brief look goes back by a few polls only, and every tenth look is not brief. */
const BRIEF_POLLS = 3
const WIDE_EVERY_LOOKS = 10

export class ChangeWatch {
  readonly #store: DeliveryStore
  readonly #pollEveryMs: number
  readonly #limits: ChangeWatchLimits
  /** By endpoint, the change that was seen last. */
  #noticed = new Map<string, number>()
  #lookedAtMs = 0
  #lookedWideAtMs = 0
  #briefLooks = 0

  constructor(store: DeliveryStore, pollEveryMs: number, limits: ChangeWatchLimits) {
    this.#store = store
    this.#pollEveryMs = pollEveryMs
    this.#limits = limits
  }

  /** Nothing is in memory yet: earlier changes do not matter. */
  start(nowMs: number): void {
    this.#lookedAtMs = nowMs
    this.#lookedWideAtMs = nowMs
  }

  /** Hands over what has changed since the last look, a page at a time. */
  async look(nowMs: number, take: (changes: readonly ChangedEndpoint[]) => void): Promise<void> {
    const { rereadMax, noticedMax } = this.#limits
    const isBrief = this.#noticed.size > rereadMax && this.#briefLooks < WIDE_EVERY_LOOKS - 1
    const sinceMs = isBrief
      ? this.#lookedAtMs - BRIEF_POLLS * this.#pollEveryMs
      : this.#lookedWideAtMs - OVERLAP_POLLS * this.#pollEveryMs
    // A look at the whole overlap forgets what has left it.
    const noticed = isBrief ? this.#noticed : new Map<string, number>()
    for await (const page of this.#pages(sinceMs)) {
      take(page.filter((change) => this.#noticed.get(change.endpointId) !== change.changedAtMs))
      for (const { endpointId, changedAtMs } of page) {
        if (noticed.size < noticedMax) noticed.set(endpointId, changedAtMs)
      }
    }
    this.#noticed = noticed
    this.#lookedAtMs = nowMs
    this.#briefLooks = isBrief ? this.#briefLooks + 1 : 0
    if (!isBrief) this.#lookedWideAtMs = nowMs
  }

  async *#pages(sinceMs: number): AsyncGenerator<readonly ChangedEndpoint[]> {
    const { pageMax } = this.#limits
    for (let afterId = NIL_UUID; ; ) {
      const page = await this.#store.readChangedEndpoints(sinceMs, afterId, pageMax)
      if (page.length > 0) yield page
      const last = page.at(-1)
      if (last === undefined || page.length < pageMax) return
      afterId = last.endpointId
    }
  }
}
