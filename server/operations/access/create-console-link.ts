// A link that an operator hands to a person at the client: it signs in at the console, once, as that client, so
// that nobody has to type the secret of a machine into a browser.

import { ServiceError } from '../../core/plain/errors.ts'
import { inTransaction } from '../../store/connection/db.ts'
import { findClient } from '../../store/secrets/clients.ts'
import { type Audit, NO_AUDIT } from '../shared/audit-trail.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound } from '../shared/service-errors.ts'
import { makeClientLink } from './console-session.ts'
import { assertStays } from './move-checks.ts'

export async function createConsoleLink(
  deps: Deps,
  clientId: string,
  audit: Audit = NO_AUDIT,
): Promise<{ token: string; expiresAt: Date }> {
  const client = await findClient(deps.pool, clientId)
  if (client === null) throw notFound()
  if (client.status !== 'ACTIVE') {
    throw new ServiceError(
      'client-disabled',
      'The client is disabled, so it cannot be signed in as. Enable it first.',
    )
  }
  return inTransaction(deps.pool, async (db) => {
    // A link does not go along to another cell.
    await assertStays(db, client.clientKey)
    await audit(db, `client:${clientId}`)
    return makeClientLink(deps, db, client.clientKey)
  })
}
