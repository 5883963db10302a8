// Disables or enables a client. A disabled one gets no tokens, and those it has stop working within
// 5 seconds in every process (client-directory); its deliveries go on.

import { type Client, type ClientStatus, setClientStatus } from '../store/clients.ts'
import type { Deps } from './deps.ts'
import { notFound } from './failures.ts'

export const CLIENT_STATUSES = ['ACTIVE', 'DISABLED'] as const satisfies readonly ClientStatus[]

export async function changeClient(
  deps: Deps,
  clientId: string,
  status: ClientStatus,
): Promise<Client> {
  const client = await setClientStatus(deps.pool, clientId, status)
  if (client === null) throw notFound()
  return client
}
