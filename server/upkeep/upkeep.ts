// Recurring work of every process: each hour, and soon after the start, partitions are made ahead, old history
// is dropped and signing keys are renewed; each minute what was audited is sealed; each half minute the operator and
// clients are notified of changes; every few seconds silent listeners are paused. A step that fails is logged: the
// steps after it are still done, and the next round comes.

import { RecurringTask, type SetTimer } from '../core/plain/recurring-task.ts'
import { sealAudit } from '../operations/proofs/seal-audit.ts'
import type { Deps } from '../operations/shared/deps.ts'
import { type HourlyStep, hourlySteps, type StepParts } from './hourly-steps.ts'
import { sendNotices } from './send-notices.ts'
import { pauseSilentListeners } from './tend-listeners.ts'

const HOURLY_EVERY_MS = 3_600_000
/** Soon after the start, for a fleet that restarts more than once an hour; random, so that it spreads. */
const HOURLY_FIRST_MS_MIN = 10_000
const HOURLY_FIRST_MS_MAX = 60_000
/** After a round that left something: a lock was taken, or a step has failed. */
const HOURLY_AGAIN_MS = 300_000
const SILENT_LISTENERS_EVERY_MS = 5_000
const SEAL_FIRST_MS = 5_000
const SEAL_EVERY_MS = 60_000

export interface UpkeepParts extends StepParts {
  /** Called with the number of notices that a round has made. */
  onNotices(count: number): void
  random: () => number
  setTimer: SetTimer
}

export class Upkeep {
  readonly #deps: Deps
  readonly #parts: UpkeepParts
  readonly #notices: RecurringTask
  readonly #listeners: RecurringTask
  readonly #hourly: RecurringTask
  readonly #seals: RecurringTask
  readonly #hourlySteps: readonly HourlyStep[]
  #sealAfterMs = SEAL_FIRST_MS
  #hourlyAfterMs: number
  #isStopped = false

  constructor(deps: Deps, parts: UpkeepParts) {
    this.#deps = deps
    this.#parts = parts
    this.#hourlySteps = hourlySteps(deps, parts)
    const { random, setTimer } = parts
    this.#hourlyAfterMs =
      HOURLY_FIRST_MS_MIN + random() * (HOURLY_FIRST_MS_MAX - HOURLY_FIRST_MS_MIN)
    this.#hourly = new RecurringTask(
      setTimer,
      () => this.#hourlyAfterMs,
      () => this.#runHourlySteps(),
    )
    this.#notices = new RecurringTask(
      setTimer,
      () => deps.policies.notices.everyMs,
      () => this.#sendNotices(),
    )
    this.#listeners = new RecurringTask(
      setTimer,
      () => SILENT_LISTENERS_EVERY_MS,
      () => this.#tendListeners(),
    )
    this.#seals = new RecurringTask(
      setTimer,
      () => this.#sealAfterMs,
      () => this.#seal(),
    )
  }

  start(): void {
    this.#hourly.start()
    this.#notices.start()
    this.#listeners.start()
    this.#seals.start()
  }

  /** No further round or step begins; resolves when those that are short are over. */
  async stop(): Promise<void> {
    this.#isStopped = true
    void this.#hourly.stop()
    await Promise.all([this.#notices.stop(), this.#listeners.stop(), this.#seals.stop()])
  }

  async #runHourlySteps(): Promise<void> {
    let isAllDone = true
    for (const { name, work } of this.#hourlySteps) {
      if (this.#isStopped) return
      try {
        const isDone = (await work()) !== 'left'
        isAllDone &&= isDone
      } catch (error) {
        isAllDone = false
        this.#parts.logger.error({ step: name, error: String(error) }, 'upkeep.failed')
      }
    }
    // Jitter, so that processes do not stay at the same minute.
    const everyMs = isAllDone ? HOURLY_EVERY_MS : HOURLY_AGAIN_MS
    this.#hourlyAfterMs = everyMs * (0.9 + 0.2 * this.#parts.random())
  }

  async #sendNotices(): Promise<void> {
    const { logger, onNotices } = this.#parts
    try {
      const count = await sendNotices(this.#deps)
      onNotices(count)
      if (count > 0) logger.info({ count }, 'notices.made')
    } catch (error) {
      logger.warn({ error: String(error) }, 'notices.not-made')
    }
  }

  /** Every process does it; the first one pauses them. */
  async #tendListeners(): Promise<void> {
    const { logger } = this.#parts
    try {
      const count = await pauseSilentListeners(this.#deps)
      if (count > 0) logger.info({ count }, 'listeners.paused')
    } catch (error) {
      logger.warn({ error: String(error) }, 'listeners.not-tended')
    }
  }

  /** Every process tries; one of them seals. */
  async #seal(): Promise<void> {
    this.#sealAfterMs = SEAL_EVERY_MS
    try {
      await sealAudit(this.#deps)
    } catch (error) {
      this.#parts.logger.error({ error: String(error) }, 'audit.not-sealed')
    }
  }
}
