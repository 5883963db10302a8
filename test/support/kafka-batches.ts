// What a broker answers to a fetch: batches as the client writes them, and what only brokers write made of those by hand.

import { type CompressionAlgorithmValue, createRecordsBatch } from '@platformatic/kafka'
import type { FetchedPartition } from '../../server/sources/batches/record-batches.ts'

const IS_TRANSACTIONAL = 0b1_0000
const IS_CONTROL = 0b10_0000
const HEAD_BYTES = 61
/** Where they are in the head of a batch. */
const AT = { length: 8, format: 16, attributes: 21, last: 23, producerId: 43, count: 57 }

interface Content {
  key?: Buffer | null
  value: string | Buffer | null
  headers?: Map<Buffer, Buffer>
}

interface BatchOptions {
  /** Makes it part of a transaction. */
  producerId?: bigint
  compression?: CompressionAlgorithmValue
}

/** A null value is a tombstone. The key of a payment is its id. */
export function batch(
  firstOffset: bigint,
  values: readonly (string | Buffer | null)[],
  producerId = -1n,
): Buffer {
  const contents = values.map((value) => ({ key: keyOf(value), value }))
  return contents.length === 0
    ? emptied(firstOffset, 0)
    : encode(firstOffset, contents, { producerId })
}

export function encode(
  firstOffset: bigint,
  contents: readonly Content[],
  { producerId = -1n, compression = 'none' }: BatchOptions = {},
): Buffer {
  const messages = contents.map(({ key, value, headers }) => ({
    topic: 'any',
    key: key ?? undefined,
    value: value === null ? undefined : Buffer.from(value),
    headers,
  }))
  const written = createRecordsBatch(messages as never, { compression, producerId })
  const bytes = Buffer.from(written.buffer)
  bytes.writeBigInt64BE(firstOffset, 0)
  if (producerId >= 0n) addAttribute(bytes, IS_TRANSACTIONAL)
  return bytes
}

/** What compaction has left of a batch: its offsets. */
export function emptied(firstOffset: bigint, lastDelta: number): Buffer {
  const bytes = encode(firstOffset, [{ value: '' }]).subarray(0, HEAD_BYTES)
  bytes.writeInt32BE(HEAD_BYTES - 12, AT.length)
  bytes.writeInt32BE(lastDelta, AT.last)
  bytes.writeInt32BE(0, AT.count)
  return bytes
}

/** One that says other things of itself than it has. */
export function pretend(
  bytes: Buffer,
  claims: { count?: number; last?: number; format?: number; codec?: number },
): Buffer {
  const own = Buffer.from(bytes)
  if (claims.count !== undefined) own.writeInt32BE(claims.count, AT.count)
  if (claims.last !== undefined) own.writeInt32BE(claims.last, AT.last)
  if (claims.format !== undefined) own.writeInt8(claims.format, AT.format)
  if (claims.codec !== undefined) addAttribute(own, claims.codec)
  return own
}

/** A batch around bytes that are, or are not, compressed records. */
export function around(
  firstOffset: bigint,
  body: Buffer,
  claims: Parameters<typeof pretend>[1],
): Buffer {
  const bytes = Buffer.concat([emptied(firstOffset, 0), body])
  bytes.writeInt32BE(bytes.length - 12, AT.length)
  return pretend(bytes, { count: 1, ...claims })
}

export function control(firstOffset: bigint, kind: 'abort' | 'commit', producerId: bigint): Buffer {
  const key = Buffer.from([0, 0, 0, kind === 'abort' ? 0 : 1])
  const bytes = encode(firstOffset, [{ key, value: Buffer.alloc(6) }], { producerId })
  addAttribute(bytes, IS_CONTROL)
  return bytes
}

export function fetched(
  partitionIndex: number,
  batches: readonly Buffer[],
  highWatermark = 0n,
): FetchedPartition {
  const bytes = batches.length === 0 ? null : Buffer.concat(batches)
  return { partitionIndex, highWatermark, abortedTransactions: null, batches: bytes }
}

export function aborted(
  partition: FetchedPartition,
  transaction: { producerId: bigint; firstOffset: bigint },
): FetchedPartition {
  return { ...partition, abortedTransactions: [transaction] }
}

function addAttribute(bytes: Buffer, attribute: number): void {
  bytes.writeInt16BE(bytes.readInt16BE(AT.attributes) | attribute, AT.attributes)
}

function keyOf(value: string | Buffer | null): Buffer | null {
  const [, id] = /"id":"([^"]+)"/.exec(String(value)) ?? []
  return id === undefined ? null : Buffer.from(id)
}
