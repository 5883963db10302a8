// Writes outcomes in batches: a flush starts when the previous one returns, so an idle service adds
// no wait and a busy one pays one fsync for many attempts. A failing database is asked again until
// the lease is gone; what is not recorded by then, the next owner sends again.

import type { ShardEpoch } from '../../core/delivery/lease.ts'
import type { AttemptRecord, Recorded } from '../../store/owed/outcomes.ts'
import type { EngineEnvironment } from '../seams/environment.ts'

/** An outcome on its way to the disk. */
export interface Recording {
  readonly record: AttemptRecord
  /** Called with true when it was written; with false when the lease was lost first, or the delivery was
   *  cancelled. Must not throw: the other recordings of the batch are called after it. */
  onRecorded(isRecorded: boolean): void
}

/** The leases that outcomes are recorded under. */
export interface RecorderLeases {
  isHeld(shard: number, epoch: number, monotonicMs: number): boolean
  /** The database says that this lease is no longer ours. */
  refused(lease: ShardEpoch): void
}

const BATCH_MAX = 1_000
const FLUSHES_MAX = 2
/** Above this many unrecorded outcomes, nothing new is sent. */
const UNRECORDED_MAX = 5_000
const RETRY_MS = 200

export class Recorder {
  readonly #environment: EngineEnvironment
  readonly #leases: RecorderLeases
  readonly #batchMax: number
  #queue: Recording[] = []
  #flushes = 0
  #count = 0

  constructor(environment: EngineEnvironment, leases: RecorderLeases, batchMax = BATCH_MAX) {
    this.#environment = environment
    this.#leases = leases
    this.#batchMax = batchMax
  }

  get hasRoom(): boolean {
    return this.#count < UNRECORDED_MAX
  }

  record(recording: Recording): void {
    this.#queue.push(recording)
    this.#count++
    this.#flush()
  }

  #flush(): void {
    if (this.#flushes >= FLUSHES_MAX || this.#queue.length === 0) return
    // A second flush only when a whole batch is waiting: half-empty ones would cost an fsync each.
    if (this.#flushes > 0 && this.#queue.length < this.#batchMax) return
    const batch = this.#queue.slice(0, this.#batchMax)
    this.#queue = this.#queue.slice(batch.length)
    this.#flushes++
    void this.#write(batch).then(() => {
      this.#flushes--
      this.#flush()
    })
  }

  async #write(batch: readonly Recording[]): Promise<void> {
    let left = batch
    for (let tries = 1; left.length > 0; tries++) {
      left = this.#giveUpLost(left)
      if (left.length === 0) return
      let recorded: Recorded
      try {
        recorded = await this.#environment.store.recordOutcomes(
          left.map((recording) => recording.record),
          this.#environment.clock.nowMs(),
        )
      } catch (error) {
        this.#environment.log.warn(
          { tries, outcomes: left.length, error: String(error) },
          'outcomes.not-recorded',
        )
        await this.#pause(Math.min(RETRY_MS * tries, 2_000))
        continue
      }
      // The shard has to be lost before its strands settle: they would read what they owe, and send it again.
      for (const lease of recorded.lost) this.#leases.refused(lease)
      for (const recording of left) this.#finish(recording, recorded.ids.has(recording.record.id))
      return
    }
  }

  /** What is still ours to record. */
  #giveUpLost(batch: readonly Recording[]): readonly Recording[] {
    const nowMs = this.#environment.clock.monotonicMs()
    const isHeld = ({ record }: Recording) => this.#leases.isHeld(record.shard, record.epoch, nowMs)
    const lost = batch.filter((recording) => !isHeld(recording))
    if (lost.length === 0) return batch
    const held = batch.filter(isHeld)
    for (const recording of lost) this.#finish(recording, false)
    return held
  }

  #finish(recording: Recording, isRecorded: boolean): void {
    this.#count--
    recording.onRecorded(isRecorded)
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#environment.setTimer(ms, resolve)
    })
  }
}
