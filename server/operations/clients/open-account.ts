// A new account of a client.

import { inTransaction } from '../../store/connection/db.ts'
import { type Account, insertAccount } from '../../store/secrets/accounts.ts'
import { findClient } from '../../store/secrets/clients.ts'
import { type Audit, NO_AUDIT } from '../shared/audit-trail.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound } from '../shared/service-errors.ts'

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
