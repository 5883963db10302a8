// The clients by name. An installation with more than a page of them falls back to their ids.

import { useRead } from './hooks.ts'
import type { Client } from './records.ts'
import { useSession } from './session.ts'
import type { Page } from './types.ts'

const CLIENTS = '/operator/v1/clients?size=100'

export function useClients(): { clients: readonly Client[]; isAll: boolean } {
  const { kind } = useSession()
  const { data } = useRead<Page<Client>>(CLIENTS, { isEnabled: kind === 'operator' })
  return { clients: data?.content ?? [], isAll: data !== undefined && data.totalPages <= 1 }
}
