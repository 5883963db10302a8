// A walk over the bytes of a payment that is written plainly (core/plain-payment): member names of ours,
// strings without escapes, uuids in lower case, numbers without a sign or an exponent. What is not plain
// ends the walk.

import { AMOUNT_CHARACTERS_MAX, TEXT_CHARACTERS_MAX } from './payment.ts'

/** Every integer of so many digits is exact as a number. */
const VERSION_DIGITS_MAX = 15

const NAMES = [
  'id',
  'accountId',
  'status',
  'state',
  'reason',
  'complete',
  'createdAt',
  'completedAt',
  'externalId',
  'quoteId',
  'amount',
  'currency',
  'reference',
  'purposeOfPayment',
  'beneficiaryId',
  'documentReference',
  'version',
]

/** By their length: no more than four of them have the same. */
const NAMES_BY_LENGTH: { name: string; bytes: Uint8Array }[][] = []
for (const name of NAMES) {
  NAMES_BY_LENGTH[name.length] ??= []
  NAMES_BY_LENGTH[name.length]?.push({ name, bytes: Buffer.from(name) })
}

const SPACE = 0x20
const QUOTE = 0x22
export const COMMA = 0x2c
const HYPHEN = 0x2d
const POINT = 0x2e
const DIGIT_0 = 0x30
const DIGIT_9 = 0x39
export const COLON = 0x3a
const BACKSLASH = 0x5c
const LETTER_N = 0x6e
export const OPEN_OBJECT = 0x7b
export const CLOSE_OBJECT = 0x7d
const DELETE = 0x7f

const UUID_LENGTH = 36

/** 1 for what uuids are written with, in lower case: then they are kept as they are. */
const IS_HEX = new Uint8Array(256)
for (const digit of Buffer.from('0123456789abcdef')) IS_HEX[digit] = 1

/** Walks over bytes, token by token. What is not plain ends the walk: it stands past the end then. */
export class PlainScan {
  readonly #bytes: Buffer
  /** The same as text: its parts are the values. */
  readonly #text: string
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.isBuffer(bytes)
      ? bytes
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#text = this.#bytes.toString('latin1')
  }

  /** Where nothing is: neither another token, nor the end. */
  giveUp(): null {
    this.#at = this.#bytes.length + 1
    return null
  }

  isAtEnd(): boolean {
    this.#skipSpace()
    return this.#at === this.#bytes.length
  }

  /** Over one character; false, and where it was, when another is there. */
  pass(code: number): boolean {
    this.#skipSpace()
    if (this.#bytes[this.#at] !== code) return false
    this.#at++
    return true
  }

  passNull(): boolean {
    this.#skipSpace()
    return this.#bytes[this.#at] === LETTER_N && this.#passWord('null')
  }

  passBoolean(): void {
    if (!this.passNull() && !this.#passWord('true') && !this.#passWord('false')) this.giveUp()
  }

  #passWord(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return false
    this.#at += word.length
    return true
  }

  /** A member's name, if it is one of ours. */
  name(): string | undefined {
    const start = this.#passString()
    if (start < 0) return undefined
    const candidates = NAMES_BY_LENGTH[this.#at - 1 - start]
    if (candidates === undefined) return undefined
    for (const { name, bytes } of candidates) if (this.#reads(start, bytes)) return name
    return undefined
  }

  #reads(start: number, bytes: Uint8Array): boolean {
    for (let index = 0; index < bytes.length; index++) {
      if (this.#bytes[start + index] !== bytes[index]) return false
    }
    return true
  }

  /** A string that no text's limit refuses, or null. */
  text(): string | null {
    if (this.passNull()) return null
    const start = this.#passString()
    const end = this.#at - 1
    return start < 0 || end - start > TEXT_CHARACTERS_MAX
      ? this.giveUp()
      : this.#text.slice(start, end)
  }

  /**
   * A uuid in lower case, or null. A part of a text keeps all of it in memory: one that is kept for long
   * is copied.
   */
  uuid(isKept = false): string | null {
    if (this.passNull()) return null
    const start = this.#passString()
    const end = this.#at - 1
    if (start < 0 || end - start !== UUID_LENGTH || !this.#isUuid(start)) return this.giveUp()
    return isKept ? this.#bytes.toString('latin1', start, end) : this.#text.slice(start, end)
  }

  #isUuid(start: number): boolean {
    for (let index = 0; index < UUID_LENGTH; index++) {
      const code = this.#bytes[start + index] as number
      const isHyphen = index === 8 || index === 13 || index === 18 || index === 23
      if (isHyphen ? code !== HYPHEN : IS_HEX[code] !== 1) return false
    }
    return true
  }

  /** Where the string that comes next begins, within its quotes, which are passed; -1 if none comes. */
  #passString(): number {
    if (!this.pass(QUOTE)) return -1
    const start = this.#at
    for (let at = start; at < this.#bytes.length; at++) {
      const code = this.#bytes[at] as number
      if (code === QUOTE) {
        this.#at = at + 1
        return start
      }
      // Neither an escape, nor what must be escaped (RFC 8259 §7), nor a part of a longer character.
      if (code === BACKSLASH || code < SPACE || code > DELETE) break
    }
    this.giveUp()
    return -1
  }

  /** An integer that is not negative, or null. */
  digits(): string | null {
    if (this.passNull()) return null
    const start = this.#at
    const end = this.#digitsEnd(start)
    return end - start > VERSION_DIGITS_MAX ? this.giveUp() : this.#number(start, end)
  }

  /** A decimal that is not negative, without an exponent. */
  decimal(): string | null {
    this.#skipSpace()
    const start = this.#at
    const point = this.#digitsEnd(start)
    if (this.#bytes[point] !== POINT) return this.#number(start, point)
    const end = this.#digitsEnd(point + 1)
    // RFC 8259 §6: digits on both sides of it.
    return point === start || end === point + 1 ? this.giveUp() : this.#number(start, end)
  }

  /** What follows it is looked at by whoever reads on: a point, a sign or a letter ends the walk. */
  #number(start: number, end: number): string | null {
    const length = end - start
    if (length === 0 || length > AMOUNT_CHARACTERS_MAX) return this.giveUp()
    // RFC 8259 §6: no zeros in front.
    if (this.#bytes[start] === DIGIT_0 && isDigit(this.#bytes[start + 1])) return this.giveUp()
    this.#at = end
    return this.#text.slice(start, end)
  }

  #digitsEnd(start: number): number {
    let at = start
    while (isDigit(this.#bytes[at])) at++
    return at
  }

  /** RFC 8259 §2. */
  #skipSpace(): void {
    for (;;) {
      const code = this.#bytes[this.#at]
      if (code !== SPACE && code !== 0x0a && code !== 0x0d && code !== 0x09) return
      this.#at++
    }
  }
}

function isDigit(code: number | undefined): boolean {
  return code !== undefined && code >= DIGIT_0 && code <= DIGIT_9
}
