// The operator's system: writes payments, one update after the other, through every way in. It repeats each
// write until it is acknowledged, and has every acknowledgement on disk before it goes on.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Dice } from '../simulator/dice.ts'
import { SAMPLE } from '../support/payment-sample.ts'
import type { Answered, Api } from './api.ts'
import type { Broker } from './broker.ts'
import { type Acknowledged, type FedWrite, type Feed, ROLLED_BACK, referenceOf } from './feeds.ts'
import type { Suite } from './settings.ts'
import type { SqlFeed } from './sql-feed.ts'
import type { SyncedLog } from './synced-log.ts'

export interface Ways {
  api: Api
  sql: SqlFeed
  brokers: readonly Broker[]
}

interface Written {
  event: { id: string; sequence: number } | null
  stale?: boolean
}

const UPDATES_MAX = 6
const BATCH_SHARE = 0.2
/** Of the transactions, those that are rolled back first, and those that stay open for a while. */
const ROLLED_BACK_SHARE = 0.3
const OPEN_SHARE = 0.3
const OPEN_MS_MAX = 1_500

export class Writer {
  readonly #ways: Ways
  readonly #suite: Suite
  readonly #dice: Dice
  readonly #log: SyncedLog
  readonly #open = new Set<Promise<void>>()
  #isStopped = false
  #writing: Promise<void> | null = null
  count = 0

  constructor(ways: Ways, suite: Suite, dice: Dice, log: SyncedLog) {
    this.#ways = ways
    this.#suite = suite
    this.#dice = dice
    this.#log = log
  }

  /** At most so many: on a busy machine all that they meet takes longer, and what is owed would pile up. */
  start(writesPerSecond: number, writesMax: number): void {
    this.#writing = this.#write(writesPerSecond, writesMax)
  }

  /** What has been begun is repeated until it is acknowledged. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#writing
    await Promise.all(this.#open)
  }

  /** What has been begun comes to nothing, because all ways are given up. */
  async abandon(): Promise<void> {
    this.#isStopped = true
    await Promise.allSettled([this.#writing, ...this.#open])
  }

  async #write(writesPerSecond: number, writesMax: number): Promise<void> {
    const updates = (1 + UPDATES_MAX) / 2
    for (let left = writesMax; left > 0 && !this.#isStopped; ) {
      const count = this.#dice.whole(1, UPDATES_MAX)
      left -= count
      const payment = this.#writePayment(count).finally(() => this.#open.delete(payment))
      this.#open.add(payment)
      await sleep((1_000 * updates) / writesPerSecond)
    }
  }

  async #writePayment(updates: number): Promise<void> {
    const id = randomUUID()
    // What is published is recorded later: all updates of such a payment take this way, so that they stay
    // in order.
    const broker = this.#drawBroker()
    for (let version = 1; version <= updates && (version === 1 || !this.#isStopped); version++) {
      const askedAtMs = Date.now()
      const reference = referenceOf(version)
      const body = { ...SAMPLE, id, version, document: undefined, reference }
      const feed = broker?.feed ?? this.#drawFeed()
      const { accountId } = this.#ways.api
      const { outcome, event } = broker
        ? await broker.write(accountId, body)
        : await this.#writeBy(feed, body)
      const line: FedWrite = {
        paymentId: id,
        accountId,
        version,
        feed,
        outcome,
        event: event && { id: event.id, sequence: event.sequence },
        askedAtMs,
        acknowledgedAtMs: Date.now(),
      }
      await this.#log.write(line)
      this.count++
      await sleep(this.#dice.skewed(1, 1_000))
    }
  }

  #drawBroker(): Broker | undefined {
    return this.#ways.brokers.find(({ feed }) =>
      this.#dice.chance(this.#suite.brokers[feed]?.share ?? 0),
    )
  }

  #drawFeed(): Feed {
    if (this.#dice.chance(this.#suite.sqlShare)) return 'sql'
    return this.#dice.chance(BATCH_SHARE) ? 'batch' : 'put'
  }

  async #writeBy(feed: Feed, body: { id: string; version: number }): Promise<Acknowledged> {
    const openMs = this.#dice.chance(OPEN_SHARE) ? this.#dice.between(0, OPEN_MS_MAX) : 0
    if (feed === 'sql') {
      if (this.#dice.chance(ROLLED_BACK_SHARE)) await this.#rollBack(body, openMs)
      return this.#ways.sql.write(body, openMs)
    }
    // Beside a transaction that holds the very payment, and comes to nothing.
    const held = openMs > 0 ? this.#rollBack(body, openMs) : null
    held?.catch(() => {})
    const written = feed === 'put' ? await this.#put(body.id, body) : await this.#putLine(body)
    await held
    const { event } = written
    return { outcome: written.stale ? 'stale' : event === null ? 'unchanged' : 'changed', event }
  }

  #rollBack(body: object, openMs: number): Promise<void> {
    return this.#ways.sql.rollBack({ ...body, reference: ROLLED_BACK }, openMs)
  }

  async #put(id: string, body: object): Promise<Written> {
    const path = `/operator/v1/payments/${id}`
    return JSON.parse((await this.#ways.api.asOperator('PUT', path, body)).text) as Written
  }

  async #putLine(body: object): Promise<Written> {
    const line = `${JSON.stringify({ ...body, accountId: this.#ways.api.accountId })}\n`
    for (;;) {
      const answer: Answered = await this.#ways.api.asOperator(
        'POST',
        '/operator/v1/payments/batch',
        line,
      )
      const written = JSON.parse(answer.text) as Written & { problem?: { status: number } }
      if (written.problem === undefined) return written
      if (written.problem.status !== 503) throw new Error(answer.text)
      await sleep(30)
    }
  }
}
