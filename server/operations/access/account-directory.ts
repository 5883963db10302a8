// Which client an account belongs to. An account never changes its client and is never deleted, so a
// found account is remembered; an unknown one is asked for again.

import { Remembered } from '../../core/plain/remembered.ts'
import type { Db } from '../../store/connection/db.ts'
import { findClientsOfAccounts } from '../../store/secrets/accounts.ts'

const ACCOUNTS_MAX = 100_000

export class AccountDirectory {
  readonly #db: Db
  readonly #clientKeys = new Remembered<string, number | null>({
    keysMax: ACCOUNTS_MAX,
    isKept: (clientKey) => clientKey !== null,
  })

  constructor(db: Db) {
    this.#db = db
  }

  /** `findOne` without a promise; undefined where it has to be asked for. */
  findKnown(accountId: string): number | undefined {
    return this.#clientKeys.look(accountId) ?? undefined
  }

  /** The key of the account's client; null when there is no such account. */
  findOne(accountId: string): Promise<number | null> {
    return this.#clientKeys.get(accountId, async () => {
      const found = await findClientsOfAccounts(this.#db, [accountId])
      return found.get(accountId) ?? null
    })
  }

  /** The accounts that exist, with their clients' keys: one statement for all that are not remembered. */
  async find(accountIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const found = new Map<string, number>()
    const unknown: string[] = []
    for (const id of accountIds) {
      const clientKey = this.#clientKeys.look(id) ?? null
      if (clientKey === null) unknown.push(id)
      else found.set(id, clientKey)
    }
    if (unknown.length === 0) return found
    for (const [id, clientKey] of await findClientsOfAccounts(this.#db, unknown)) {
      this.#clientKeys.put(id, clientKey)
      found.set(id, clientKey)
    }
    return found
  }
}
