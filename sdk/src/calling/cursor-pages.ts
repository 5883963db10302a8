// A list by cursor, page by page to its end.

import type { CursorPage } from '../wire/types.ts'
import type { Caller } from './caller.ts'
import type { CallOptions } from './transport.ts'

export async function* cursorPages<Item>(
  get: Caller['get'],
  path: string,
  query: { after?: string | undefined },
  details?: CallOptions,
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
