// The database's clock has gone back: rows that were scheduled while it was ahead would come late by as much. Their due
// times are brought forward to what their delays allow, and the shards are read again. What is in memory of them is
// forgotten for it, as if the shards had been lost and gained: that way is walked every day. A process that starts
// cannot know what the clock was before. And another that has not read it since goes on writing by the old one: so rows
// are looked for again and again, for a while.

import { latestDueMs, type RetryPolicy } from '../../core/delivery/backoff.ts'
import type { Lanes } from '../lanes/lanes.ts'
import type { Shards } from '../leases/shards.ts'
import type { EngineEnvironment } from '../seams/environment.ts'
import type { DueReader } from './due-reader.ts'

/** A reading that is this far behind the clock is a step back. Readings of the same clock differ by a second or two. */
const STEP_BACK_MS_MIN = 5_000
/** So long after a step, or a start, a shard that is gained may be another's which did not live to see the step, and
 *  changes may be accepted by a process that cannot renew its leases, or is stopping, and has not seen it yet. */
const DOUBT_MS = 10 * 60_000
const AGAIN_EVERY_MS = 30_000
/** Rows of one statement. What is locked at the moment stays as it is. */
const PAGE_MAX = 5_000

export interface LateRowsParts {
  shards: Shards
  lanes: Lanes
  reader: DueReader
  /** Asks the database which lanes of these shards have parked deliveries. */
  findParked(shards: readonly number[]): void
  /** Reads what is due. */
  read(): void
}

export class LateRows {
  readonly #environment: EngineEnvironment
  readonly #parts: LateRowsParts
  readonly #retry: RetryPolicy
  /** Shards that may have such rows, and whether what is in memory of them may be late, too. */
  readonly #doubtful = new Map<number, 'gained' | 'held'>()
  #steppedAtMs: number
  #lookedAtMs: number

  constructor(environment: EngineEnvironment, parts: LateRowsParts, retry: RetryPolicy) {
    this.#environment = environment
    this.#parts = parts
    this.#retry = retry
    this.#steppedAtMs = environment.clock.monotonicMs()
    this.#lookedAtMs = this.#steppedAtMs
  }

  /** Reads the clock through `read`, and notices when that sets it back. */
  watch(read: () => void): void {
    const { clock, log } = this.#environment
    const before = clock.nowMs() - clock.monotonicMs()
    read()
    const backMs = before - (clock.nowMs() - clock.monotonicMs())
    if (backMs < STEP_BACK_MS_MIN) return
    log.warn({ backMs: Math.round(backMs) }, 'database-clock.went-back')
    this.#steppedAtMs = clock.monotonicMs()
    this.#lookedAtMs = this.#steppedAtMs
    for (const shard of this.#parts.shards.held) this.#doubtful.set(shard, 'held')
  }

  gained(shards: readonly number[]): void {
    if (this.#isInDoubt) for (const shard of shards) this.#doubtful.set(shard, 'gained')
  }

  get #isInDoubt(): boolean {
    return this.#environment.clock.monotonicMs() - this.#steppedAtMs <= DOUBT_MS
  }

  #doubtAgain(): void {
    const nowMs = this.#environment.clock.monotonicMs()
    if (!this.#isInDoubt || nowMs - this.#lookedAtMs < AGAIN_EVERY_MS) return
    this.#lookedAtMs = nowMs
    for (const shard of this.#parts.shards.held)
      if (!this.#doubtful.has(shard)) this.#doubtful.set(shard, 'gained')
  }

  /** Never rejects: what the database did not let be done is done with the next round. */
  async round(): Promise<void> {
    this.#doubtAgain()
    for (const [shard, since] of [...this.#doubtful]) {
      // Before it is asked: a step in the meantime makes it doubtful again.
      this.#doubtful.delete(shard)
      try {
        await this.#look(shard, since)
      } catch (error) {
        if (!this.#doubtful.has(shard)) this.#doubtful.set(shard, since)
        this.#environment.log.warn({ error: String(error) }, 'late-rows.not-brought-forward')
        return
      }
    }
  }

  async #look(shard: number, since: 'gained' | 'held'): Promise<void> {
    const { shards } = this.#parts
    const epoch = shards.epochOf(shard)
    if (epoch === undefined) return
    const count = await this.#bringForward({ shard, epoch })
    if ((count > 0 || since === 'held') && shards.epochOf(shard) === epoch) this.#readAnew(shard)
  }

  #readAnew(shard: number): void {
    const { lanes, reader, findParked, read } = this.#parts
    reader.lose([shard])
    lanes.removeShard(shard)
    reader.gain([shard])
    findParked([shard])
    read()
  }

  async #bringForward(lease: { shard: number; epoch: number }): Promise<number> {
    const { clock, store } = this.#environment
    for (let all = 0; ; ) {
      const latestMs = latestDueMs(this.#retry, clock.nowMs())
      const count = await store.bringForward(lease, latestMs, PAGE_MAX)
      all += count
      if (count < PAGE_MAX) return all
    }
  }
}
