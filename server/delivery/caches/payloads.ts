// Bodies ready to be sent. Fresh ones come with the hand-off, so a first attempt reads nothing; the
// rest is read from the store, many at a time. A text is kept until the deliveries that came with it are
// over. The cache is bounded by bytes and keeps no files: those are read for each attempt, within a budget
// of their own.

import { callbackBodyParts, callbackBodyWithoutFile } from '../../core/delivery/callback.ts'
import { BoundedMap } from '../../core/plain/bounded-map.ts'
import { GatheredReads } from '../../store/connection/gathered-reads.ts'
import type { EventKey, Payload } from '../../store/history/events.ts'
import type { DeliveryStore } from '../seams/delivery-store.ts'
import { ByteBudget } from './byte-budget.ts'

export interface Body {
  parts: readonly Uint8Array[]
  bytes: number
  /** To be called once the body is no longer needed. */
  release(): void
}

const NOTHING = () => {}

interface Kept extends Payload {
  /** Deliveries that came with it and are not over. */
  uses: number
}

export class Payloads {
  readonly #store: DeliveryStore
  readonly #files: ByteBudget
  readonly #texts: GatheredReads<EventKey, Payload | null>
  readonly #cache: BoundedMap<string, Kept>

  constructor(store: DeliveryStore, limits: { cacheBytesMax: number; fileBytesMax: number }) {
    this.#store = store
    this.#cache = new BoundedMap(limits.cacheBytesMax, ({ text }) => text.length)
    this.#files = new ByteBudget(limits.fileBytesMax)
    // A text may have 128 KB: a statement brings some ten megabytes at the very most.
    this.#texts = new GatheredReads({
      read: async (keys) => {
        const found = await store.readPayloads(keys)
        return keys.map(({ eventId }) => found.get(eventId) ?? null)
      },
      keyOf: ({ eventId }) => eventId,
      perReadMax: 100,
      readsMax: 2,
      soon: queueMicrotask,
    })
  }

  /** A delivery comes with its text; one event's deliveries share it. */
  remember(eventId: string, payload: Payload): void {
    const kept = this.#cache.get(eventId)
    if (kept !== undefined) {
      kept.uses++
      return
    }
    const { text, documentHash, documentBytes } = payload
    // Named one by one: of a spread V8 keeps the last fields in an array of its own, 32 bytes for each text.
    this.#cache.set(eventId, { text, documentHash, documentBytes, uses: 1 })
  }

  /**
   * A delivery of the event is over, or is parked. The text goes with the last one. Some deliveries that end came
   * without it, and some that came with it end in another process: what is missing is read, what is left is evicted.
   */
  forget(eventId: string): void {
    const kept = this.#cache.get(eventId)
    if (kept !== undefined && --kept.uses <= 0) this.#cache.delete(eventId)
  }

  /** The body, or null when the store no longer has it, or has only parts that do not fit. */
  bodyOf(clientKey: number, eventId: string): Body | null | Promise<Body | null> {
    const kept = this.#cache.get(eventId)
    if (kept !== undefined && kept.documentHash === null) return toBody(kept.text, null, NOTHING)
    return this.#read(clientKey, eventId, kept)
  }

  /** The same without the file, which is not read; `url` stands in its place, where it is given. */
  bodyWithoutFile(
    clientKey: number,
    eventId: string,
    url: string | null,
  ): Body | null | Promise<Body | null> {
    const kept = this.#cache.get(eventId)
    if (kept !== undefined) return toLightBody(kept.text, url)
    const read = this.#texts.ask({ clientKey, eventId })
    return read.then((payload) => payload && toLightBody(payload.text, url))
  }

  async #read(clientKey: number, eventId: string, kept?: Payload): Promise<Body | null> {
    const payload = kept ?? (await this.#texts.ask({ clientKey, eventId }))
    if (payload === null) return null
    if (payload.documentHash === null) return toBody(payload.text, null, NOTHING)
    const release = await this.#files.take(payload.documentBytes ?? 0)
    try {
      const file = await this.#store.readFile(clientKey, payload.documentHash)
      const body = file === null ? null : toBody(payload.text, file, release)
      if (body === null) release()
      return body
    } catch (error) {
      release()
      throw error
    }
  }
}

function toLightBody(text: string, url: string | null): Body {
  const parts = callbackBodyWithoutFile(text, url)
  return { parts, bytes: bytesOf(parts), release: NOTHING }
}

function bytesOf(parts: readonly Uint8Array[]): number {
  let bytes = 0
  for (const part of parts) bytes += part.length
  return bytes
}

/** Null for a damaged row: an attempt that fails on schedule, instead of one that is never made. */
function toBody(text: string, file: Uint8Array | null, release: () => void): Body | null {
  let parts: readonly Uint8Array[]
  try {
    parts = callbackBodyParts(text, file)
  } catch {
    return null
  }
  return { parts, bytes: bytesOf(parts), release }
}
