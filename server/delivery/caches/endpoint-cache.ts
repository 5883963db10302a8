// Endpoints as they were last read, keys opened. An endpoint that is changed in this process is dropped from
// here at once; one that is changed elsewhere, within a second (change-watch.ts).

import type { DeliverMode } from '../../core/delivery/endpoint-settings.ts'
import { Remembered } from '../../core/plain/remembered.ts'
import { GatheredReads } from '../../store/connection/gathered-reads.ts'
import type { SendingEndpoint } from '../../store/owed/sending-endpoints.ts'
import type { DeliveryStore, EndpointKey } from '../seams/delivery-store.ts'

const ENDPOINTS_MAX = 50_000

export class EndpointCache {
  readonly #cached = new Remembered<string, SendingEndpoint | null>({
    keysMax: ENDPOINTS_MAX,
    isKept: (endpoint) => endpoint !== null,
  })
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
    return this.#cached.look(endpointId) ?? this.#read(clientKey, endpointId)
  }

  /** What the endpoint asked for, if it is known. */
  deliverOf(endpointId: string): DeliverMode | undefined {
    return this.#cached.look(endpointId)?.settings.deliver
  }

  /** It will be asked for soon: a read now, together with others, saves the attempt from waiting. */
  expect(clientKey: number, endpointId: string): void {
    if (this.#cached.look(endpointId) !== undefined) return
    // An attempt that needs it asks again.
    this.#read(clientKey, endpointId).catch(() => {})
  }

  forget(endpointId: string): void {
    this.#cached.forget(endpointId)
  }

  #read(clientKey: number, endpointId: string): Promise<SendingEndpoint | null> {
    return this.#cached.get(endpointId, () => this.#reads.ask({ clientKey, endpointId }))
  }
}
