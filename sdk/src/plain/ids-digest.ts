// Count and digest of the ids of an hour, as Paybell's statements have them: the digest is the sum, modulo 2^256, of
// the SHA-256 of each `webhook-id`. A `webhook-id` is a UUIDv7, which tells its hour.

import { toBytes, toHex } from './hmac.ts'

const HOUR_MS = 3_600_000
const NO_IDS = '0'.repeat(64)

/** What was received in an hour. */
export interface ReceivedHour {
  /** When the hour begins. */
  from: string
  received: number
  idsDigest: string
}

/** From the first hour on, and before the second. */
export interface Window {
  from: string | Date
  to: string | Date
}

/** A receiver's half of a statement. Every store of the SDK has these two; `reconcile` asks them. */
export interface ReceivedStore {
  /** Hours in which nothing was received may be left out. */
  hours(window: Window): readonly ReceivedHour[] | Promise<readonly ReceivedHour[]>
  /** The ids of a window, each as often as it was counted. Asked only for hours that differ. */
  ids(window: Window): readonly string[] | Promise<readonly string[]>
}

/** When the hour of a `webhook-id` begins; undefined for what is not a UUIDv7. */
export function hourOf(id: string): string | undefined {
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/.test(id)) return undefined
  const ms = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
  return new Date(Math.floor(ms / HOUR_MS) * HOUR_MS).toISOString()
}

export function isWithin(hour: string, { from, to }: Window): boolean {
  const ms = Date.parse(hour)
  return ms >= new Date(from).getTime() && ms < new Date(to).getTime()
}

/** The digest with one more id in it. */
export async function addToDigest(digest: string, id: string): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', toBytes(id))
  return addDigests(digest, toHex(new Uint8Array(hash)))
}

export function addDigests(one: string, other: string): string {
  const sum = BigInt(`0x${one}`) + BigInt(`0x${other}`)
  return BigInt.asUintN(256, sum).toString(16).padStart(64, '0')
}

/** Hours by their beginning. What is no UUIDv7 has no hour, and is left out. */
export class HourCounts {
  readonly #hours = new Map<string, { received: number; idsDigest: string }>()
  readonly #hoursMax: number

  constructor(hoursMax = 32 * 24) {
    this.#hoursMax = hoursMax
  }

  async add(id: string): Promise<void> {
    const from = hourOf(id)
    if (from === undefined) return
    // The hash first: what follows happens in one go.
    const hash = await addToDigest(NO_IDS, id)
    const hour = this.#hours.get(from) ?? { received: 0, idsDigest: NO_IDS }
    this.#hours.set(from, {
      received: hour.received + 1,
      idsDigest: addDigests(hour.idsDigest, hash),
    })
    if (this.#hours.size > this.#hoursMax) {
      this.#hours.delete(this.#hours.keys().next().value as string)
    }
  }

  within(window: Window): readonly ReceivedHour[] {
    return [...this.#hours].flatMap(([from, hour]) =>
      isWithin(from, window) ? [{ from, ...hour }] : [],
    )
  }
}

/** The ids of a window. */
export function idsWithin(ids: Iterable<string>, window: Window): readonly string[] {
  return [...ids].filter((id) => {
    const hour = hourOf(id)
    return hour !== undefined && isWithin(hour, window)
  })
}

/**
 * A receiver's half made from a list of ids, such as those in a file or a table of yours. An id that is in the list
 * twice was received twice.
 *
 * ```js
 * import { receivedFromIds } from '@paybell/sdk'
 *
 * const store = await receivedFromIds(['019cade2-1350-7000-8a0b-1c2d3e4f5a6b'])
 * console.log(store.hours({ from: '2026-03-02T00:00:00Z', to: '2026-03-03T00:00:00Z' }))
 * ```
 */
export async function receivedFromIds(ids: Iterable<string>): Promise<ReceivedStore> {
  const all = [...ids]
  const counts = new HourCounts(Number.POSITIVE_INFINITY)
  for (const id of all) await counts.add(id)
  return {
    hours: (window) => counts.within(window),
    ids: (window) => idsWithin(all, window),
  }
}
