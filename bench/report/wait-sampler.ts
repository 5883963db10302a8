// What PostgreSQL's backends do or wait for, sampled while a cell runs: tells a statement that works
// from one that waits for the disk or for another.

import { setTimeout as delay } from 'node:timers/promises'
import type { BenchDatabase } from '../harness/database.ts'

const EVERY_MS = 15

export class WaitSampler {
  readonly #database: BenchDatabase
  readonly #counts = new Map<string, number>()
  #samples = 0
  #isRunning = true
  readonly #done: Promise<void>

  constructor(database: BenchDatabase) {
    this.#database = database
    this.#done = this.#sample()
  }

  /** The most frequent, as backends on average. */
  async stop(): Promise<{ what: string; backends: number }[]> {
    this.#isRunning = false
    await this.#done
    return [...this.#counts]
      .map(([what, count]) => ({ what, backends: count / this.#samples }))
      .sort((a, b) => b.backends - a.backends)
  }

  async #sample(): Promise<void> {
    for (; this.#isRunning; await delay(EVERY_MS)) {
      const rows = await this.#database.query<{ what: string }>(
        `select coalesce(wait_event_type || '/' || wait_event, 'on CPU') || '  ' ||
           regexp_replace(left(query, 60), '\\s+', ' ', 'g') as what
         from pg_stat_activity where state = 'active' and pid <> pg_backend_pid()
           and backend_type = 'client backend'`,
      )
      this.#samples++
      for (const { what } of rows) this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1)
    }
  }
}
