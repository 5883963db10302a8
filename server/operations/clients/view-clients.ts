// What the operator sees of clients: never a secret, only that it exists and since when.

import type { Page, PageRequest } from '../../core/asking/numbered-pages.ts'
import { listSecrets } from '../../store/secrets/client-secrets.ts'
import {
  CLIENT_ORDERS,
  type Client,
  type ClientFilter,
  findClient,
  listClients,
} from '../../store/secrets/clients.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound } from '../shared/service-errors.ts'

export interface ClientView {
  client: Client
  secrets: readonly { id: string; createdAt: Date }[]
}

export { CLIENT_ORDERS }

export function viewClients(
  deps: Deps,
  filter: ClientFilter,
  page: PageRequest,
): Promise<Page<Client>> {
  return listClients(deps.pool, filter, page)
}

export async function viewClient(deps: Deps, clientId: string): Promise<ClientView> {
  const client = await findClient(deps.pool, clientId)
  if (client === null) throw notFound()
  return { client, secrets: await listSecrets(deps.pool, client.clientKey) }
}
