// Lists of numbered pages, walked to their end.

import type { Caller } from '../calling/caller.ts'
import type { CallOptions } from '../calling/transport.ts'
import type { Page } from '../wire/types.ts'

export async function* pageItems<Item>(
  get: Caller['get'],
  path: string,
  query: { page?: number | undefined; size?: number | undefined },
  details?: CallOptions,
): AsyncGenerator<Item, void, void> {
  const { size = 100 } = query
  for (let page = query.page ?? 0; ; page++) {
    const { content, totalPages } = await get<Page<Item>>(path, { ...query, page, size }, details)
    yield* content
    if (page + 1 >= totalPages) return
  }
}
