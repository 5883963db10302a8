// A new client with its first secret, which is shown here and never again.

import { inTransaction } from '../../store/connection/db.ts'
import { insertSecret } from '../../store/secrets/client-secrets.ts'
import { type Client, insertClient } from '../../store/secrets/clients.ts'
import { makeSecret } from '../access/issue-client-secret.ts'
import { type Audit, NO_AUDIT } from '../shared/audit-trail.ts'
import type { Deps } from '../shared/deps.ts'

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
