// Revokes a secret at once, the last one, too. Tokens that it gave stay good until they end: to keep a client
// out, disable it, which stops them.

import { inTransaction } from '../../store/connection/db.ts'
import { deleteSecret, listSecrets } from '../../store/secrets/client-secrets.ts'
import { findClient, lockClient } from '../../store/secrets/clients.ts'
import { type Audit, NO_AUDIT } from '../shared/audit-trail.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound } from '../shared/service-errors.ts'

export async function revokeClientSecret(
  deps: Deps,
  clientId: string,
  secretId: string,
  audit: Audit = NO_AUDIT,
): Promise<void> {
  const client = await findClient(deps.pool, clientId)
  if (client === null) throw notFound()
  await inTransaction(deps.pool, async (db) => {
    await lockClient(db, client.clientKey)
    const live = await listSecrets(db, client.clientKey)
    if (!live.some((secret) => secret.id === secretId)) throw notFound()
    await deleteSecret(db, client.clientKey, secretId)
    await audit(db, `secret:${secretId}`)
  })
}
