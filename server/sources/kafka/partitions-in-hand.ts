// Records that were read and are not yet settled, bounded in number and in bytes, of all partitions and of each: a payment that
// is locked holds up what comes after it in its partition, and must not use up the room of the others. Pure.

import type { InHandLimits } from '../broker/in-hand.ts'

/** What one partition has beyond its share takes no room of the others; each of so many has a share. */
const SHARES_MAX = 4

interface Amount {
  records: number
  bytes: number
}

export class PartitionsInHand {
  readonly #max: Amount
  readonly #share: Amount
  readonly #byPartition = new Map<number, Amount>()

  constructor(
    partitions: number,
    { messagesMax, bytesMax }: Omit<InHandLimits, 'messageBytesMax'>,
  ) {
    const shares = Math.min(SHARES_MAX, partitions)
    this.#max = { records: messagesMax, bytes: bytesMax }
    this.#share = { records: Math.ceil(messagesMax / shares), bytes: Math.ceil(bytesMax / shares) }
  }

  /** Those of them that may be read. What the answer brings may exceed the limit. */
  withRoom(partitions: readonly number[]): readonly number[] {
    let records = 0
    let bytes = 0
    for (const own of this.#byPartition.values()) {
      records += Math.min(own.records, this.#share.records)
      bytes += Math.min(own.bytes, this.#share.bytes)
    }
    if (records >= this.#max.records || bytes >= this.#max.bytes) return []
    return partitions.filter((partition) => {
      const own = this.#byPartition.get(partition)
      if (own === undefined) return true
      return own.records < this.#share.records && own.bytes < this.#share.bytes
    })
  }

  hold(partition: number, bytes: number): void {
    this.#add(partition, 1, bytes)
  }

  settle(partition: number, bytes: number): void {
    this.#add(partition, -1, -bytes)
  }

  #add(partition: number, records: number, bytes: number): void {
    const own = this.#byPartition.get(partition) ?? { records: 0, bytes: 0 }
    own.records += records
    own.bytes += bytes
    this.#byPartition.set(partition, own)
  }
}
