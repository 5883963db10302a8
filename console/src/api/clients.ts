// The clients by name. An installation with more than a page of them falls back to their ids.

import { useRead } from './hooks.ts'
import { useSession } from './session.ts'
import type { ClientItem, Page } from './types.ts'

const CLIENTS = '/operator/v1/clients?size=100'

export function useClients(): { clients: readonly ClientItem[]; isAll: boolean } {
  const { kind } = useSession()
  const { data } = useRead<Page<ClientItem>>(CLIENTS, { isEnabled: kind === 'operator' })
  return { clients: data?.content ?? [], isAll: data !== undefined && data.totalPages <= 1 }
}
