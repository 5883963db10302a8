// Fills a page of a list whose rows must be looked at one by one: in steps, each larger than the last, until
// the page is full, the list ends, or the time is over. In the last case the page is short, and its cursor
// goes on from where the scan stopped: an answer is never late, only shorter.

import type { CursorPage } from './opaque-cursors.ts'

/** What one step found, and how far it came; `downTo` is null at the end. */
export interface Step<T, P> {
  items: readonly T[]
  downTo: P | null
}

export interface ScanLimits {
  limit: number
  chunkFirst: number
  chunkMax: number
  /** No step begins later than this after the first. */
  budgetMs: number
  monotonicMs(): number
}

export const SCAN_DEFAULTS = { chunkFirst: 500, chunkMax: 4_000, budgetMs: 100 }

export async function fillPage<T, P>(
  from: P | null,
  limits: ScanLimits,
  read: (before: P | null, limit: number, chunk: number) => Promise<Step<T, P>>,
  cursor: { ofItem: (item: T) => string; ofPosition: (position: P) => string },
): Promise<CursorPage<T>> {
  const { limit, budgetMs, chunkMax } = limits
  const startedAtMs = limits.monotonicMs()
  const items: T[] = []
  let before = from
  for (let chunk = limits.chunkFirst; ; chunk = Math.min(chunk * 4, chunkMax)) {
    // One more than the page: so it is known whether there is a next one.
    const step = await read(before, limit + 1 - items.length, chunk)
    items.push(...step.items)
    if (items.length > limit) {
      const shown = items.slice(0, limit)
      return { items: shown, next: cursor.ofItem(shown.at(-1) as T) }
    }
    if (step.downTo === null) return { items, next: null }
    before = step.downTo
    if (limits.monotonicMs() - startedAtMs >= budgetMs) {
      return { items, next: cursor.ofPosition(step.downTo) }
    }
  }
}
