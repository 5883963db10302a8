// Disables or enables a client, or says what gets it a token. A disabled one gets none, and those it has stop working
// within 5 seconds in every process (client-directory); its deliveries go on. One with `keys` gets none for its secrets.

import { inTransaction } from '../../store/connection/db.ts'
import {
  type Client,
  type ClientChange,
  type ClientCredentials,
  type ClientStatus,
  findClient,
  saveClientChange,
} from '../../store/secrets/clients.ts'
import { type Audit, NO_AUDIT } from '../shared/audit-trail.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound } from '../shared/service-errors.ts'

export const CLIENT_STATUSES = ['ACTIVE', 'DISABLED'] as const satisfies readonly ClientStatus[]
export const CLIENT_CREDENTIALS = ['any', 'keys'] as const satisfies readonly ClientCredentials[]

export async function changeClient(
  deps: Deps,
  clientId: string,
  { status = null, credentials = null }: Partial<ClientChange>,
  audit: Audit = NO_AUDIT,
): Promise<Client> {
  return inTransaction(deps.pool, async (db) => {
    const before = await findClient(db, clientId)
    const after = await saveClientChange(db, clientId, { status, credentials })
    if (before === null || after === null) throw notFound()
    const fields = ['status', 'credentials'] as const
    const changes = fields.map((field) => ({ field, before: before[field], after: after[field] }))
    await audit(db, `client:${clientId}`, changes)
    return after
  })
}
