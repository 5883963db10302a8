// The accounts of a client, and whether one is a caller's own.

import type { Page, PageRequest } from '../core/numbered-pages.ts'
import { isUuid } from '../core/uuid.ts'
import { type Account, listAccounts } from '../store/accounts.ts'
import { findClient } from '../store/clients.ts'
import type { AccountDirectory } from './parts/account-directory.ts'
import type { Deps } from './parts/deps.ts'
import { notFound } from './parts/service-errors.ts'
import type { Caller } from './parts/verify-token.ts'

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
