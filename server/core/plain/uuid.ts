// Ids are UUIDv7: their first 48 bits are the time in milliseconds, so inserts stay at the right edge
// of every index, "newest first" is an order of ids, and a day of rows is a range of ids. Three of their
// digits are the cell that made them (core/network/cell.ts).

/** As we write them: in lower case. */
export const CANONICAL_UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const UUID = new RegExp(CANONICAL_UUID, 'i')

/** RFC 9562 §4.1: two bits that are fixed, and two that are random. */
const VARIANTS = '89ab'

export const NIL_UUID = '00000000-0000-0000-0000-000000000000'

export function isUuid(text: string): boolean {
  return UUID.test(text)
}

/**
 * Makes UUIDv7s that rise within one process, also within one millisecond: the 12 bits after the
 * version count up (RFC 9562 §6.2, method 1), so that ids order events as they were accepted.
 */
export class UuidMaker {
  readonly #nowMs: () => number
  readonly #randomBytes: (count: number) => Uint8Array
  readonly #cell: string
  #pool = Buffer.alloc(0)
  #offset = 0
  #lastMs = 0
  #count = 0

  constructor(nowMs: () => number, randomBytes: (count: number) => Uint8Array, cell = 0) {
    this.#nowMs = nowMs
    this.#randomBytes = randomBytes
    this.#cell = cell.toString(16).padStart(3, '0')
  }

  next(): string {
    const nowMs = Math.floor(this.#nowMs())
    if (nowMs > this.#lastMs) {
      this.#lastMs = nowMs
      this.#count = 0
    } else if (++this.#count > 0xfff) {
      // More than 4,096 in a millisecond, or a clock that stepped back: run a little ahead.
      this.#lastMs++
      this.#count = 0
    }
    return uuidAt(this.#lastMs, this.#count, this.#random8(), this.#cell)
  }

  #random8(): Buffer {
    if (this.#offset >= this.#pool.length) {
      this.#pool = Buffer.from(this.#randomBytes(4_096))
      this.#offset = 0
    }
    this.#offset += 8
    return this.#pool.subarray(this.#offset - 8, this.#offset)
  }
}

/**
 * The UUIDv7 of a millisecond, of a count up to 4,095 within it, of 8 random bytes, and of a cell in three
 * digits. Without a cell, for what is never looked up by its id, these are random, too.
 */
export function uuidAt(ms: number, count: number, random8: Buffer, cell?: string): string {
  const hex = random8.toString('hex')
  const time = ms.toString(16).padStart(12, '0')
  const variant = VARIANTS[(random8[0] ?? 0) >> 6]
  const counted = count.toString(16).padStart(3, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${counted}-${variant}${cell ?? hex.slice(1, 4)}-${hex.slice(4)}`
}

/**
 * The smallest UUID whose time is `ms`: the lower bound of a range of ids. Any instant may be asked for;
 * before 1970, and after the year 10889, there are no ids.
 */
export function uuidFloor(ms: number): string {
  const inRange = Math.min(Math.max(Math.floor(ms), 0), 2 ** 48 - 1)
  const time = inRange.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`
}

/** When a UUIDv7 was made. */
export function uuidTimeMs(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16)
}
