// Counts this process's attempts in steps of time, for the operator's curves, and writes them once a second,
// never per attempt. What could not be written is written the next time.

import type { Pool } from 'pg'
import { DURATION_BUCKETS, durationBucket } from '../core/delivery/health.ts'
import type { Clock } from '../core/plain/clock.ts'
import { RecurringTask } from '../core/plain/recurring-task.ts'
import { setUnheldTimer } from '../operations/shared/timers.ts'
import { type AttemptStep, saveAttemptSteps, sumUpFinalCounts } from '../store/history/stats.ts'

const STEP_SECONDS = [60, 900, 3_600] as const

type CountingStep = { -readonly [K in keyof AttemptStep]: AttemptStep[K] } & { durations: number[] }

const WRITE_EVERY_MS = 1_000
/** Every batch of outcomes adds rows to final_counts: summing up keeps them to some hundreds. */
const SUM_UP_EVERY_MS = 10_000

export interface AttemptCounterParts {
  pool: Pool
  clock: Clock
  processId: string
  onError(error: unknown): void
}

export class AttemptCounter {
  readonly #parts: AttemptCounterParts
  /** The current step of each length. */
  #steps: CountingStep[] = []
  /** Past steps that still have to be written a last time; bounded. */
  #over: CountingStep[] = []
  #isChanged = false
  #hasEnded = false
  #summedUpAtMs = 0
  readonly #writes = new RecurringTask(
    setUnheldTimer,
    () => WRITE_EVERY_MS,
    () => this.#write(),
  )

  constructor(parts: AttemptCounterParts) {
    this.#parts = parts
  }

  count(endedAtMs: number, isDelivered: boolean, durationMs: number): void {
    this.#isChanged = true
    this.#hasEnded ||= isDelivered
    const bucket = durationBucket(durationMs)
    if (this.#steps.length === 0 || endedAtMs >= nextAtMs(this.#steps[0])) this.#roll(endedAtMs)
    for (const step of this.#steps) {
      step.attempts++
      if (isDelivered) step.delivered++
      step.durations[bucket] = (step.durations[bucket] ?? 0) + 1
    }
  }

  start(): void {
    this.#writes.start()
  }

  async stop(): Promise<void> {
    await this.#writes.stop()
    await this.#write()
  }

  /** Replaces steps whose time is over with current ones. */
  #roll(nowMs: number): void {
    this.#steps = STEP_SECONDS.map((stepSeconds, index) => {
      const current = this.#steps[index]
      if (current !== undefined && nowMs < nextAtMs(current)) return current
      // If the database is away for long, the oldest are dropped to bound memory: curves may have gaps.
      if (current !== undefined) this.#over = [...this.#over, current].slice(-100)
      const stepMs = stepSeconds * 1_000
      return {
        stepSeconds,
        atMs: Math.floor(nowMs / stepMs) * stepMs,
        attempts: 0,
        delivered: 0,
        durations: Array.from({ length: DURATION_BUCKETS }, () => 0),
      }
    })
  }

  async #write(): Promise<void> {
    const { pool, processId, clock, onError } = this.#parts
    const over = this.#over
    try {
      if (this.#isChanged) {
        this.#isChanged = false
        await saveAttemptSteps(pool, processId, [...over, ...this.#steps])
        this.#over = this.#over.filter((step) => !over.includes(step))
      }
      if (this.#hasEnded && clock.monotonicMs() - this.#summedUpAtMs >= SUM_UP_EVERY_MS) {
        this.#summedUpAtMs = clock.monotonicMs()
        this.#hasEnded = false
        await sumUpFinalCounts(pool)
      }
    } catch (error) {
      this.#isChanged = true
      onError(error)
    }
  }
}

function nextAtMs(step: AttemptStep | undefined): number {
  return step === undefined ? 0 : step.atMs + step.stepSeconds * 1_000
}
