// Starts and stops the service in steps, each once. A start that fails, or is stopped on its way, leaves
// nothing running: a leftover would hold shards that it does not serve, and keep the process alive. The whole way down
// has one limit: a step may wait for a database that never answers again.

export interface Course {
  /** One after the other. */
  up: readonly (() => unknown)[]
  /** One after the other, even if one before failed, and also for parts that never started. */
  down: readonly (() => unknown)[]
  /** For the whole way down, the step of a start that is still under way included. */
  downMsMax: number
}

/** Something was still under way at the limit. Only the end of the process stops it. */
export class UnfinishedStop extends Error {
  constructor(ms: number) {
    super(`not everything has stopped within ${ms / 1_000} s`)
  }
}

/** Whether the process is draining or stopping: for parts that are made before the lifecycle exists. */
export class Phase {
  #name: 'running' | 'draining' | 'stopping' = 'running'
  #isReplaced = false

  /** No new traffic should come, though everything is still answered. */
  get isLeaving(): boolean {
    return this.#name !== 'running'
  }

  /** The same, and no other process answers at this address in its place. */
  get isUnready(): boolean {
    return this.isLeaving && !this.#isReplaced
  }

  get isStopping(): boolean {
    return this.#name === 'stopping'
  }

  drain({ isReplaced } = { isReplaced: false }): void {
    if (this.#name !== 'running') return
    this.#name = 'draining'
    this.#isReplaced = isReplaced
  }

  stop(): void {
    this.#name = 'stopping'
  }
}

export class Lifecycle {
  readonly #phase: Phase
  readonly #course: Course
  #starting: Promise<void> | undefined
  #stopped: Promise<void> | undefined

  constructor(phase: Phase, course: Course) {
    this.#phase = phase
    this.#course = course
  }

  /** Rejects with the first failure, once everything has stopped again. A stop on the way is no failure. */
  async start(): Promise<void> {
    this.#starting ??= this.#goUp()
    try {
      await this.#starting
    } catch (error) {
      // The first error is the one to report.
      await this.stop().catch(() => {})
      throw error
    }
  }

  /** Waits for the step of the start that is under way, takes no further one, and stops everything. Rejects with an
   *  UnfinishedStop at the limit. */
  stop(): Promise<void> {
    this.#phase.stop()
    this.#stopped ??= within(this.#course.downMsMax, this.#goDown())
    return this.#stopped
  }

  async #goUp(): Promise<void> {
    for (const step of this.#course.up) {
      if (this.#phase.isStopping) return
      await step()
    }
  }

  async #goDown(): Promise<void> {
    await this.#starting?.catch(() => {})
    const failures: unknown[] = []
    for (const step of this.#course.down) {
      try {
        await step()
      } catch (error) {
        failures.push(error)
      }
    }
    throwIfAny(failures)
  }
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  const limit = Promise.withResolvers<never>()
  const timer = setTimeout(() => limit.reject(new UnfinishedStop(ms)), ms)
  await Promise.race([work, limit.promise]).finally(() => clearTimeout(timer))
}

/** Waits for all of them, also when one has failed. */
export async function settleAll(work: readonly unknown[]): Promise<void> {
  const ends = await Promise.allSettled(work)
  throwIfAny(ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : [])))
}

function throwIfAny(failures: readonly unknown[]): void {
  if (failures.length === 1) throw failures[0]
  if (failures.length > 1) throw new AggregateError(failures, 'several parts did not stop')
}
