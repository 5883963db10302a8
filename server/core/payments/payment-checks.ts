// What one field of a payment may hold. A check takes anything and gives back the value to keep, or
// a fault: a stable code and a sentence that never repeats what was sent.

import { isInstant } from '../plain/instant.ts'
import { characterCount, isStorableText } from '../plain/text.ts'
import { CANONICAL_UUID, isUuid } from '../plain/uuid.ts'
import {
  AMOUNT_CHARACTERS_MAX,
  AMOUNT_EXPONENT_MAX,
  CURRENCY,
  type DocumentFile,
  FILE_BYTES_MAX,
  MEDIA_TYPE_CHARACTERS_MAX,
} from './payment.ts'
import { FileReadAhead, readFile } from './payment-document.ts'

export class Fault {
  readonly code: string
  readonly detail: string

  constructor(code: string, detail: string) {
    this.code = code
    this.detail = detail
  }
}

export type Check<T> = (value: unknown) => T | Fault

const NOT_A_STRING = new Fault('wrong-type', 'Must be a string.')
const NOT_A_NUMBER = new Fault('wrong-type', 'Must be a JSON number, not a string.')
const NOT_A_BOOLEAN = new Fault('wrong-type', 'Must be true or false.')
const NOT_AN_OBJECT = new Fault('wrong-type', 'Must be an object.')
const EMPTY = new Fault('empty', 'Must not be empty.')
const INVALID_TEXT = new Fault(
  'invalid-text',
  'Must be well-formed Unicode without the character U+0000.',
)

export function boolean(value: unknown): boolean | Fault {
  return typeof value === 'boolean' ? value : NOT_A_BOOLEAN
}

export type Members = Record<string, unknown>

export function members(value: unknown): Members | Fault {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Members)
    : NOT_AN_OBJECT
}

export function oneOf<T extends string>(list: readonly T[]): Check<T> {
  const words = new Set<unknown>(list)
  const fault = new Fault('not-in-list', `Must be one of ${list.join(', ')}.`)
  return (value) =>
    typeof value !== 'string' ? NOT_A_STRING : words.has(value) ? (value as T) : fault
}

/** Any text that can be stored and sent. Line breaks are text too: names and reasons are data. */
export function text(charactersMin: number, charactersMax: number): Check<string> {
  const tooLong = new Fault('too-long', `Must have at most ${charactersMax} characters.`)
  return (value) => {
    if (typeof value !== 'string') return NOT_A_STRING
    if (value.length < charactersMin) return EMPTY
    if (hasMoreCharacters(value, charactersMax)) return tooLong
    return isStorableText(value) ? value : INVALID_TEXT
  }
}

/** Code points are counted only where it matters: there are at most `length` and at least half. */
function hasMoreCharacters(value: string, charactersMax: number): boolean {
  if (value.length <= charactersMax) return false
  return value.length > 2 * charactersMax || characterCount(value) > charactersMax
}

const NOT_A_UUID = new Fault('not-a-uuid', 'Must be a uuid: 32 hexadecimal digits, hyphenated.')

/** Any case in, lower case out (RFC 9562 §4), so that one id has one spelling. */
export function uuid(value: unknown): string | Fault {
  if (typeof value !== 'string') return NOT_A_STRING
  // Nearly all are; in lower case each would be a copy.
  if (CANONICAL_UUID.test(value)) return value
  return isUuid(value) ? value.toLowerCase() : NOT_A_UUID
}

/** A uuid that is given twice: both must be the same. */
export function sameUuid(other: string, mismatch = ID_MISMATCH): Check<string> {
  return (value) => {
    const id = uuid(value)
    return id instanceof Fault || id === other ? id : mismatch
  }
}
const ID_MISMATCH = new Fault('id-mismatch', 'Must be the id in the path, or be left out.')
const ACCOUNT_MISMATCH = new Fault(
  'id-mismatch',
  'Must be the account that the subject names, or be left out.',
)

export function sameAccount(other: string): Check<string> {
  return sameUuid(other, ACCOUNT_MISMATCH)
}

const CURRENCY_FAULT = new Fault('not-a-currency', 'Must be three capital letters A to Z.')

export function currency(value: unknown): string | Fault {
  if (typeof value !== 'string') return NOT_A_STRING
  return CURRENCY.test(value) ? value : CURRENCY_FAULT
}

/** Both cases are spelled out, because a published pattern has no flags. */
export const MEDIA_TYPE_PATTERN =
  '^[A-Za-z\\d][A-Za-z\\d!#$&^_.+-]*/[A-Za-z\\d][A-Za-z\\d!#$&^_.+-]*(?: *;[\\x20-\\x7e]*)?$'
const MEDIA_TYPE = new RegExp(MEDIA_TYPE_PATTERN)
const NOT_A_MEDIA_TYPE = new Fault('not-a-media-type', 'Must be a media type: application/pdf.')
const mediaTypeText = text(1, MEDIA_TYPE_CHARACTERS_MAX)

/** Held to its form (RFC 6838 §4.2), because a media type ends up in headers sooner or later. */
export function mediaType(value: unknown): string | Fault {
  const kept = mediaTypeText(value)
  return kept instanceof Fault || MEDIA_TYPE.test(kept) ? kept : NOT_A_MEDIA_TYPE
}

const OUT_OF_RANGE = new Fault(
  'out-of-range',
  'Must be an integer from -9007199254740991 to 9007199254740991.',
)

export function version(value: unknown): number | Fault {
  if (typeof value !== 'number') return NOT_A_NUMBER
  // Adding 0 makes 0 of -0, which strict comparison takes for another value.
  return Number.isSafeInteger(value) ? value + 0 : OUT_OF_RANGE
}

const NOT_A_DATE_TIME = new Fault(
  'not-a-date-time',
  'Must be an RFC 3339 date-time with its zone, such as 2026-01-31T09:30:00Z.',
)

/**
 * RFC 3339 §5.6, kept as it was written but for the case of T and Z: what came in with +02:00 or
 * with microseconds goes out so.
 */
export function dateTime(value: unknown): string | Fault {
  if (typeof value !== 'string') return NOT_A_STRING
  if (!isInstant(value)) return NOT_A_DATE_TIME
  return value[10] === 't' || value.endsWith('z') ? value.toUpperCase() : value
}

const NEGATIVE = new Fault('negative-amount', 'Must not be negative; -0 is written 0.')
const AMOUNT_TOO_LONG = new Fault(
  'amount-too-long',
  `Must have at most ${AMOUNT_CHARACTERS_MAX} characters as written.`,
)
const INVALID_AMOUNT = new Fault(
  'invalid-amount',
  `Must have an exponent from -${AMOUNT_EXPONENT_MAX} to ${AMOUNT_EXPONENT_MAX}, or none.`,
)
const EXPONENT = /e([+-]?\d+)$/i

/** Of the number itself only the type is looked at; `written` is what is judged and kept. */
export function decimal(written: string | undefined): Check<string> {
  return (value) => {
    if (typeof value !== 'number') return NOT_A_NUMBER
    if (written === undefined) throw new Error('an amount came without the text it was written as')
    if (written.startsWith('-')) return NEGATIVE
    if (written.length > AMOUNT_CHARACTERS_MAX) return AMOUNT_TOO_LONG
    const exponent = EXPONENT.exec(written)
    return Math.abs(Number(exponent?.[1] ?? 0)) > AMOUNT_EXPONENT_MAX ? INVALID_AMOUNT : written
  }
}

const FILE_FAULTS = {
  empty: EMPTY,
  'not-base64': new Fault('not-base64', 'Must be base64 (RFC 4648 §4), padded, without blanks.'),
  'file-too-large': new Fault('file-too-large', `Must decode to at most ${FILE_BYTES_MAX} bytes.`),
}

export function file(value: unknown): DocumentFile | Fault {
  if (value instanceof FileReadAhead) return value.file
  if (typeof value !== 'string') return NOT_A_STRING
  const read = readFile(value)
  return typeof read === 'string' ? FILE_FAULTS[read] : read
}
