// Whether the service can do its work now, and if not, why, in plain words.

import type { Pool } from 'pg'
import { isDatabaseAway } from './store/db.ts'

const ANSWER_MS_MAX = 2_000

export class Readiness {
  readonly #pool: Pool

  constructor(pool: Pool) {
    this.#pool = pool
  }

  async check(): Promise<{ ready: boolean; reasons: readonly string[] }> {
    const reasons: string[] = []
    try {
      const { rows } = await Promise.race([
        this.#pool.query<{ migrated: boolean }>(
          `select to_regclass('leases') is not null as migrated`,
        ),
        late(),
      ])
      if (!rows[0]?.migrated) reasons.push('The database has not been migrated.')
    } catch (error) {
      reasons.push(
        isDatabaseAway(error) ? 'The database cannot be reached.' : 'The database does not answer.',
      )
    }
    return { ready: reasons.length === 0, reasons }
  }
}

function late(): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error('no answer in time')), ANSWER_MS_MAX).unref()
  })
}
