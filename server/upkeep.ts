// What recurs in whichever process: every hour partitions are made ahead, old history goes and signing keys
// are renewed; every half minute the operator is told what has changed; every few seconds listeners that
// nobody asks any more are paused. A round that fails leaves a line in the log, and the next one comes.

import type { Logger } from 'pino'
import { DAY_MS } from './core/backoff.ts'
import type { Metrics } from './metrics.ts'
import type { Deps } from './operations/deps.ts'
import { rotateSigningKeyIfOld } from './operations/keyring.ts'
import { type NoticeSpans, sendNotices } from './operations/send-notices.ts'
import { deleteForgottenListeners, pauseSilentListeners } from './operations/tend-listeners.ts'
import { inTransaction } from './store/db.ts'
import { deleteOldEventTraces } from './store/event-traces.ts'
import { carryFeedOver } from './store/feed-origin.ts'
import { ensurePartitions } from './store/partitions.ts'
import { dropOldHistory } from './store/retention.ts'
import { deleteOldSteps } from './store/stats.ts'

const HOUSE_EVERY_MS = 3_600_000
const NOTICES_EVERY_MS = 30_000
const SILENT_LISTENERS_EVERY_MS = 5_000
const SIGNING_KEY_AGE_MS_MAX = 30 * DAY_MS

export interface UpkeepParts {
  logger: Logger
  metrics: Metrics
  /** Looked into with each round: the sandbox changes them while it runs. */
  notices: NoticeSpans
}

export class Upkeep {
  readonly #deps: Deps
  readonly #parts: UpkeepParts
  readonly #notices: Rounds
  readonly #listeners: Rounds
  #houseTimer: NodeJS.Timeout | undefined

  constructor(deps: Deps, parts: UpkeepParts) {
    this.#deps = deps
    this.#parts = parts
    this.#notices = new Rounds(
      () => Math.max(1_000, NOTICES_EVERY_MS / deps.config.timeScale),
      () => this.#tellOperator(),
    )
    this.#listeners = new Rounds(
      () => SILENT_LISTENERS_EVERY_MS,
      () => this.#tendListeners(),
    )
  }

  start(): void {
    this.#houseTimer = setInterval(() => void this.#keepHouse(), HOUSE_EVERY_MS)
    this.#houseTimer.unref()
    if (this.#deps.config.noticeUrl !== null) this.#notices.start()
    this.#listeners.start()
  }

  /** No round begins any more; returns when those of notices and listeners are over. */
  async stop(): Promise<void> {
    clearInterval(this.#houseTimer)
    await Promise.all([this.#notices.stop(), this.#listeners.stop()])
  }

  async #keepHouse(): Promise<void> {
    const { pool, clock, config } = this.#deps
    const { logger } = this.#parts
    try {
      await ensurePartitions(pool, new Date(clock.nowMs()))
      if (await inTransaction(pool, carryFeedOver)) logger.warn('feed.carried-over')
      const dropped = await dropOldHistory(pool, new Date(clock.nowMs()), config.retentionDays)
      if (dropped.partitions.length > 0) logger.info(dropped, 'history.dropped')
      await rotateSigningKeyIfOld(this.#deps, SIGNING_KEY_AGE_MS_MAX)
      await deleteOldSteps(pool, new Date(clock.nowMs()))
      await deleteOldEventTraces(pool, new Date(clock.nowMs()))
      const forgotten = await deleteForgottenListeners(this.#deps)
      if (forgotten > 0) logger.info({ count: forgotten }, 'listeners.forgotten')
    } catch (error) {
      logger.error({ error: String(error) }, 'upkeep.failed')
    }
  }

  async #tellOperator(): Promise<void> {
    const { logger, metrics, notices } = this.#parts
    try {
      const count = await sendNotices(this.#deps, notices)
      metrics.countNotices(count)
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

/** Round after round: the next is set when the one before is over, so two never overlap. */
class Rounds {
  readonly #everyMs: () => number
  readonly #round: () => Promise<void>
  #timer: NodeJS.Timeout | undefined
  #underWay: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(everyMs: () => number, round: () => Promise<void>) {
    this.#everyMs = everyMs
    this.#round = round
  }

  start(): void {
    this.#timer = setTimeout(() => {
      this.#underWay = this.#round().then(() => {
        if (!this.#isStopped) this.start()
      })
    }, this.#everyMs())
    this.#timer.unref()
  }

  stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    return this.#underWay
  }
}
