// The same JSON in the bytes that common libraries would write: to find out which of them has parsed a
// body and written it again. Only for explaining; nothing is accepted because of it.

import { NESTING_LEVELS_MAX, parseJsonInSteps } from '../plain/exact-json.ts'
import type { Steps } from '../plain/steps.ts'

/** Larger bodies hold a file; writing those ten times over is not worth the time. */
const BYTES_MAX = 256 * 1_024

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

/** Whether two texts say the same, whatever the spacing, order of members and digits of numbers. */
export function* saysTheSame(one: Uint8Array, other: Uint8Array): Steps<boolean> {
  const a = yield* read(one)
  const b = yield* read(other)
  return a !== undefined && b !== undefined && isSame(a, b)
}

function isSame(a: Json, b: Json): boolean {
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return a === b
  const names = Object.keys(a)
  return (
    Array.isArray(a) === Array.isArray(b) &&
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSame(member(a, name), member(b, name)))
  )
}

function member(value: Json[] | { [name: string]: Json }, name: string): Json {
  return (value as { [name: string]: Json })[name] as Json
}

/** Other bytes for the same text: first as Paybell itself writes payments, then as others do. */
export function* otherSpellings(body: Uint8Array): Steps<Uint8Array[]> {
  const spellings: Uint8Array[] = []
  const value = body.length > BYTES_MAX ? undefined : yield* read(body)
  if (value === undefined) return spellings
  for (const text of spell(value)) {
    spellings.push(Buffer.from(text))
    yield
  }
  return spellings
}

function* spell(value: Json): Generator<string> {
  yield* asPaybell(value)
  for (const style of STYLES) yield write(value, style)
  for (const indent of [2, 4, '\t']) {
    const text = JSON.stringify(value, null, indent)
    yield text
    yield `${text}\n`
  }
}

function* read(bytes: Uint8Array): Steps<Json | undefined> {
  try {
    return (yield* parseJsonInSteps(bytes)).value as Json
  } catch {
    return undefined
  }
}

interface Style {
  comma: string
  colon: string
  isSorted: boolean
  escape(text: string): string
}

const plain = (text: string) => text
const ascii = (text: string) =>
  text.replaceAll(/[\u0080-\uffff]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
const slashes = (text: string) => text.replaceAll('/', '\\/')
const html = (text: string) =>
  text.replaceAll('&', '\\u0026').replaceAll('<', '\\u003c').replaceAll('>', '\\u003e')

const COMPACT: Style = { comma: ',', colon: ':', isSorted: false, escape: plain }
const SORTED: Style = { ...COMPACT, isSorted: true }
const SPACED: Style = { comma: ', ', colon: ': ', isSorted: false, escape: plain }

/** JavaScript, Python, PHP, Go, Ruby and the like, as they write by default and with usual options. */
const STYLES: readonly Style[] = [
  COMPACT,
  { ...COMPACT, escape: ascii },
  { ...COMPACT, escape: (text) => slashes(ascii(text)) },
  { ...COMPACT, escape: slashes },
  { ...COMPACT, escape: html },
  SORTED,
  { ...SORTED, escape: ascii },
  { ...SORTED, escape: html },
  SPACED,
  { ...SPACED, escape: ascii },
  { ...SPACED, isSorted: true },
  { ...SPACED, isSorted: true, escape: ascii },
]

function write(value: Json, style: Style): string {
  if (typeof value === 'string') return style.escape(JSON.stringify(value))
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map((item) => write(item, style)).join(style.comma)}]`
  const names = Object.keys(value)
  if (style.isSorted) names.sort()
  const members = names.map(
    (name) => style.escape(JSON.stringify(name)) + style.colon + write(value[name] as Json, style),
  )
  return `{${members.join(style.comma)}}`
}

/** The order of core/payments/payment-text: the members of a payment, of its status, amount and document. */
const ORDER = [
  'id',
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
  'document',
  'mediaType',
  'name',
  'base64EncodedFile',
]

/**
 * A parsed payment as it may have been sent: a parser drops the zeros after the decimal point, so that 100.00
 * becomes 100. Amounts have at most a few of them.
 */
function* asPaybell(value: Json): Generator<string> {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return
  const ordered = inOrder(value, 0)
  const text = JSON.stringify(ordered)
  yield text
  const amount = value.amount
  if (amount === null || typeof amount !== 'object' || Array.isArray(amount)) return
  const digits = JSON.stringify(amount.amount)
  if (digits === undefined || !/^-?\d+(\.\d+)?$/.test(digits)) return
  const [before, after] = text.split(`"amount":{"amount":${digits},`, 2)
  if (before === undefined || after === undefined) return
  for (let zeros = 1; zeros <= 4; zeros++) {
    const written = `${digits}${digits.includes('.') ? '' : '.'}${'0'.repeat(zeros)}`
    yield `${before}"amount":{"amount":${written},${after}`
  }
}

function inOrder(value: Json, level: number): Json {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  if (level > NESTING_LEVELS_MAX) return value
  const rank = (name: string) => {
    const at = ORDER.indexOf(name)
    return at === -1 ? ORDER.length : at
  }
  const names = Object.keys(value).sort((one, other) => rank(one) - rank(other))
  return Object.fromEntries(names.map((name) => [name, inOrder(value[name] as Json, level + 1)]))
}
