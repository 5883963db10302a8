// The operator's system: writes payments, one update after the other, repeats each write until it is
// acknowledged, and has every acknowledgement on disk before it goes on.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Dice } from '../simulator/dice.ts'
import type { AcknowledgedWrite } from '../simulator/records.ts'
import { SAMPLE } from '../support/payment-sample.ts'
import type { Answered, Api } from './api.ts'
import type { SyncedLog } from './synced-log.ts'

interface Written {
  event: { id: string; sequence: number } | null
  stale?: boolean
}

const UPDATES_MAX = 6
const BATCH_SHARE = 0.2

export class Writer {
  readonly #api: Api
  readonly #dice: Dice
  readonly #log: SyncedLog
  readonly #open = new Set<Promise<void>>()
  #isStopped = false
  #writing: Promise<void> | null = null
  count = 0

  constructor(api: Api, dice: Dice, log: SyncedLog) {
    this.#api = api
    this.#dice = dice
    this.#log = log
  }

  start(writesPerSecond: number): void {
    this.#writing = this.#write(writesPerSecond)
  }

  /** What has been begun is repeated until it is acknowledged. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#writing
    await Promise.all(this.#open)
  }

  async #write(writesPerSecond: number): Promise<void> {
    const updates = (1 + UPDATES_MAX) / 2
    while (!this.#isStopped) {
      const payment = this.#writePayment(this.#dice.whole(1, UPDATES_MAX)).finally(() =>
        this.#open.delete(payment),
      )
      this.#open.add(payment)
      await sleep((1_000 * updates) / writesPerSecond)
    }
  }

  async #writePayment(updates: number): Promise<void> {
    const id = randomUUID()
    for (let version = 1; version <= updates && (version === 1 || !this.#isStopped); version++) {
      const askedAtMs = Date.now()
      const body = { ...SAMPLE, id, version, document: undefined, reference: `update ${version}` }
      const isBatched = this.#dice.chance(BATCH_SHARE)
      const written = isBatched ? await this.#putLine(body) : await this.#put(id, body)
      const { event } = written
      const line: AcknowledgedWrite = {
        paymentId: id,
        accountId: this.#api.accountId,
        version,
        outcome: written.stale ? 'stale' : event === null ? 'unchanged' : 'changed',
        event: event && { id: event.id, sequence: event.sequence },
        askedAtMs,
        acknowledgedAtMs: Date.now(),
      }
      await this.#log.write(line)
      this.count++
      await sleep(this.#dice.skewed(1, 1_000))
    }
  }

  async #put(id: string, body: object): Promise<Written> {
    const path = `/operator/v1/payments/${id}`
    return JSON.parse((await this.#api.asOperator('PUT', path, body)).text) as Written
  }

  async #putLine(body: object): Promise<Written> {
    const line = `${JSON.stringify({ ...body, accountId: this.#api.accountId })}\n`
    for (;;) {
      const answer: Answered = await this.#api.asOperator(
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
