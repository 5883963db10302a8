// Whether the service can do its work now, and if not, why, in plain words.

import type { Pool } from 'pg'
import { isDatabaseAway } from './store/db.ts'
import { countSecretsByMasterKey } from './store/master-keys.ts'
import type { Sealer } from './store/sealing.ts'

const ANSWER_MS_MAX = 2_000
/** Which keys the secrets need changes seldom, and asking reads whole tables. */
const KEYS_CHECKED_EVERY_MS = 60_000

export class Readiness {
  readonly #pool: Pool
  readonly #sealer: Sealer
  #missingKeys: readonly string[] = []
  #keysCheckedAtMs = Number.NEGATIVE_INFINITY

  constructor(pool: Pool, sealer: Sealer) {
    this.#pool = pool
    this.#sealer = sealer
  }

  async check(): Promise<{ ready: boolean; reasons: readonly string[] }> {
    const reasons = await this.#findReasons()
    return { ready: reasons.length === 0, reasons }
  }

  async #findReasons(): Promise<readonly string[]> {
    try {
      const { rows } = await Promise.race([
        this.#pool.query<{ migrated: boolean }>(
          `select to_regclass('leases') is not null as migrated`,
        ),
        late(),
      ])
      if (!rows[0]?.migrated) return ['The database has not been migrated.']
      return await this.#findMissingKeys()
    } catch (error) {
      return [
        isDatabaseAway(error) ? 'The database cannot be reached.' : 'The database does not answer.',
      ]
    }
  }

  /** A master key that stored secrets still need must not be missing: their callbacks would fail. */
  async #findMissingKeys(): Promise<readonly string[]> {
    const nowMs = performance.now()
    if (nowMs - this.#keysCheckedAtMs > KEYS_CHECKED_EVERY_MS) {
      const counts = await countSecretsByMasterKey(this.#pool)
      this.#keysCheckedAtMs = nowMs
      this.#missingKeys = [...counts]
        .filter(([id]) => !this.#sealer.hasKey(id))
        .map(([id, n]) => `Master key ${id} is not configured, but ${n} stored secrets need it.`)
    }
    return this.#missingKeys
  }
}

function late(): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error('no answer in time')), ANSWER_MS_MAX).unref()
  })
}
