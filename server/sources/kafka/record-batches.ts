// The records in what a broker answered for a partition: from the position that was asked for on, without those of
// transactions that were aborted, and without control records. Pure.

import type { Consumer, KafkaRecord } from '@platformatic/kafka'

type FetchResponse = Awaited<ReturnType<Consumer['fetch']>>

/** What a broker answers for one partition. */
export type FetchedPartition = FetchResponse['responses'][number]['partitions'][number]

export interface FetchedRecord {
  offset: bigint
  record: KafkaRecord
}

const IS_TRANSACTIONAL = 0b1_0000
const IS_CONTROL = 0b10_0000
/** A control record's key is its version and its type, 16 bits each. */
const ABORT = 0

/** `next`: where to go on, beyond all that was looked at. */
export function readBatches(
  { records: batches, abortedTransactions }: FetchedPartition,
  position: bigint,
): { records: readonly FetchedRecord[]; next: bigint } {
  const aborted = (abortedTransactions ?? []).toSorted((one, other) =>
    one.firstOffset < other.firstOffset ? -1 : 1,
  )
  const underAbort = new Set<bigint>()
  const records: FetchedRecord[] = []
  let next = position
  for (const batch of batches ?? []) {
    const last = batch.firstOffset + BigInt(batch.lastOffsetDelta)
    while (aborted[0] !== undefined && aborted[0].firstOffset <= last) {
      underAbort.add(aborted[0].producerId)
      aborted.shift()
    }
    if (last + 1n > next) next = last + 1n
    if (batch.attributes & IS_CONTROL) {
      if (batch.records[0]?.key?.readInt16BE(2) === ABORT) underAbort.delete(batch.producerId)
      continue
    }
    if (batch.attributes & IS_TRANSACTIONAL && underAbort.has(batch.producerId)) continue
    for (const record of batch.records) {
      const offset = batch.firstOffset + BigInt(record.offsetDelta)
      // A batch comes whole, also where a position in its middle was asked for.
      if (offset >= position) records.push({ offset, record })
    }
  }
  return { records, next }
}
