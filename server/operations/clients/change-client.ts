// Disables or enables a client. A disabled one gets no tokens, and those it has stop working within
// 5 seconds in every process (client-directory); its deliveries go on.

import { inTransaction } from '../../store/connection/db.ts'
import {
  type Client,
  type ClientStatus,
  findClient,
  setClientStatus,
} from '../../store/secrets/clients.ts'
import { type Audit, NO_AUDIT } from '../shared/audit-trail.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound } from '../shared/service-errors.ts'

export const CLIENT_STATUSES = ['ACTIVE', 'DISABLED'] as const satisfies readonly ClientStatus[]

export async function changeClient(
  deps: Deps,
  clientId: string,
  status: ClientStatus,
  audit: Audit = NO_AUDIT,
): Promise<Client> {
  return inTransaction(deps.pool, async (db) => {
    const before = await findClient(db, clientId)
    const client = await setClientStatus(db, clientId, status)
    if (before === null || client === null) throw notFound()
    const change = { field: 'status', before: before.status, after: status }
    await audit(db, `client:${clientId}`, [change])
    return client
  })
}
