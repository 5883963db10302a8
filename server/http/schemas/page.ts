// The page object of the interface (decisions, Webhooks §2) and its two query parameters.

import type { TSchema } from 'typebox'
import {
  PAGE_SIZE_DEFAULT,
  PAGE_SIZE_MAX,
  type Page,
  pageCount,
} from '../../core/asking/numbered-pages.ts'
import type { ErrorCode } from '../../core/plain/errors.ts'
import { Type } from '../basics/type.ts'
import { QUERY_INTEGER_MAX } from '../basics/validation.ts'
import { problemResponses } from './schemas.ts'

export const PageQuery = Type.Object({
  page: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: QUERY_INTEGER_MAX,
      default: 0,
      description: 'Zero-based index of the page.',
    }),
  ),
  size: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: QUERY_INTEGER_MAX,
      default: PAGE_SIZE_DEFAULT,
      description: `Items on a page; more than ${PAGE_SIZE_MAX} is taken as ${PAGE_SIZE_MAX}.`,
    }),
  ),
})

export function PageOf<T extends TSchema>(item: T) {
  return Type.Object({
    content: Type.Array(item),
    totalPages: Type.Integer(),
    totalElements: Type.Integer(),
    size: Type.Integer(),
    number: Type.Integer(),
  })
}

/** The part of a route's schema that every list of pages has. */
export function pagesOf<T extends TSchema>(item: T, ...problems: ErrorCode[]) {
  return {
    querystring: PageQuery,
    response: { 200: PageOf(item), ...problemResponses(...problems, 'invalid-query') },
  }
}

export function toPageBody<T, W>(page: Page<T>, toItem: (item: T) => W) {
  return {
    content: page.items.map(toItem),
    totalPages: pageCount(page.total, page.size),
    totalElements: page.total,
    size: page.size,
    number: page.number,
  }
}
