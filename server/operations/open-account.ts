// A new account of a client.

import { type Account, insertAccount } from '../store/accounts.ts'
import { findClient } from '../store/clients.ts'
import type { Deps } from './deps.ts'
import { notFound } from './failures.ts'

export async function openAccount(deps: Deps, clientId: string, name: string): Promise<Account> {
  const client = await findClient(deps.pool, clientId)
  if (client === null) throw notFound()
  const account = { id: deps.newId(), name }
  await insertAccount(deps.pool, client.clientKey, account, new Date(deps.clock.nowMs()))
  return account
}
