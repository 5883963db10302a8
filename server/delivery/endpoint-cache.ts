// Endpoints as they were last read, keys opened. A change made in this process is dropped from here at
// once; one made elsewhere is noticed within a second, by asking what has changed.

import { GatheredReads } from '../store/gathered-reads.ts'
import type { SendingEndpoint } from '../store/sending-endpoints.ts'
import type { DeliveryStore, EndpointKey } from './delivery-store.ts'

const ENDPOINTS_MAX = 50_000
/** Forgotten together when it is full: the oldest, one by one, would cost a look for each new one. */
const FORGOTTEN_AT_ONCE = 1_000

export class EndpointCache {
  readonly #known = new Map<string, SendingEndpoint>()
  readonly #reading = new Map<string, Promise<SendingEndpoint | null>>()
  readonly #reads: GatheredReads<EndpointKey, SendingEndpoint | null>

  constructor(store: DeliveryStore) {
    this.#reads = new GatheredReads({
      read: async (keys) => {
        const found = await store.readEndpoints(keys)
        const byId = new Map(found.map((endpoint) => [endpoint.id, endpoint]))
        return keys.map(({ endpointId }) => byId.get(endpointId) ?? null)
      },
      keyOf: ({ endpointId }) => endpointId,
      perReadMax: 500,
      readsMax: 2,
      soon: queueMicrotask,
    })
  }

  /** Null when there is no such endpoint. */
  get(clientKey: number, endpointId: string): SendingEndpoint | Promise<SendingEndpoint | null> {
    return (
      this.#known.get(endpointId) ??
      this.#reading.get(endpointId) ??
      this.#read(clientKey, endpointId)
    )
  }

  /** It will be asked for soon: read now, together with its neighbours, and then nobody waits. */
  expect(clientKey: number, endpointId: string): void {
    if (this.#known.has(endpointId) || this.#reading.has(endpointId)) return
    // Whoever needs it asks again.
    this.#read(clientKey, endpointId).catch(() => {})
  }

  forget(endpointId: string): void {
    this.#known.delete(endpointId)
    // A read that is under way may have seen the old row.
    this.#reading.delete(endpointId)
  }

  #read(clientKey: number, endpointId: string): Promise<SendingEndpoint | null> {
    // Kept only if nobody has said meanwhile that it changed.
    const isCurrent = () => this.#reading.get(endpointId) === reading
    const reading: Promise<SendingEndpoint | null> = this.#reads
      .ask({ clientKey, endpointId })
      .then(
        (endpoint) => {
          if (isCurrent()) {
            this.#reading.delete(endpointId)
            if (endpoint !== null) this.#remember(endpoint)
          }
          return endpoint
        },
        (error: unknown) => {
          if (isCurrent()) this.#reading.delete(endpointId)
          throw error
        },
      )
    this.#reading.set(endpointId, reading)
    return reading
  }

  #remember(endpoint: SendingEndpoint): void {
    if (this.#known.size >= ENDPOINTS_MAX) {
      let left = FORGOTTEN_AT_ONCE
      for (const oldest of this.#known.keys()) {
        if (left-- === 0) break
        this.#known.delete(oldest)
      }
    }
    this.#known.set(endpoint.id, endpoint)
  }
}
