// Pages of lists that stay small (decisions, Webhooks §2): zero-based, at most 100 items. A page past
// the end is empty, not an error, and still gives the totals.

export const PAGE_SIZE_DEFAULT = 20
export const PAGE_SIZE_MAX = 100

export interface PageRequest {
  number: number
  size: number
}

/** The items of one page and the count of all, read from one snapshot. */
export interface Page<T> extends PageRequest {
  items: readonly T[]
  total: number
}

/** Defaults for what was left out; a size over the limit is taken as the limit. */
export function toPageRequest(query: { page?: number; size?: number }): PageRequest {
  return {
    number: query.page ?? 0,
    size: Math.min(query.size ?? PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX),
  }
}

export function pageOffset(request: PageRequest): number {
  return request.number * request.size
}

export function pageCount(total: number, size: number): number {
  return Math.ceil(total / size)
}
