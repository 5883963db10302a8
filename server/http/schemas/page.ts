// The page object of the interface (decisions, Webhooks §2) and its two query parameters.

import type { TSchema } from 'typebox'
import {
  PAGE_SIZE_DEFAULT,
  PAGE_SIZE_MAX,
  type Page,
  pageCount,
} from '../../core/asking/numbered-pages.ts'
import { Type } from '../basics/type.ts'
import { QUERY_INTEGER_MAX } from '../basics/validation.ts'
import { answer } from './calls.ts'

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

/** The part of a call that every list of pages has. */
export function pagesOf<T extends TSchema>(
  item: T,
  meaning = 'One page, in the order of creation.',
) {
  return { querystring: PageQuery, answers: { 200: answer(meaning, PageOf(item)) } }
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
