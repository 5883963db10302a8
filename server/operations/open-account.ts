// A new account of a client.

import { type Account, insertAccount } from '../store/accounts.ts'
import { findClient } from '../store/clients.ts'
import { inTransaction } from '../store/db.ts'
import { type Audit, NO_AUDIT } from './parts/audit-trail.ts'
import type { Deps } from './parts/deps.ts'
import { notFound } from './parts/service-errors.ts'

export async function openAccount(
  deps: Deps,
  clientId: string,
  name: string,
  audit: Audit = NO_AUDIT,
): Promise<Account> {
  const client = await findClient(deps.pool, clientId)
  if (client === null) throw notFound()
  const account = { id: deps.newId(), name }
  await inTransaction(deps.pool, async (db) => {
    await insertAccount(db, client.clientKey, account, new Date(deps.clock.nowMs()))
    await audit(db, `account:${account.id}`, [{ field: 'name', before: null, after: account.name }])
  })
  return account
}
