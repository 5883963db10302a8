// Where clients, accounts and endpoints are found by what people know of them, and what those that an address
// names by id are called. All of it is the operator's.

import { useRead } from '../api/hooks.ts'
import type { ClientItem, Endpoint, Page, SearchHit } from '../api/types.ts'
import { toQuery } from '../router.ts'
import type { Option } from '../ui/forms/combobox.tsx'

export type Source = 'client' | 'account' | 'endpoint'

const SHOWN_MAX = '8'

const LISTS = {
  client: (q: string) => `/operator/v1/clients${toQuery({ q, sort: 'name', size: SHOWN_MAX })}`,
  endpoint: (q: string) => `/operator/v1/endpoints${toQuery({ q, size: SHOWN_MAX })}`,
  account: (q: string) => `/operator/v1/search${toQuery({ q })}`,
} as const

/** What a search for `text` finds; null asks for nothing. Until it is answered, what the one before has found. */
export function useOptions(
  source: Source,
  text: string | null,
): { options: readonly Option[]; isAnswered: boolean } {
  // Accounts have no list of their own: without a word there is nothing to look for.
  const isWanted = text !== null && (source !== 'account' || text.trim() !== '')
  const { data, isPlaceholderData } = useRead<unknown>(LISTS[source](text?.trim() ?? ''), {
    isEnabled: isWanted,
    keepsLast: true,
  })
  if (!isWanted || data === undefined) return { options: [], isAnswered: false }
  return { options: toOptions(source, data), isAnswered: !isPlaceholderData }
}

function toOptions(source: Source, data: unknown): readonly Option[] {
  if (source === 'client') {
    const { content } = data as Page<ClientItem>
    return content.map(({ clientId, name }) => ({ id: clientId, name }))
  }
  if (source === 'endpoint') {
    const { content } = data as Page<Endpoint>
    return content.map(({ id, endpointUrl, clientName }) => ({
      id,
      name: endpointUrl,
      note: clientName ?? '',
    }))
  }
  const { items } = data as { items: readonly SearchHit[] }
  return items
    .filter(({ kind }) => kind === 'account')
    .map(({ id, name, clientName }) => ({ id, name, note: clientName ?? '' }))
}

/** The name of what has this id; until it is known, and where there is no such thing, the id. */
export function useNameOf(source: Source, id: string): string {
  const { data } = useRead<unknown>(
    source === 'account' ? LISTS.account(id) : `/operator/v1/${source}s/${encodeURIComponent(id)}`,
    { isEnabled: id !== '' },
  )
  if (id === '' || data === undefined) return id
  if (source === 'client') return (data as ClientItem).name
  if (source === 'endpoint') return (data as Endpoint).endpointUrl
  return toOptions(source, data).find((option) => option.id === id)?.name ?? id
}
