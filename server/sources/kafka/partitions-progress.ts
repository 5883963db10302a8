// How far each partition of a session is read, and what of it is to be committed. Pure.

import { PartitionProgress } from './partition-progress.ts'

export class PartitionsProgress {
  /** Of the partitions that have had a leader since the session began. */
  readonly #byPartition = new Map<number, PartitionProgress>()

  /** Of one that has begun. */
  of(partition: number): PartitionProgress {
    return this.#byPartition.get(partition) as PartitionProgress
  }

  notBegun(partitions: readonly number[]): readonly number[] {
    return partitions.filter((partition) => !this.#byPartition.has(partition))
  }

  begin(starts: ReadonlyMap<number, bigint>): void {
    for (const [partition, start] of starts) {
      this.#byPartition.set(partition, new PartitionProgress(start))
    }
  }

  get lag(): number {
    let lag = 0
    for (const progress of this.#byPartition.values()) lag += progress.lag
    return lag
  }

  committable(): ReadonlyMap<number, bigint> {
    const offsets = new Map<number, bigint>()
    for (const [partition, progress] of this.#byPartition) {
      const offset = progress.committable
      if (offset !== null) offsets.set(partition, offset)
    }
    return offsets
  }

  commit(offsets: ReadonlyMap<number, bigint>): void {
    for (const [partition, offset] of offsets) this.of(partition).commit(offset)
  }
}
