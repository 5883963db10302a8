// The records in what a broker answered for a partition: from the position that was asked for on, without those of
// transactions that were aborted, and without control records. Batches are opened one after the other, as the reader gets
// to them, and an answer opens a bounded amount: what is left is fetched again. One that cannot be read is gone by as a whole.

import { ServiceError } from '../../core/plain/errors.ts'
import { type KafkaRecord, readRecords } from './batch-records.ts'
import { CODECS, openBatch } from './open-batch.ts'
import { BATCH_RECORDS_MAX, UnreadableBatch } from './unreadable.ts'

/** What a broker answers for one partition. */
export interface FetchedPartition {
  partitionIndex: number
  highWatermark: bigint
  abortedTransactions: readonly { producerId: bigint; firstOffset: bigint }[] | null
  /** As they came; the last one may be cut off. */
  batches: Buffer | null
}

export interface FetchedRecord {
  kind: 'record'
  offset: bigint
  record: KafkaRecord
}

/** From which to which offset nothing can be read. */
export interface RefusedBatch {
  kind: 'refused'
  offset: bigint
  last: bigint
  codec: string
  problem: ServiceError
}

/** There is nothing more to take before the position `next`. */
export interface PassedBatch {
  kind: 'passed'
  next: bigint
}

/** What was opened of an answer, in all its partitions. */
export interface Opened {
  bytes: number
  records: number
}

/** Of one answer; a batch that is larger is opened, too, alone. An answer has half a MiB, which compression makes five. */
const OPENED_BYTES_MAX = 8 * 1_024 * 1_024
const OPENED_RECORDS_MAX = 10_000
/** Records of a larger batch are copied out of it: one that waits would keep all of it. One that is most of it is not. */
const SHARED_BYTES_MAX = 1_024 * 1_024

const IS_COMPRESSED = 0b111
const IS_TRANSACTIONAL = 0b1_0000
const IS_CONTROL = 0b10_0000
/** A control record's key is its version and its type, 16 bits each. */
const ABORT = 0
const FORMAT = 2
/** The first offset, and the length of what follows. */
const PREFIX_BYTES = 12
const HEAD_BYTES = 61

interface Batch {
  first: bigint
  last: bigint
  attributes: number
  producerId: bigint
  /** How many records it says that it has. */
  count: number
  format: number
  body: Buffer
}

export async function* readBatches(
  { batches, abortedTransactions }: FetchedPartition,
  position: bigint,
  opened: Opened = { bytes: 0, records: 0 },
): AsyncGenerator<FetchedRecord | RefusedBatch | PassedBatch> {
  const aborted = (abortedTransactions ?? []).toSorted((one, other) =>
    one.firstOffset < other.firstOffset ? -1 : 1,
  )
  const underAbort = new Set<bigint>()
  for (const batch of splitBatches(batches)) {
    while (aborted[0] !== undefined && aborted[0].firstOffset <= batch.last) {
      underAbort.add(aborted[0].producerId)
      aborted.shift()
    }
    if (batch.attributes & IS_CONTROL) {
      if (isAbort(batch)) underAbort.delete(batch.producerId)
    } else if (!(batch.attributes & IS_TRANSACTIONAL && underAbort.has(batch.producerId))) {
      // A batch comes whole, also where a position in its middle was asked for.
      if (batch.last < position) continue
      if (isSpent(opened)) return
      for await (const one of takeBatch(batch, position, opened)) {
        yield one
        if (one.kind === 'record' && opened.records >= OPENED_RECORDS_MAX) return
      }
    }
    if (batch.last >= position) yield { kind: 'passed', next: batch.last + 1n }
  }
}

function isSpent({ bytes, records }: Opened): boolean {
  return bytes >= OPENED_BYTES_MAX || records >= OPENED_RECORDS_MAX
}

function* splitBatches(bytes: Buffer | null): Generator<Batch> {
  for (let rest = bytes ?? Buffer.alloc(0); rest.length >= HEAD_BYTES; ) {
    const end = PREFIX_BYTES + rest.readInt32BE(8)
    if (end > rest.length) return
    if (end < HEAD_BYTES) throw new Error('a broker has answered with a malformed batch')
    const first = rest.readBigInt64BE(0)
    const delta = rest.readInt32BE(23)
    if (first < 0n || delta < 0) throw new Error('a broker has answered with a malformed batch')
    yield {
      first,
      last: first + BigInt(delta),
      format: rest.readInt8(16),
      attributes: rest.readInt16BE(21),
      producerId: rest.readBigInt64BE(43),
      count: rest.readInt32BE(57),
      body: rest.subarray(HEAD_BYTES, end),
    }
    rest = rest.subarray(end)
  }
}

/** Brokers alone write control batches: one record, not compressed. */
function isAbort({ body }: Batch): boolean {
  const [record] = readRecords(body, 1)
  return record?.key?.readInt16BE(2) === ABORT
}

async function* takeBatch(
  batch: Batch,
  position: bigint,
  opened: Opened,
): AsyncGenerator<FetchedRecord | RefusedBatch> {
  const codec = CODECS[batch.attributes & IS_COMPRESSED]
  let next = position > batch.first ? position : batch.first
  try {
    if (batch.format !== FORMAT) {
      throw new UnreadableBatch(`It is of the format ${batch.format}, which Kafka 0.11 replaced.`)
    }
    if (codec === undefined) throw new UnreadableBatch('Its compression is not known.')
    if (batch.count > BATCH_RECORDS_MAX) {
      throw new UnreadableBatch(`It has more than ${BATCH_RECORDS_MAX} records.`)
    }
    const bytes = await openBatch(codec, batch.body)
    opened.bytes += bytes.length
    for (const record of readRecords(bytes, batch.count)) {
      const offset = batch.first + BigInt(record.offsetDelta)
      if (offset < position) continue
      if (offset < next || offset > batch.last) {
        throw new UnreadableBatch('Its records are malformed.')
      }
      opened.records++
      next = offset + 1n
      const isShared = bytes.length <= SHARED_BYTES_MAX || record.bytes * 2 > bytes.length
      yield { kind: 'record', offset, record: isShared ? record : copyOf(record) }
    }
  } catch (error) {
    if (!(error instanceof UnreadableBatch)) throw error
    // Offsets that compaction has left empty at its end may be all that is left of it.
    if (next > batch.last) return
    const problem = new ServiceError('unreadable-batch', `The batch was not read. ${error.message}`)
    const known = codec ?? 'unknown'
    yield { kind: 'refused', offset: next, last: batch.last, codec: known, problem }
  }
}

function copyOf(record: KafkaRecord): KafkaRecord {
  const { key, value, headers } = record
  return {
    ...record,
    key: key && Buffer.from(key),
    value: value && Buffer.from(value),
    headers: Buffer.from(headers),
  }
}
