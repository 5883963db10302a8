// Whether the service can work now, and if not, the reasons in plain words.

import type { Pool } from 'pg'
import { Remembered } from '../core/plain/remembered.ts'
import { isDatabaseAway } from '../store/connection/db.ts'
import { isReadOnlyError } from '../store/connection/read-only.ts'
import { countSecretsByMasterKey } from '../store/secrets/master-keys.ts'
import type { Sealer } from '../store/secrets/sealing.ts'

/** What the process knows of itself. */
export interface ReadinessFacts {
  /** Given where the service was named one of several cells. */
  cell?: number | null
  /** The process was asked to stop: it still answers everything, but should get no new traffic. */
  isDraining?(): boolean
  /** Writes that were refused recently, a sentence each. */
  refusedWrites?(): Promise<readonly string[]>
  /** The same without asking the database. */
  knownRefusals?(): readonly string[]
}

interface DatabaseFacts {
  migrated: boolean
  isStandby: boolean
  isReadOnly: boolean
}

const READ_ONLY = 'The database is read-only: nothing can be written.'
const ANSWER_MS_MAX = 2_000
/** The keys that secrets need change seldom, and asking reads whole tables. */
const KEYS_CHECKED_EVERY_MS = 60_000

export class Readiness {
  readonly #pool: Pool
  readonly #sealer: Sealer
  readonly #facts: ReadinessFacts
  readonly #missingKeys = new Remembered<void, readonly string[]>({
    keysMax: 1,
    expiry: { monotonicMs: () => performance.now(), ageMsMax: KEYS_CHECKED_EVERY_MS },
  })

  constructor(pool: Pool, sealer: Sealer, facts: ReadinessFacts = {}) {
    this.#pool = pool
    this.#sealer = sealer
    this.#facts = facts
  }

  async check(): Promise<{ ready: boolean; reasons: readonly string[] }> {
    const reasons = await this.#findReasons()
    return { ready: reasons.length === 0, reasons }
  }

  async #findReasons(): Promise<readonly string[]> {
    if (this.#facts.isDraining?.()) return ['The service is stopping.']
    try {
      const reasons = await Promise.race([this.#askDatabase(), late()])
      // Without the time limit, because it may have to read whole tables.
      return reasons ?? (await this.#missingKeys.get(undefined, () => this.#findMissingKeys()))
    } catch (error) {
      if (isReadOnlyError(error)) return [READ_ONLY]
      // A pool whose connections are all replaced, because writes are refused, may have none free for the question.
      const refused = this.#facts.knownRefusals?.() ?? []
      if (refused.length > 0) return refused
      const cell = this.#facts.cell ?? null
      const database = cell === null ? 'The database' : `The database of cell ${cell}`
      return [`${database} ${isDatabaseAway(error) ? 'cannot be reached' : 'does not answer'}.`]
    }
  }

  /** Null when there is no reason against being ready. */
  async #askDatabase(): Promise<readonly string[] | null> {
    const { rows } = await this.#pool.query<DatabaseFacts>(
      `select to_regclass('leases') is not null as migrated, pg_is_in_recovery() as "isStandby",
         current_setting('transaction_read_only')::bool as "isReadOnly"`,
    )
    const [facts] = rows
    if (!facts?.migrated) return ['The database has not been migrated.']
    if (facts.isStandby) return ['The database is a standby: nothing can be written.']
    if (facts.isReadOnly) return [READ_ONLY]
    // Of a cluster, another node than the one that has answered may have the tables.
    await this.#pool.query('select from leases limit 1')
    const refused = (await this.#facts.refusedWrites?.()) ?? []
    return refused.length > 0 ? refused : null
  }

  /** A master key that stored secrets still need must not be missing: their callbacks would fail. */
  async #findMissingKeys(): Promise<readonly string[]> {
    const counts = await countSecretsByMasterKey(this.#pool)
    return [...counts]
      .filter(([id]) => !this.#sealer.hasKey(id))
      .map(([id, n]) => `Master key ${id} is not configured, but ${n} stored secrets need it.`)
  }
}

function late(): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error('no answer in time')), ANSWER_MS_MAX).unref()
  })
}
