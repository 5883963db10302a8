// The accounts of a client, and whether one is a caller's own.

import type { Page, PageRequest } from '../../core/asking/numbered-pages.ts'
import { isUuid } from '../../core/plain/uuid.ts'
import { type Account, listAccounts } from '../../store/secrets/accounts.ts'
import { findClient } from '../../store/secrets/clients.ts'
import type { AccountDirectory } from '../access/account-directory.ts'
import type { Caller } from '../access/verify-token.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound } from '../shared/service-errors.ts'

export async function viewAccounts(
  deps: Deps,
  clientId: string,
  page: PageRequest,
): Promise<Page<Account>> {
  const client = await findClient(deps.pool, clientId)
  if (client === null) throw notFound()
  return listAccounts(deps.pool, client.clientKey, page)
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
