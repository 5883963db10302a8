// Request bytes to a value, with the one number whose digits matter kept as written: JSON.parse
// makes binary floats of 100.00 and 9007199254740993, so a scan of the same text finds what
// `amount.amount` looked like. The value is always JSON.parse's own; the scan only adds the digits
// and the limits. In steps, because decoding, scanning and parsing 18 MB take up to 50 ms each.

import { ServiceError } from './errors.ts'
import { runAtOnce, type Steps } from './steps.ts'

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
  return runAtOnce(parseJsonInSteps(bytes))
}

export function* parseJsonInSteps(bytes: Uint8Array): Steps<ParsedJson> {
  let text: string
  try {
    text = bytes.length <= DECODED_MAX ? utf8.decode(bytes) : yield* decodeLarge(bytes)
  } catch {
    throw new ServiceError('malformed-json', 'The body is not valid UTF-8.')
  }
  try {
    // The scan goes first, because its limits are what makes the parse affordable.
    yield
    const amountText = yield* scanAmount(text)
    yield
    return { value: JSON.parse(text), amountText }
  } catch (error) {
    if (error instanceof ServiceError) throw error
    throw new ServiceError('malformed-json', 'The body is not valid JSON.')
  }
}

/** With a decoder of its own, which remembers where a character was cut. */
function* decodeLarge(bytes: Uint8Array): Steps<string> {
  const decoder = new TextDecoder(...UTF_8)
  const parts: string[] = []
  for (let at = 0; at < bytes.length; at += DECODED_MAX) {
    parts.push(decoder.decode(bytes.subarray(at, at + DECODED_MAX), { stream: true }))
    yield
  }
  parts.push(decoder.decode())
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
function* scanAmount(text: string): Steps<string | undefined> {
  let amountText: string | undefined
  let inAmount = false // the latest name at level 1 is `amount`
  let atAmount = false // and within it, the latest name at level 2
  let depth = 0
  let values = 1
  let nameStart = 0
  let nameEnd = 0
  let escapes = 0
  let escapeAt = -1
  let looked = 0

  for (let at = 0; at < text.length; at++) {
    if (++looked % SCANNED_MAX === 0) yield
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      nameStart = at
      // Where the string closes: at the first quote that no backslash escapes.
      for (let next = at + 1, quoteAt = at; ; next = escapeAt + 2) {
        if (++looked % SCANNED_MAX === 0) yield
        if (quoteAt < next) quoteAt = find(text, '"', next)
        if (escapeAt < next) escapeAt = find(text, '\\', next)
        at = quoteAt
        if (quoteAt <= escapeAt) break
        if (++escapes > ESCAPES_MAX) refuse(`made of more than ${ESCAPES_MAX} escaped characters`)
      }
      nameEnd = at
    } else if (code === COLON) {
      if (nameEnd - nameStart > NAME_CHARACTERS_MAX)
        refuse(`made with a name of more than ${NAME_CHARACTERS_MAX} characters`)
      if (depth === 1) {
        inAmount = isAmount(text, nameStart, nameEnd)
        atAmount = false
        if (inAmount) amountText = undefined
      } else if (depth === 2 && inAmount) {
        atAmount = isAmount(text, nameStart, nameEnd)
        if (atAmount) amountText = undefined
      }
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      if (++depth > NESTING_LEVELS_MAX) refuse(`nested more than ${NESTING_LEVELS_MAX} levels deep`)
      if (++values > VALUES_MAX) refuse(`made of more than ${VALUES_MAX} values`)
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      depth--
    } else if (code === COMMA) {
      if (++values > VALUES_MAX) refuse(`made of more than ${VALUES_MAX} values`)
    } else if (atAmount && depth === 2 && (code === MINUS || isDigit(code))) {
      const end = numberEnd(text, at)
      amountText = text.slice(at, end)
      at = end - 1
      // A name has one value.
      atAmount = false
    }
  }
  return amountText
}

/** The end of the text where there is none. */
function find(text: string, wanted: string, from: number): number {
  const at = text.indexOf(wanted, from)
  return at === -1 ? text.length : at
}

function refuse(what: string): never {
  throw new ServiceError('malformed-json', `The body is ${what}.`)
}

/** Whether the string spells `amount`, also with escapes: "\u0061mount" is the same name. */
function isAmount(text: string, start: number, end: number): boolean {
  const length = end - start - 1
  if (length === 6) return text.startsWith('amount', start + 1)
  // Six characters written as \uXXXX each are 36; whatever is longer is another name.
  if (length < 6 || length > 36 || !text.slice(start, end).includes('\\')) return false
  return JSON.parse(text.slice(start, end + 1)) === 'amount'
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
