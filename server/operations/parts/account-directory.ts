// Which client an account belongs to. An account never changes hands and is never deleted, so what was
// found once is remembered; what was not found is asked again.

import { findClientsOfAccounts } from '../../store/accounts.ts'
import type { Db } from '../../store/db.ts'

const ACCOUNTS_MAX = 100_000

export class AccountDirectory {
  readonly #db: Db
  readonly #clientKeys = new Map<string, number>()

  constructor(db: Db) {
    this.#db = db
  }

  /** The key of the account's client, if it was found before. */
  recall(accountId: string): number | undefined {
    return this.#clientKeys.get(accountId)
  }

  /** Those of the accounts that exist, with their clients' keys. */
  async find(accountIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const found = new Map<string, number>()
    const unknown: string[] = []
    for (const id of accountIds) {
      const clientKey = this.#clientKeys.get(id)
      if (clientKey === undefined) unknown.push(id)
      else found.set(id, clientKey)
    }
    if (unknown.length === 0) return found
    const read = await findClientsOfAccounts(this.#db, unknown)
    if (this.#clientKeys.size + read.size > ACCOUNTS_MAX) this.#clientKeys.clear()
    for (const [id, clientKey] of read) {
      this.#clientKeys.set(id, clientKey)
      found.set(id, clientKey)
    }
    return found
  }
}
