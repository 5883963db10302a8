// The accounts of a client, and whether one is a caller's own.

import type { Page, PageRequest } from '../../core/asking/numbered-pages.ts'
import { isUuid } from '../../core/plain/uuid.ts'
import { type Account, countAccounts, listAccounts } from '../../store/secrets/accounts.ts'
import { findClient } from '../../store/secrets/clients.ts'
import type { AccountDirectory } from '../access/account-directory.ts'
import type { Caller } from '../access/verify-token.ts'
import type { Deps } from '../shared/deps.ts'
import { COUNTED_EACH_TIME_MAX, KeptCounts } from '../shared/kept-counts.ts'
import { notFound } from '../shared/service-errors.ts'

/** Lists of accounts. More than a hundred thousand are counted now and then, not for each page. */
export class AccountLists {
  readonly #pool: Deps['pool']
  readonly #totals: KeptCounts<number>

  constructor(deps: Deps, countedEachTimeMax = COUNTED_EACH_TIME_MAX) {
    this.#pool = deps.pool
    this.#totals = new KeptCounts(deps, (total) => total > countedEachTimeMax)
  }

  async view(clientId: string, request: PageRequest): Promise<Page<Account>> {
    const client = await findClient(this.#pool, clientId)
    if (client === null) throw notFound()
    const { clientKey } = client
    const total = this.#totals.look(clientId, () => countAccounts(this.#pool, clientKey))
    const page = await listAccounts(this.#pool, clientKey, request, total)
    if (total === null) this.#totals.put(clientId, page.total)
    return page
  }
}

/** The first that were opened; nothing is counted. */
export async function viewFirstAccounts(
  { pool }: Pick<Deps, 'pool'>,
  clientKey: number,
  size: number,
): Promise<readonly Account[]> {
  return (await listAccounts(pool, clientKey, { number: 0, size }, 0)).items
}

/** False for another client's, an unknown and a malformed id alike, so that a caller learns nothing more. */
export async function ownsAccount(
  accounts: AccountDirectory,
  caller: Caller,
  accountId: string,
): Promise<boolean> {
  if (!isUuid(accountId)) return false
  return (await accounts.findOne(accountId.toLowerCase())) === caller.clientKey
}
