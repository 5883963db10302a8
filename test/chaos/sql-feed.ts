// Payments that a company records by paybell.record_payment inside transactions of its own, some of them
// open for a while, some rolled back. What is acknowledged is the commit, so a write whose commit got lost is
// recorded again, like any other.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import type { ChaosDatabase } from './database.ts'
import type { Acknowledged } from './feeds.ts'

const AGAIN_MS = 100

export class SqlFeed {
  readonly #database: ChaosDatabase
  readonly #accountId: string
  isGivenUp = false

  constructor(database: ChaosDatabase, accountId: string) {
    this.#database = database
    this.#accountId = accountId
  }

  /** Until it is committed; the transaction stays open for so long. */
  async write(body: object, openMs: number): Promise<Acknowledged> {
    for (;;) {
      const recorded = await this.#inTransaction(async (client) => {
        const outcome = await this.#record(client, body)
        await sleep(openMs)
        await client.query('commit')
        return outcome
      })
      if (recorded !== null) return { outcome: recorded, event: null }
    }
  }

  /** Once: whether it was rolled back or broke makes no difference. */
  async rollBack(body: object, openMs: number): Promise<void> {
    await this.#inTransaction(async (client) => {
      await this.#record(client, body)
      await sleep(openMs)
      await client.query('rollback')
      return true
    })
  }

  async #record(client: Client, body: object): Promise<Acknowledged['outcome']> {
    const { rows } = await client.query<{ recorded: { outcome: Acknowledged['outcome'] } }>(
      'select paybell.record_payment($1, $2) as recorded',
      [this.#accountId, JSON.stringify(body)],
    )
    return rows[0]?.recorded.outcome ?? 'unchanged'
  }

  /** Null: it broke, and whether it was committed is not known. */
  async #inTransaction<T>(work: (client: Client) => Promise<T>): Promise<T | null> {
    try {
      return await this.#database.ask(async (client) => {
        await client.query('begin')
        return work(client)
      }, 1)
    } catch (error) {
      if (this.isGivenUp) throw error
      const { code = '' } = error as { code?: string }
      // What record_payment refuses is no fault of the world's.
      if (code.startsWith('PB')) throw error
      await sleep(AGAIN_MS)
      return null
    }
  }
}
