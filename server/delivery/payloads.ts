// Bodies ready to be sent. Fresh ones come with the hand-off, so a first attempt reads nothing; the
// rest is read from the store. The cache is bounded by bytes, and files are never kept in it.

import { callbackBodyParts } from '../core/callback.ts'
import type { DeliveryStore } from './delivery-store.ts'

interface Payload {
  text: string
  documentHash: Uint8Array | null
}

export class Payloads {
  readonly #store: DeliveryStore
  readonly #bytesMax: number
  /** In order of arrival: the oldest goes first. */
  readonly #cache = new Map<string, Payload>()
  #bytes = 0

  constructor(store: DeliveryStore, bytesMax: number) {
    this.#store = store
    this.#bytesMax = bytesMax
  }

  remember(eventId: string, payload: Payload): void {
    if (this.#cache.has(eventId)) return
    this.#cache.set(eventId, payload)
    this.#bytes += payload.text.length
    for (const [oldest, { text }] of this.#cache) {
      if (this.#bytes <= this.#bytesMax) break
      this.#cache.delete(oldest)
      this.#bytes -= text.length
    }
  }

  /** The body's parts, or null when the store no longer has them. */
  async bodyOf(clientKey: number, eventId: string): Promise<readonly Uint8Array[] | null> {
    const payload = this.#cache.get(eventId) ?? (await this.#store.readPayload(clientKey, eventId))
    if (payload === null) return null
    if (payload.documentHash === null) return callbackBodyParts(payload.text, null)
    const file = await this.#store.readFile(clientKey, payload.documentHash)
    return file === null ? null : callbackBodyParts(payload.text, file)
  }
}
