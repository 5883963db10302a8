// Figures of the whole service, which metrics read from the database: at most once in a few seconds however
// many ask, within two seconds, and absent while the database is away.

import type { Pool } from 'pg'
import type { Clock } from '../core/plain/clock.ts'
import { Remembered } from '../core/plain/remembered.ts'
import { type DatabaseGauges, readDatabaseGauges } from '../store/history/service-figures.ts'

const KEPT_MS = 5_000
const ANSWER_MS_MAX = 2_000

export class DatabaseGaugeReader {
  readonly #pool: Pool
  readonly #clock: Clock
  readonly #gauges: Remembered<void, DatabaseGauges | null>

  constructor(pool: Pool, clock: Clock) {
    this.#pool = pool
    this.#clock = clock
    const monotonicMs = () => clock.monotonicMs()
    this.#gauges = new Remembered({ keysMax: 1, expiry: { monotonicMs, ageMsMax: KEPT_MS } })
  }

  /** Null when the database did not answer in time. */
  read(): Promise<DatabaseGauges | null> {
    return this.#gauges.get(undefined, () => this.#ask())
  }

  async #ask(): Promise<DatabaseGauges | null> {
    const now = new Date(this.#clock.nowMs())
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<null>((resolve) => {
      // A pool without a free connection, or a server that swallows packets, does not answer at all.
      timer = setTimeout(() => resolve(null), ANSWER_MS_MAX)
      timer.unref()
    })
    const answer = readDatabaseGauges(this.#pool, now, ANSWER_MS_MAX).catch(() => null)
    return Promise.race([answer, late]).finally(() => clearTimeout(timer))
  }
}
