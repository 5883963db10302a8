// What a Kafka broker answers to a fetch, made by hand.

import type { RecordsBatch } from '@platformatic/kafka'
import type { FetchedPartition } from '../../server/sources/kafka/record-batches.ts'

const IS_TRANSACTIONAL = 0b1_0000
const IS_CONTROL = 0b10_0000

/** A null value is a tombstone. The key of a payment is its id. A producer's id makes it part of a transaction. */
export function batch(
  firstOffset: bigint,
  values: readonly (string | Buffer | null)[],
  producerId = -1n,
): RecordsBatch {
  return {
    firstOffset,
    length: 0,
    partitionLeaderEpoch: 0,
    magic: 2,
    crc: 0,
    attributes: producerId < 0n ? 0 : IS_TRANSACTIONAL,
    lastOffsetDelta: values.length - 1,
    firstTimestamp: 0n,
    maxTimestamp: 0n,
    producerId,
    producerEpoch: 0,
    firstSequence: 0,
    records: values.map((value, offsetDelta) => ({
      length: 0,
      attributes: 0,
      timestampDelta: 0n,
      offsetDelta,
      key: keyOf(value),
      value: value === null ? null : Buffer.from(value),
      headers: [],
    })),
  }
}

function keyOf(value: string | Buffer | null): Buffer | null {
  const [, id] = /"id":"([^"]+)"/.exec(String(value)) ?? []
  return id === undefined ? null : Buffer.from(id)
}

export function control(
  firstOffset: bigint,
  kind: 'abort' | 'commit',
  producerId: bigint,
): RecordsBatch {
  const made = batch(firstOffset, [Buffer.alloc(6)], producerId)
  const key = Buffer.from([0, 0, 0, kind === 'abort' ? 0 : 1])
  const records = made.records.map((record) => ({ ...record, key }))
  return { ...made, attributes: IS_TRANSACTIONAL | IS_CONTROL, records }
}

export function fetched(
  partitionIndex: number,
  records: RecordsBatch[],
  highWatermark = 0n,
): FetchedPartition {
  return {
    partitionIndex,
    errorCode: 0,
    highWatermark,
    lastStableOffset: highWatermark,
    logStartOffset: 0n,
    abortedTransactions: null,
    preferredReadReplica: -1,
    records,
  }
}

export function aborted(
  partition: FetchedPartition,
  transaction: { producerId: bigint; firstOffset: bigint },
): FetchedPartition {
  return { ...partition, abortedTransactions: [transaction] }
}
