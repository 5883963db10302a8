// What a receiver remembers, so that an event is handled once and a payment never goes backwards.
// The default keeps it in memory, with a limit, and forgets it on a restart. Where handling an event
// twice would hurt, keep it in your database: three short functions.

import { HourCounts, idsWithin, type ReceivedStore } from '../plain/ids-digest.ts'

export interface SeenEvent {
  /** `webhook-id`: the same on every retry and replay. */
  id: string
  paymentId: string
  /** Number of the event within its payment. */
  sequence: number | undefined
}

/**
 * - `new`: yours to handle; `settle` or `release` follows
 * - `duplicate`: was handled before
 * - `stale`: a newer update of the payment was handled before
 * - `busy`: is being handled at this moment, perhaps by another process
 */
export type Claim = 'new' | 'duplicate' | 'stale' | 'busy'

export interface SeenStore {
  claim(event: SeenEvent): Claim | Promise<Claim>
  /**
   * It was handled: remember the id, and the sequence if it is the highest of the payment. A store that also has
   * `hours` and `ids` (`ReceivedStore`) counts the id with it, once, and gets `stale` events too: they are answered
   * with 200, so Paybell counts them as delivered.
   */
  settle(event: SeenEvent): void | Promise<void>
  /** It was not handled: forget the id, so that the retry is new. */
  release(event: SeenEvent): void | Promise<void>
}

/**
 * Remembers the last `entriesMax` events and payments, and a count and a digest for each of the last 768 hours, in this
 * process alone.
 *
 * ```js
 * import { createMemorySeen, createReceiver } from '@paybell/sdk'
 *
 * createReceiver({
 *   sharedKey: 'a-long-random-text-that-only-we-two-know',
 *   seen: createMemorySeen({ entriesMax: 100_000 }),
 *   onPayment: () => {},
 * })
 * ```
 */
export function createMemorySeen({ entriesMax = 10_000 } = {}): SeenStore & ReceivedStore {
  const events = new Map<string, 'busy' | 'done'>()
  const counts = new HourCounts()
  const sequences = new Map<string, number>()
  return {
    claim({ id, paymentId, sequence }) {
      const state = events.get(id)
      if (state) return state === 'done' ? 'duplicate' : 'busy'
      if (sequence !== undefined && sequence <= (sequences.get(paymentId) ?? 0)) return 'stale'
      put(events, id, 'busy', entriesMax)
      return 'new'
    },
    async settle({ id, paymentId, sequence }) {
      const isCounted = events.get(id) === 'done'
      put(events, id, 'done', entriesMax)
      const highest = Math.max(sequence ?? 0, sequences.get(paymentId) ?? 0)
      put(sequences, paymentId, highest, entriesMax)
      if (!isCounted) await counts.add(id)
    },
    release({ id }) {
      events.delete(id)
    },
    hours: (window) => counts.within(window),
    ids: (window) => {
      const done = [...events].flatMap(([id, state]) => (state === 'done' ? [id] : []))
      return idsWithin(done, window)
    },
  }
}

/** A Map keeps the order of insertion: the first entry is the oldest. */
function put<Value>(map: Map<string, Value>, key: string, value: Value, entriesMax: number): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > entriesMax) map.delete(map.keys().next().value as string)
}
