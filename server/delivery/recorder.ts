// Writes outcomes in batches: a flush starts when the previous one returns, so an idle service adds
// no wait and a busy one pays one fsync for many attempts. A failing database is asked again until
// the lease is gone; what is not recorded by then, the next owner sends again.

import type { AttemptRecord } from '../store/outcomes.ts'
import type { EngineEnvironment } from './environment.ts'

interface Entry {
  record: AttemptRecord
  done: (isRecorded: boolean) => void
}

export interface RecorderLimits {
  batchMax: number
  flushesMax: number
  /** Above this many unrecorded outcomes, nothing new is sent. */
  unrecordedMax: number
  retryMs: number
}

export const RECORDER_LIMITS: RecorderLimits = {
  batchMax: 1_000,
  flushesMax: 2,
  unrecordedMax: 5_000,
  retryMs: 200,
}

export class Recorder {
  readonly #environment: EngineEnvironment
  readonly #limits: RecorderLimits
  readonly #isHeld: (shard: number, epoch: number) => boolean
  readonly #idleWaiters: (() => void)[] = []
  #queue: Entry[] = []
  #unrecorded = new Map<number, number>()
  #flushes = 0
  #count = 0

  constructor(
    environment: EngineEnvironment,
    limits: RecorderLimits,
    isHeld: (shard: number, epoch: number) => boolean,
  ) {
    this.#environment = environment
    this.#limits = limits
    this.#isHeld = isHeld
  }

  get hasRoom(): boolean {
    return this.#count < this.#limits.unrecordedMax
  }

  unrecordedOf(shard: number): number {
    return this.#unrecorded.get(shard) ?? 0
  }

  /** True when it was written; false when the lease was lost first, or somebody ended the delivery. */
  record(record: AttemptRecord): Promise<boolean> {
    return new Promise((done) => {
      this.#queue.push({ record, done })
      this.#counted(record.shard, 1)
      this.#flush()
    })
  }

  /** Resolves when nothing is left to write. */
  idle(): Promise<void> {
    if (this.#count === 0) return Promise.resolve()
    return new Promise((resolve) => this.#idleWaiters.push(resolve))
  }

  #flush(): void {
    if (this.#flushes >= this.#limits.flushesMax || this.#queue.length === 0) return
    // A second flush only when a whole batch is waiting: half-empty ones would cost an fsync each.
    if (this.#flushes > 0 && this.#queue.length < this.#limits.batchMax) return
    const batch = this.#queue.slice(0, this.#limits.batchMax)
    this.#queue = this.#queue.slice(batch.length)
    this.#flushes++
    void this.#write(batch).then(() => {
      this.#flushes--
      this.#flush()
    })
  }

  async #write(batch: readonly Entry[]): Promise<void> {
    let left = batch
    for (let tries = 1; left.length > 0; tries++) {
      left = left.filter((entry) => {
        const isHeld = this.#isHeld(entry.record.shard, entry.record.epoch)
        if (!isHeld) this.#finish(entry, false)
        return isHeld
      })
      if (left.length === 0) return
      try {
        const recorded = await this.#environment.store.recordOutcomes(
          left.map((entry) => entry.record),
          this.#environment.clock.nowMs(),
        )
        for (const entry of left) this.#finish(entry, recorded.has(entry.record.id))
        return
      } catch (error) {
        this.#environment.log.warn(
          { tries, outcomes: left.length, error: String(error) },
          'outcomes.not-recorded',
        )
        await this.#pause(Math.min(this.#limits.retryMs * tries, 2_000))
      }
    }
  }

  #finish(entry: Entry, isRecorded: boolean): void {
    this.#counted(entry.record.shard, -1)
    entry.done(isRecorded)
    if (this.#count === 0) for (const resolve of this.#idleWaiters.splice(0)) resolve()
  }

  #counted(shard: number, by: 1 | -1): void {
    this.#count += by
    this.#unrecorded.set(shard, this.unrecordedOf(shard) + by)
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#environment.setTimer(ms, resolve)
    })
  }
}
