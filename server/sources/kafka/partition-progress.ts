// How far a partition is read, and up to where its offset may be committed: everything before that is on disk or a dead
// letter. Records are settled in any order, so one that takes long holds the commit up, and not the others. Pure.

export class PartitionProgress {
  /** Where the next record is read. */
  next: bigint
  /** Where the partition ends, as the broker said last. */
  end: bigint
  /** Taken and not yet known to be settled, in order, from `#first` on. */
  #taken: bigint[] = []
  #first = 0
  readonly #settled = new Set<bigint>()
  #committed: bigint

  constructor(start: bigint) {
    this.next = start
    this.end = start
    this.#committed = start
  }

  /** Offsets only rise. Between two there may be some without a record: a compacted topic, or a transaction's end. */
  take(offset: bigint): void {
    this.#taken.push(offset)
    this.next = offset + 1n
  }

  settle(offset: bigint): void {
    this.#settled.add(offset)
    while (this.#first < this.#taken.length) {
      if (!this.#settled.delete(this.#taken[this.#first] as bigint)) break
      this.#first++
    }
    if (this.#first < 1_024 || this.#first * 2 < this.#taken.length) return
    this.#taken = this.#taken.slice(this.#first)
    this.#first = 0
  }

  /** Everything before it is settled. */
  get floor(): bigint {
    return this.#taken[this.#first] ?? this.next
  }

  /** How many were taken beyond it. */
  get ahead(): number {
    return this.#taken.length - this.#first
  }

  get lag(): number {
    return this.end > this.floor ? Number(this.end - this.floor) : 0
  }

  /** Null while there is nothing new to commit. */
  get committable(): bigint | null {
    return this.floor > this.#committed ? this.floor : null
  }

  isCommitted(offset: bigint): boolean {
    return offset < this.#committed
  }

  commit(offset: bigint): void {
    if (offset > this.#committed) this.#committed = offset
  }
}
