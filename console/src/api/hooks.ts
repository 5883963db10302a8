// How pages read: by the path of the API, which is also the key under which an answer is remembered.
// After an action, `useRefresh()('/operator/v1/deliveries')` makes every answer below that path stale.

import {
  keepPreviousData,
  type UseQueryResult,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useCallback } from 'react'
import { type ApiProblem, api } from './client.ts'
import type { CursorPage } from './types.ts'

export interface ReadOptions {
  /** How often to read again while the page is visible. 0: never by itself, nor when the viewer comes back to it. */
  everyMs?: number
  isEnabled?: boolean
  accountId?: string
  /** Shows the previous answer while a new one is read, so that filters do not flicker. */
  keepsLast?: boolean
}

export function useRead<T>(
  path: string,
  { everyMs, isEnabled = true, accountId, keepsLast = false }: ReadOptions = {},
): UseQueryResult<T, ApiProblem> {
  return useQuery<T, ApiProblem>({
    queryKey: [path, accountId ?? null],
    queryFn: ({ signal }) =>
      api.get<T>(path, { signal, ...(accountId === undefined ? {} : { accountId }) }),
    enabled: isEnabled,
    ...toRepetition(everyMs),
    ...(keepsLast ? { placeholderData: keepPreviousData } : {}),
  })
}

function toRepetition(everyMs: number | undefined) {
  return everyMs === 0
    ? { refetchOnWindowFocus: false, refetchOnReconnect: false }
    : { refetchInterval: everyMs ?? (false as const) }
}

/** A list of cursors (`{items, next}`), page by page. `path` may carry a query. */
export function useCursorList<T>(
  path: string,
  { everyMs, isEnabled = true, accountId }: Omit<ReadOptions, 'keepsLast'> = {},
) {
  const list = useInfiniteQuery({
    queryKey: [path, accountId ?? null, 'cursor'],
    queryFn: ({ pageParam, signal }) => {
      const joint = path.includes('?') ? '&' : '?'
      const after = pageParam === null ? '' : `${joint}after=${encodeURIComponent(pageParam)}`
      return api.get<CursorPage<T>>(path + after, {
        signal,
        ...(accountId === undefined ? {} : { accountId }),
      })
    },
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next,
    enabled: isEnabled,
    ...toRepetition(everyMs),
  })
  return {
    items: list.data?.pages.flatMap((page) => page.items) ?? [],
    isLoading: list.isPending && isEnabled,
    error: list.error as ApiProblem | null,
    hasMore: list.hasNextPage,
    isLoadingMore: list.isFetchingNextPage,
    loadMore: () => void list.fetchNextPage(),
    refresh: () => void list.refetch(),
  }
}

/** A call that changes the service. The caller says what to read again, and which message to show. */
export function useAction<Input, Output>(
  act: (input: Input) => Promise<Output>,
  options: {
    onDone?(output: Output, input: Input): void
    onError?(problem: ApiProblem): void
  } = {},
) {
  return useMutation<Output, ApiProblem, Input>({
    mutationFn: act,
    ...(options.onDone ? { onSuccess: options.onDone } : {}),
    ...(options.onError ? { onError: options.onError } : {}),
  })
}

export function useRefresh(): (...prefixes: readonly string[]) => void {
  const queries = useQueryClient()
  return useCallback(
    (...prefixes) => {
      void queries.invalidateQueries({
        predicate: ({ queryKey: [path] }) =>
          typeof path === 'string' && prefixes.some((prefix) => path.startsWith(prefix)),
      })
    },
    [queries],
  )
}
