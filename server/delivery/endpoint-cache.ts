// Endpoints as they were last read, keys opened. A change made in this process is dropped from here at
// once; one made elsewhere is noticed within a second, by asking what has changed.

import type { SendingEndpoint } from '../store/sending-endpoints.ts'
import type { DeliveryStore, EndpointKey } from './delivery-store.ts'

const ENDPOINTS_MAX = 50_000

export class EndpointCache {
  readonly #store: DeliveryStore
  readonly #known = new Map<string, SendingEndpoint>()
  readonly #reading = new Map<string, Promise<SendingEndpoint | null>>()
  #wanted: EndpointKey[] = []

  constructor(store: DeliveryStore) {
    this.#store = store
  }

  /** Null when there is no such endpoint. Those asked for in one turn are read in one statement. */
  get(clientKey: number, endpointId: string): SendingEndpoint | Promise<SendingEndpoint | null> {
    const known = this.#known.get(endpointId)
    if (known) return known
    let reading = this.#reading.get(endpointId)
    if (!reading) {
      if (this.#wanted.length === 0) this.#batch = Promise.resolve().then(() => this.#readWanted())
      this.#wanted.push({ clientKey, endpointId })
      const mine = this.#batch.then((found) => found.get(endpointId) ?? null)
      this.#reading.set(endpointId, mine)
      const forget = () => {
        if (this.#reading.get(endpointId) === mine) this.#reading.delete(endpointId)
      }
      mine.then(forget, forget)
      reading = mine
    }
    return reading
  }

  forget(endpointId: string): void {
    this.#known.delete(endpointId)
    // A read that is under way may have seen the old row.
    this.#reading.delete(endpointId)
  }

  #batch: Promise<ReadonlyMap<string, SendingEndpoint>> = Promise.resolve(new Map())

  async #readWanted(): Promise<ReadonlyMap<string, SendingEndpoint>> {
    const wanted = this.#wanted
    this.#wanted = []
    const current = new Map(
      wanted.map((key) => [key.endpointId, this.#reading.get(key.endpointId)]),
    )
    const found = await this.#store.readEndpoints(wanted)
    if (this.#known.size > ENDPOINTS_MAX) this.#known.clear()
    for (const endpoint of found) {
      // Kept only if nobody has said meanwhile that it changed.
      const reading = this.#reading.get(endpoint.id)
      if (reading !== undefined && reading === current.get(endpoint.id)) {
        this.#known.set(endpoint.id, endpoint)
      }
    }
    return new Map(found.map((endpoint) => [endpoint.id, endpoint]))
  }
}
