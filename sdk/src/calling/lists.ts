// Lists walked to their end: by cursor where they can grow without limit, otherwise by numbered pages.

import type { CursorPage, Page } from '../wire/types.ts'
import type { CallDetails, Caller } from './caller.ts'

export async function* cursorPages<Item>(
  get: Caller['get'],
  path: string,
  query: { after?: string | undefined },
  details?: CallDetails,
): AsyncGenerator<CursorPage<Item>, void, void> {
  for (let after = query.after; ; ) {
    const page = await get<CursorPage<Item>>(path, { ...query, after }, details)
    yield page
    if (page.next === null) return
    after = page.next
  }
}

export async function* cursorItems<Item>(
  ...of: Parameters<typeof cursorPages>
): AsyncGenerator<Item, void, void> {
  for await (const { items } of cursorPages<Item>(...of)) yield* items
}

export async function* pageItems<Item>(
  get: Caller['get'],
  path: string,
  query: { page?: number | undefined; size?: number | undefined },
  details?: CallDetails,
): AsyncGenerator<Item, void, void> {
  const { size = 100 } = query
  for (let page = query.page ?? 0; ; page++) {
    const { content, totalPages } = await get<Page<Item>>(path, { ...query, page, size }, details)
    yield* content
    if (page + 1 >= totalPages) return
  }
}
