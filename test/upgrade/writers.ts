// The operator's system during an upgrade: it writes through whichever process serves, repeats a write until it is
// acknowledged, and remembers what was. A share of the payments comes through SQL, which knows no process.

import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import { SAMPLE } from '../support/payment-sample.ts'
import type { Processes } from './processes.ts'

export interface WriterOptions {
  processes: Processes
  pool: Pool
  accountId: string
  operatorKey: string
  /** Payments that are written side by side. */
  side: number
}

const UPDATES = 5
/** Between two updates of a payment. */
const PAUSE_MS = 20
const SQL_SHARE = 0.25

export class Writers {
  /** By payment: how many of its updates were acknowledged. */
  readonly acknowledged = new Map<string, number>()
  /** Answers that were no 2xx, and connections that broke, with how often. */
  readonly refusals = new Map<string, number>()
  /** The longest that one write took, repetitions included. */
  slowestMs = 0
  readonly #options: WriterOptions
  #isStopped = false
  #writing: Promise<unknown> = Promise.resolve()

  constructor(options: WriterOptions) {
    this.#options = options
  }

  start(): void {
    this.#writing = Promise.all(Array.from({ length: this.#options.side }, () => this.#write()))
  }

  /** What was begun is written to its end. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#writing
  }

  get count(): number {
    return this.acknowledged.values().reduce((sum, updates) => sum + updates, 0)
  }

  async #write(): Promise<void> {
    while (!this.#isStopped) {
      const id = randomUUID()
      const isSql = Math.random() < SQL_SHARE
      for (let version = 1; version <= UPDATES; version++) {
        const payment = { ...SAMPLE, id, version, document: undefined, reference: `${version}` }
        const startedAt = performance.now()
        await this.#repeat(() => (isSql ? this.#record(payment) : this.#put(payment)))
        this.slowestMs = Math.max(this.slowestMs, performance.now() - startedAt)
        this.acknowledged.set(id, version)
        await delay(PAUSE_MS)
      }
    }
  }

  /** `write` says what went wrong, or null. */
  async #repeat(write: () => Promise<string | null>): Promise<void> {
    for (;;) {
      const refusal = await write()
      if (refusal === null) return
      this.refusals.set(refusal, (this.refusals.get(refusal) ?? 0) + 1)
      await delay(PAUSE_MS)
    }
  }

  async #put(payment: { id: string }): Promise<string | null> {
    const { processes, accountId, operatorKey } = this.#options
    const all = [...processes.running]
    const one = all[Math.floor(Math.random() * all.length)]
    if (one === undefined) return 'no process runs'
    try {
      const answer = await fetch(`${one.baseUrl}/operator/v1/payments/${payment.id}`, {
        method: 'PUT',
        headers: {
          authorization: `Bearer ${operatorKey}`,
          accountid: accountId,
          'content-type': 'application/json',
        },
        body: JSON.stringify(payment),
      })
      await answer.arrayBuffer()
      return answer.ok ? null : `${one.version} ${answer.status}`
    } catch {
      return `${one.version} closed the connection`
    }
  }

  async #record(payment: object): Promise<string | null> {
    const { pool, accountId } = this.#options
    try {
      await pool.query('select paybell.record_payment($1, $2)', [
        accountId,
        JSON.stringify(payment),
      ])
      return null
    } catch (error) {
      return `SQL ${(error as { code?: string }).code}`
    }
  }
}
