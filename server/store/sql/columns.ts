// Column arrays for `unnest`, in PostgreSQL's own binary form, which the driver sends as it is: the server copies the
// elements, and nobody writes or parses text. The type is that of the statement's cast; PostgreSQL refuses another.
// What is no value of its type is refused here, before anything is sent.

import { writeUuid } from '../../core/plain/uuid-bytes.ts'

/** What an element is in Node. */
interface Elements {
  boolean: boolean
  smallint: number
  int: number
  /** Text or a bigint where it may pass 2^53. */
  bigint: number | bigint | string
  float8: number
  uuid: string
  /** In milliseconds; the fraction of a millisecond is dropped, as everywhere. */
  timestamptz: number
  text: string
  bytea: Uint8Array
}

export type ElementType = keyof Elements
export type ElementOf<T extends ElementType> = Elements[T]

interface Form<V> {
  /** The type's number in PostgreSQL, the same in each of them. */
  oid: number
  /** In bytes. */
  sizeOf(value: V): number
  write(to: Buffer, value: V, at: number): void
}

const FORMS: { [T in ElementType]: Form<Elements[T]> } = {
  boolean: ofSize(1, 16, (to, value, at) => to.writeInt8(value ? 1 : 0, at)),
  smallint: ofSize(2, 21, (to, value, at) => to.writeInt16BE(whole(value), at)),
  int: ofSize(4, 23, (to, value, at) => to.writeInt32BE(whole(value), at)),
  bigint: ofSize(8, 20, (to, value, at) => to.writeBigInt64BE(BigInt(value), at)),
  float8: ofSize(8, 701, (to, value, at) => to.writeDoubleBE(value, at)),
  uuid: ofSize(16, 2950, writeUuid),
  timestamptz: ofSize(8, 1184, (to, ms, at) =>
    to.writeBigInt64BE(BigInt(Math.trunc(ms) - YEAR_2000_MS) * 1_000n, at),
  ),
  text: { oid: 25, sizeOf: Buffer.byteLength, write: (to, value, at) => to.write(value, at) },
  bytea: { oid: 17, sizeOf: (value) => value.length, write: (to, value, at) => to.set(value, at) },
}

function ofSize<V>(bytes: number, oid: number, write: Form<V>['write']): Form<V> {
  return { oid, sizeOf: () => bytes, write }
}

/** PostgreSQL counts microseconds from here. */
const YEAR_2000_MS = Date.UTC(2000, 0)

/** Number of dimensions, whether there are nulls, type; then of the one dimension its length and first index. */
const HEADER_BYTES = 20
const HEADER_BYTES_IF_EMPTY = 12
/** Before each element: its size, or -1 for null. */
const SIZE_BYTES = 4

export function column<T extends ElementType, R>(
  type: T,
  rows: readonly R[],
  read: (row: R) => ElementOf<T> | null,
): Buffer {
  const { oid, sizeOf, write } = FORMS[type]
  const values = rows.map(read)
  const bytes = Buffer.allocUnsafe(sizeOfAll(values, sizeOf))
  bytes.writeInt32BE(values.length > 0 ? 1 : 0, 0)
  bytes.writeInt32BE(values.includes(null) ? 1 : 0, 4)
  bytes.writeInt32BE(oid, 8)
  if (values.length === 0) return bytes.subarray(0, HEADER_BYTES_IF_EMPTY)
  bytes.writeInt32BE(values.length, 12)
  bytes.writeInt32BE(1, 16)
  let at = HEADER_BYTES
  for (let index = 0; index < values.length; index++) {
    const value = values[index] as ElementOf<T> | null
    const size = value === null ? -1 : sizeOf(value)
    at = bytes.writeInt32BE(size, at)
    if (value === null) continue
    write(bytes, value, at)
    at += size
  }
  return bytes
}

/** By index, as above: an iterator makes an object for each element, which is more than most elements are. */
function sizeOfAll<V>(values: readonly (V | null)[], sizeOf: (value: V) => number): number {
  let size = HEADER_BYTES
  for (let index = 0; index < values.length; index++) {
    const value = values[index] as V | null
    size += SIZE_BYTES + (value === null ? 0 : sizeOf(value))
  }
  return size
}

/** A buffer's own check lets fractions and NaN pass. */
function whole(value: number): number {
  if (!Number.isInteger(value)) throw new RangeError(`${value} is no whole number`)
  return value
}

/**
 * Instants as PostgreSQL has written them, as timestamptz[]: its text keeps the microseconds, by which a row is found
 * again, and which a number of milliseconds would lose.
 */
export function writtenInstants<R>(rows: readonly R[], read: (row: R) => string | null): string {
  const elements = rows.map((row) => {
    const text = read(row)
    return text === null ? 'NULL' : `"${text}"`
  })
  return `{${elements.join(',')}}`
}

/**
 * Any text: the bytes of all of them as one binary parameter, and where each begins and how long it is,
 * to be cut out again with `textAt`.
 */
export function textColumn<R>(
  rows: readonly R[],
  read: (row: R) => string,
): { bytes: Buffer; starts: Buffer; lengths: Buffer } {
  const texts = rows.map(read)
  const lengths = texts.map((text) => Buffer.byteLength(text))
  const bytes = Buffer.allocUnsafe(lengths.reduce((sum, length) => sum + length, 0))
  let end = 0
  const starts = texts.map((text) => {
    const start = end
    end += bytes.write(text, start)
    // SQL counts from 1.
    return start + 1
  })
  const asIs = (value: number) => value
  return { bytes, starts: column('int', starts, asIs), lengths: column('int', lengths, asIs) }
}

/** The text of a row whose place in `bytes` is in its columns `start` and `length`. */
export function textAt(bytes: string): string {
  return `convert_from(substring(${bytes}::bytea from start for length), 'UTF8')`
}
