// The query of lists that can grow without limit: `?limit=50&after=<cursor>`.

import {
  CURSOR_LIMIT_DEFAULT,
  CURSOR_LIMIT_MAX,
  type CursorPage,
} from '../../core/asking/opaque-cursors.ts'
import { Type } from './type.ts'
import { QUERY_INTEGER_MAX } from './validation.ts'

export const CursorQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: QUERY_INTEGER_MAX,
      default: CURSOR_LIMIT_DEFAULT,
      description: `Items at most; more than ${CURSOR_LIMIT_MAX} is taken as ${CURSOR_LIMIT_MAX}.`,
    }),
  ),
  after: Type.Optional(
    Type.String({ maxLength: 512, description: 'The `next` of the previous answer.' }),
  ),
}

export function toCursorRequest(query: { limit?: number; after?: string }) {
  return {
    limit: Math.min(query.limit ?? CURSOR_LIMIT_DEFAULT, CURSOR_LIMIT_MAX),
    after: query.after ?? null,
  }
}

/** A page whose items are already JSON texts, with exact decimals. */
export function cursorText<T>(page: CursorPage<T>, toText: (item: T) => string): string {
  return `{"items":[${page.items.map(toText).join(',')}],"next":${JSON.stringify(page.next)}}`
}
