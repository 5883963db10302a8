// Ids are UUIDv7: their first 48 bits are the time in milliseconds, so inserts stay at the right edge
// of every index, "newest first" is an order of ids, and a day of rows is a range of ids. Three of their
// digits are the cell that made them (core/network/cell.ts).

import { toUuidText } from './uuid-bytes.ts'

/** As we write them: in lower case. */
export const CANONICAL_UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const UUID = new RegExp(CANONICAL_UUID, 'i')

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
  readonly #cell: number
  #pool = Buffer.alloc(0)
  #offset = 0
  #lastMs = 0
  #count = 0

  constructor(nowMs: () => number, randomBytes: (count: number) => Uint8Array, cell = 0) {
    this.#nowMs = nowMs
    this.#randomBytes = randomBytes
    this.#cell = cell
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
    if (this.#offset >= this.#pool.length) {
      this.#pool = Buffer.from(this.#randomBytes(4_096))
      this.#offset = 0
    }
    this.#offset += 8
    return uuidAt(this.#lastMs, this.#count, this.#pool, this.#cell, this.#offset - 8)
  }
}

const made = Buffer.alloc(16)

/**
 * The UUIDv7 of a millisecond, of a count up to 4,095 within it, of 8 random bytes (those of `random` at `from`), and of
 * a cell. Without a cell, for what is never looked up by its id, its twelve bits are random, too.
 */
export function uuidAt(
  ms: number,
  count: number,
  random: Uint8Array,
  cell?: number,
  from = 0,
): string {
  made.writeUIntBE(ms, 0, 6)
  made.writeUInt16BE(0x7000 | count, 6)
  for (let index = 0; index < 8; index++) made[8 + index] = random[from + index] as number
  // RFC 9562 §4.1: two bits that are fixed, and two that are random.
  const variant = 0x8 | (made.readUInt8(8) >> 6)
  const next = cell ?? made.readUInt16BE(8) & 0xfff
  made.writeUInt16BE((variant << 12) | next, 8)
  return toUuidText(made)
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
