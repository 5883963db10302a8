// Endpoints as they were last read, keys opened. An endpoint that is changed in this process is dropped from
// here at once; one that is changed elsewhere, within a second (change-watch.ts).
// Of very many endpoints most are not known here, so a miss is kept small: those of one turn share a statement, and
// a promise is made only for a caller that has to wait.

import type { DeliverMode } from '../../core/delivery/endpoint-settings.ts'
import { BoundedMap } from '../../core/plain/bounded-map.ts'
import type { SendingEndpoint } from '../../store/owed/sending-endpoints.ts'
import type { DeliveryStore, EndpointKey } from '../seams/delivery-store.ts'

const ENDPOINTS_MAX = 50_000
const PER_READ_MAX = 500
const READS_MAX = 2

/** An endpoint that is to be read, or is being read. */
interface Miss extends EndpointKey {
  hasBegun: boolean
  /** What callers wait for, once there is one. */
  answer: PromiseWithResolvers<SendingEndpoint | null> | null
}

export class EndpointCache {
  readonly #store: DeliveryStore
  readonly #known = new BoundedMap<string, SendingEndpoint>(ENDPOINTS_MAX)
  /** The newest of each endpoint, unless the endpoint has changed since its read began. */
  readonly #misses = new Map<string, Miss>()
  /** Those whose read has not begun. */
  #gathered: Miss[] = []
  #reads = 0

  constructor(store: DeliveryStore) {
    this.#store = store
  }

  /** Null when there is no such endpoint. */
  get(clientKey: number, endpointId: string): SendingEndpoint | Promise<SendingEndpoint | null> {
    const known = this.#known.get(endpointId)
    if (known !== undefined) return known
    const miss = this.#missOf(clientKey, endpointId)
    miss.answer ??= Promise.withResolvers()
    const { promise } = miss.answer
    if (!miss.hasBegun) return promise
    // One that was not there when the read began may be there by now.
    return promise.then((found) => found ?? this.get(clientKey, endpointId))
  }

  /** What the endpoint asked for, if it is known. */
  deliverOf(endpointId: string): DeliverMode | undefined {
    return this.#known.get(endpointId)?.settings.deliver
  }

  /** It will be asked for soon: a read now, together with others, saves the attempt from waiting. */
  expect(clientKey: number, endpointId: string): void {
    // A read that fails is nobody's error where nobody waits: an attempt that needs the endpoint asks again.
    if (!this.#known.has(endpointId)) this.#missOf(clientKey, endpointId)
  }

  /** It has changed. Callers that wait for an older answer get it, but it is not kept. */
  forget(endpointId: string): void {
    this.#known.delete(endpointId)
    if (this.#misses.get(endpointId)?.hasBegun) this.#misses.delete(endpointId)
  }

  #missOf(clientKey: number, endpointId: string): Miss {
    let miss = this.#misses.get(endpointId)
    if (miss === undefined) {
      miss = { clientKey, endpointId, hasBegun: false, answer: null }
      this.#misses.set(endpointId, miss)
      if (this.#gathered.push(miss) === 1) queueMicrotask(() => this.#readNext())
    }
    return miss
  }

  #readNext(): void {
    while (this.#gathered.length > 0 && this.#reads < READS_MAX) {
      void this.#read(this.#gathered.splice(0, PER_READ_MAX))
    }
  }

  async #read(misses: readonly Miss[]): Promise<void> {
    this.#reads++
    for (const miss of misses) miss.hasBegun = true
    try {
      const found = new Map<string, SendingEndpoint>()
      for (const endpoint of await this.#store.readEndpoints(misses)) {
        found.set(endpoint.id, endpoint)
      }
      for (const miss of misses) this.#hear(miss, found.get(miss.endpointId) ?? null)
    } catch (error) {
      for (const miss of misses) {
        this.#end(miss)
        miss.answer?.reject(error)
      }
    }
    this.#reads--
    this.#readNext()
  }

  #hear(miss: Miss, endpoint: SendingEndpoint | null): void {
    if (this.#end(miss) && endpoint !== null) this.#known.set(miss.endpointId, endpoint)
    miss.answer?.resolve(endpoint)
  }

  /** False when the endpoint has changed since its read began. */
  #end(miss: Miss): boolean {
    return this.#misses.get(miss.endpointId) === miss && this.#misses.delete(miss.endpointId)
  }
}
