// A new client with its first secret, which is shown here and never again.

import { insertSecret } from '../store/client-secrets.ts'
import { type Client, insertClient } from '../store/clients.ts'
import { inTransaction } from '../store/db.ts'
import { makeSecret } from './issue-client-secret.ts'
import { type Audit, NO_AUDIT } from './parts/audit-trail.ts'
import type { Deps } from './parts/deps.ts'

export async function onboardClient(
  deps: Deps,
  name: string,
  audit: Audit = NO_AUDIT,
): Promise<{ client: Client; secret: string }> {
  const now = new Date(deps.clock.nowMs())
  const secret = makeSecret(deps)
  const client = await inTransaction(deps.pool, async (db) => {
    const inserted = await insertClient(db, { id: deps.newId(), name }, now)
    await insertSecret(db, inserted.clientKey, secret.stored, now)
    await audit(db, `client:${inserted.id}`, [
      { field: 'name', before: null, after: inserted.name },
    ])
    return inserted
  })
  return { client, secret: secret.text }
}
