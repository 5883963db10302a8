// Lists walked to their end: by cursor where they can grow without limit, otherwise page by page.

import type { Caller } from '../calling/caller.ts'
import type { CallOptions } from '../calling/transport.ts'
import type { CursorPage, Page } from '../wire/types.ts'

export async function* cursorItems<Item>(
  get: Caller['get'],
  path: string,
  query: { after?: string | undefined },
  details?: CallOptions,
): AsyncGenerator<Item, void, void> {
  for (let after = query.after; ; ) {
    const page = await get<CursorPage<Item>>(path, { ...query, after }, details)
    yield* page.items
    if (page.next === null) return
    after = page.next
  }
}

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
