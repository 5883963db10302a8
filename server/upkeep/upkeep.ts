// What recurs in whichever process: every hour, and soon after the start, partitions are made ahead, old
// history goes and signing keys are renewed; every half minute the operator is told what has changed; every
// few seconds listeners that have fallen silent are paused. A step that fails leaves a line in the log: the
// steps after it are done all the same, and the next round comes.

import type { Logger } from 'pino'
import type { Deps } from '../operations/parts/deps.ts'
import { houseSteps } from './hourly-steps.ts'
import { Rounds, type SetTimer } from './rounds.ts'
import { sendNotices } from './send-notices.ts'
import { pauseSilentListeners } from './tend-listeners.ts'

const HOUSE_EVERY_MS = 3_600_000
/** A fleet that is restarted more often than every hour keeps house too, but not all of it at once. */
const HOUSE_FIRST_MS_MIN = 10_000
const HOUSE_FIRST_MS_MAX = 60_000
/** Something was left: a lock was not to be had, or a step has failed. */
const HOUSE_AGAIN_MS = 300_000
const SILENT_LISTENERS_EVERY_MS = 5_000

export interface UpkeepParts {
  logger: Logger
  /** So many notices were put on their way. */
  onNotices(count: number): void
  random: () => number
  setTimer: SetTimer
}

export class Upkeep {
  readonly #deps: Deps
  readonly #parts: UpkeepParts
  readonly #notices: Rounds
  readonly #listeners: Rounds
  readonly #house: Rounds
  #houseAfterMs: number
  #isStopped = false

  constructor(deps: Deps, parts: UpkeepParts) {
    this.#deps = deps
    this.#parts = parts
    const { random, setTimer } = parts
    this.#houseAfterMs = HOUSE_FIRST_MS_MIN + random() * (HOUSE_FIRST_MS_MAX - HOUSE_FIRST_MS_MIN)
    this.#house = new Rounds(
      setTimer,
      () => this.#houseAfterMs,
      () => this.#runHourlySteps(),
    )
    this.#notices = new Rounds(
      setTimer,
      () => deps.policies.current.notices.everyMs,
      () => this.#tellOperator(),
    )
    this.#listeners = new Rounds(
      setTimer,
      () => SILENT_LISTENERS_EVERY_MS,
      () => this.#tendListeners(),
    )
  }

  start(): void {
    this.#house.start()
    if (this.#deps.config.noticeUrl !== null) this.#notices.start()
    this.#listeners.start()
  }

  /** No round and no step begins any more; returns when those of notices and listeners are over. */
  async stop(): Promise<void> {
    this.#isStopped = true
    void this.#house.stop()
    await Promise.all([this.#notices.stop(), this.#listeners.stop()])
  }

  async #runHourlySteps(): Promise<void> {
    let isAllDone = true
    for (const { name, run } of houseSteps(this.#deps, this.#parts.logger)) {
      if (this.#isStopped) return
      try {
        const isDone = (await run()) !== 'left'
        isAllDone &&= isDone
      } catch (error) {
        isAllDone = false
        this.#parts.logger.error({ step: name, error: String(error) }, 'upkeep.failed')
      }
    }
    // Not all processes at the same minute for ever.
    const everyMs = isAllDone ? HOUSE_EVERY_MS : HOUSE_AGAIN_MS
    this.#houseAfterMs = everyMs * (0.9 + 0.2 * this.#parts.random())
  }

  async #tellOperator(): Promise<void> {
    const { logger, onNotices } = this.#parts
    try {
      const count = await sendNotices(this.#deps)
      onNotices(count)
      if (count > 0) logger.info({ count }, 'notices.made')
    } catch (error) {
      logger.warn({ error: String(error) }, 'notices.not-made')
    }
  }

  /** Every process does it: whoever is first pauses them. */
  async #tendListeners(): Promise<void> {
    const { logger } = this.#parts
    try {
      const count = await pauseSilentListeners(this.#deps)
      if (count > 0) logger.info({ count }, 'listeners.paused')
    } catch (error) {
      logger.warn({ error: String(error) }, 'listeners.not-tended')
    }
  }
}
