// Request bytes to a value, with the one number whose digits matter kept as written: JSON.parse
// makes binary floats of 100.00 and 9007199254740993, so a scan of the same text finds what
// `amount.amount` looked like. The value is always JSON.parse's own; the scan only adds the digits
// and the limits. In steps, because decoding, scanning and parsing 18 MB take up to 50 ms each.

import { ServiceError } from './errors.ts'
import { describeJsonFault } from './json-fault.ts'
import type { Steps } from './steps.ts'

export interface ParsedJson {
  value: unknown
  /** The number at `/amount/amount` exactly as written; undefined when there is no number there. */
  amountText: string | undefined
}

/** RFC 8259 §9 lets a parser limit depth. JSON.parse takes 2 s for 14 MB of opening brackets. */
export const NESTING_LEVELS_MAX = 100
/** A payment has about 25 values. JSON.parse takes 0.7 s for 14 MB of empty arrays. */
export const VALUES_MAX = 10_000
/** A name is hashed and kept apart: 10,000 long ones take JSON.parse 60 ms. */
const NAME_CHARACTERS_MAX = 1_024
/** JSON.parse takes up to 10 ns for each. Ten times what a file of 10 MiB has whose slashes are escaped, as PHP does. */
const ESCAPES_MAX = 2_000_000
/** Characters that are looked at in a step: some 20 ns each, and 2 µs until the compiler has got to it. */
const SCANNED_MAX = 4 * 1_024

/** Bytes that are decoded in a step. */
const DECODED_MAX = 2 * 1_024 * 1_024

// ignoreBOM means: leave it in the text, where JSON.parse refuses it (RFC 8259 §8.1).
const UTF_8 = ['utf-8', { fatal: true, ignoreBOM: true }] as const
const utf8 = new TextDecoder(...UTF_8)

/** Throws `malformed-json`, without its cause: V8's messages quote the text that they refuse. */
export function parseJson(bytes: Uint8Array): ParsedJson {
  const scan = new AmountScan(decode(bytes))
  scan.run(Number.POSITIVE_INFINITY)
  return scan.parse()
}

export function* parseJsonInSteps(bytes: Uint8Array): Steps<ParsedJson> {
  const text = bytes.length <= DECODED_MAX ? decode(bytes) : yield* decodeLarge(bytes)
  // The scan goes first, because its limits are what makes the parse affordable.
  const scan = new AmountScan(text)
  do yield
  while (!scan.run(SCANNED_MAX))
  yield
  return scan.parse()
}

function decode(bytes: Uint8Array | undefined, decoder = utf8, isPart = false): string {
  try {
    return decoder.decode(bytes, { stream: isPart })
  } catch {
    throw new ServiceError('malformed-json', 'The body is not valid UTF-8.')
  }
}

/** With a decoder of its own, which remembers where a character was cut. */
function* decodeLarge(bytes: Uint8Array): Steps<string> {
  const decoder = new TextDecoder(...UTF_8)
  const parts: string[] = []
  for (let at = 0; at < bytes.length; at += DECODED_MAX) {
    parts.push(decode(bytes.subarray(at, at + DECODED_MAX), decoder, true))
    yield
  }
  parts.push(decode(undefined, decoder))
  return parts.join('')
}

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const DIGIT_0 = 0x30
const DIGIT_9 = 0x39
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/**
 * Right for every text that JSON.parse accepts; for any other it ends in linear time, with anything.
 * A colon outside strings follows a member's name and nothing else: that is all the grammar needed.
 * Of members with one name the last wins, as in JSON.parse: each new one forgets the earlier.
 */
class AmountScan {
  readonly #text: string
  #amountText: string | undefined
  #at = 0
  #depth = 0
  #values = 1
  /** The latest name at level 1 is `amount`. */
  #inAmount = false
  /** And within it, the latest name at level 2. */
  #atAmount = false
  #nameStart = 0
  #nameEnd = 0
  #hasEscape = false
  /** In a string: from where its end is looked for; otherwise 0. */
  #stringFrom = 0
  #quoteAt = -1
  #escapeAt = -1
  #escapes = 0

  constructor(text: string) {
    this.#text = text
  }

  /** Looks so often at most; true when it is through. */
  run(looksMax: number): boolean {
    for (let looks = 0; looks < looksMax; looks++) {
      if (this.#at >= this.#text.length) return true
      if (this.#stringFrom > 0) this.#leaveString()
      else this.#look(this.#text.charCodeAt(this.#at++))
    }
    return false
  }

  parse(): ParsedJson {
    const value = tryParse(this.#text)
    if (value === undefined) refuse(describeJsonFault(this.#text))
    return { value, amountText: this.#amountText }
  }

  #look(code: number): void {
    if (code === QUOTE) {
      this.#nameStart = this.#at - 1
      this.#hasEscape = false
      this.#stringFrom = this.#at
    } else if (code === COLON) {
      this.#name()
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      if (++this.#depth > NESTING_LEVELS_MAX)
        refuse(`nested more than ${NESTING_LEVELS_MAX} levels deep`)
      this.#countValue()
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      this.#depth--
    } else if (code === COMMA) {
      this.#countValue()
    } else if (this.#atAmount && this.#depth === 2 && (code === MINUS || isDigit(code))) {
      const start = this.#at - 1
      this.#at = numberEnd(this.#text, start)
      this.#amountText = this.#text.slice(start, this.#at)
      // A name has one value.
      this.#atAmount = false
    }
  }

  /** To where it closes, at the first quote that no backslash escapes; or past the next escape. */
  #leaveString(): void {
    const from = this.#stringFrom
    if (this.#quoteAt < from) this.#quoteAt = find(this.#text, '"', from)
    if (this.#escapeAt < from) this.#escapeAt = find(this.#text, '\\', from)
    if (this.#quoteAt > this.#escapeAt) {
      if (++this.#escapes > ESCAPES_MAX)
        refuse(`made of more than ${ESCAPES_MAX} escaped characters`)
      this.#hasEscape = true
      this.#stringFrom = this.#escapeAt + 2
      return
    }
    this.#nameEnd = this.#quoteAt
    this.#at = this.#quoteAt + 1
    this.#stringFrom = 0
  }

  #name(): void {
    if (this.#nameEnd - this.#nameStart > NAME_CHARACTERS_MAX)
      refuse(`made with a name of more than ${NAME_CHARACTERS_MAX} characters`)
    if (this.#depth === 1) {
      this.#inAmount = this.#isAmount()
      this.#atAmount = false
      if (this.#inAmount) this.#amountText = undefined
    } else if (this.#depth === 2 && this.#inAmount) {
      this.#atAmount = this.#isAmount()
      if (this.#atAmount) this.#amountText = undefined
    }
  }

  /** Whether the name spells `amount`, also with escapes: "\u0061mount" is the same name. */
  #isAmount(): boolean {
    const [start, end] = [this.#nameStart, this.#nameEnd]
    const length = end - start - 1
    if (length === 6) return this.#text.startsWith('amount', start + 1)
    // Six characters written as \uXXXX each are 36; whatever is longer is another name.
    if (!this.#hasEscape || length < 6 || length > 36) return false
    return tryParse(this.#text.slice(start, end + 1)) === 'amount'
  }

  #countValue(): void {
    if (++this.#values > VALUES_MAX) refuse(`made of more than ${VALUES_MAX} values`)
  }
}

/** The end of the text where there is none. */
function find(text: string, wanted: string, from: number): number {
  const at = text.indexOf(wanted, from)
  return at === -1 ? text.length : at
}

function refuse(what: string): never {
  throw new ServiceError('malformed-json', `The body is ${what}.`)
}

/** Undefined, which no JSON is, for what is none. */
function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isDigit(code: number): boolean {
  return code >= DIGIT_0 && code <= DIGIT_9
}

// Sticky: matches where lastIndex says, and nowhere else.
const NUMBER = /[-+.\deE]+/y

/** Past the last character that a JSON number can have: digits, sign, point, exponent. */
function numberEnd(text: string, start: number): number {
  NUMBER.lastIndex = start
  NUMBER.test(text)
  return NUMBER.lastIndex
}
