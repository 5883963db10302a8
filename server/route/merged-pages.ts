// Lists of several cells as one. Pure. Each cell's items stay in its own order; which cell's comes next is decided by
// id, because ids rise with time in all cells. Every item says its cell.

import { parseCursor, refuseCursor, toCursor } from '../core/asking/opaque-cursors.ts'
import { CANONICAL_UUID } from '../core/plain/uuid.ts'

export type Item = Readonly<Record<string, unknown>>

export interface CellItems {
  cell: number
  items: readonly Item[]
}

/** Negative when the first comes before the second. */
export type Compare = (one: Item, other: Item) => number

const textOf = (item: Item, ...names: readonly string[]): string =>
  String(names.map((name) => item[name]).find((value) => value !== undefined) ?? '')

const byText =
  (...names: readonly string[]): Compare =>
  (one, other) => {
    const [a, b] = [textOf(one, ...names), textOf(other, ...names)]
    return a < b ? -1 : a > b ? 1 : 0
  }

export const byId: Compare = byText('id', 'clientId')
export const newestFirst: Compare = (one, other) => byId(other, one)
const byName: Compare = byText('name')

/** As the query `sort` of the list of clients says. */
export function clientOrder(sort: string | null): Compare {
  const compare = sort?.endsWith('name') ? byName : byText('createdAt')
  return sort?.startsWith('-') ? (one, other) => compare(other, one) : compare
}

/** Takes the first of each cell's items again and again, the smallest of them first. */
export function interleave(lists: readonly CellItems[], compare: Compare, max: number): Item[] {
  const heads = lists.map(({ cell, items }) => ({ cell, items, at: 0 }))
  const merged: Item[] = []
  while (merged.length < max) {
    let next: (typeof heads)[number] | undefined
    for (const head of heads) {
      const item = head.items[head.at]
      if (item === undefined) continue
      const best = next?.items[next.at]
      if (best === undefined || compare(item, best) < 0) next = head
    }
    if (next === undefined) return merged
    merged.push({ ...(next.items[next.at] as Item), cell: next.cell })
    next.at++
  }
  return merged
}

export interface CountedItems extends CellItems {
  /** How many there are in all. */
  total: number
}

/** Each client once: while one moves, two cells may list it. `cellOf` says which of them is right. */
export function eachClientOnce(
  lists: readonly CountedItems[],
  cellOf: (clientId: string) => number,
): CountedItems[] {
  const kept = new Map<string, number>()
  for (const { cell, items } of lists) {
    for (const item of items) {
      const id = textOf(item, 'clientId')
      if (!kept.has(id) || cellOf(id) === cell) kept.set(id, cell)
    }
  }
  return lists.map(({ cell, items, total }) => {
    const own = items.filter((item) => kept.get(textOf(item, 'clientId')) === cell)
    return { cell, items: own, total: total - (items.length - own.length) }
  })
}

export interface CursorAnswer extends CellItems {
  next: string | null
}

/**
 * Lists by id, newest first, whose cursor is an id: it means the same in every cell. A cell that has more is known down
 * to the id of its cursor; what another has below the highest of these has to wait for the next page.
 */
export function mergeById(
  answers: readonly CursorAnswer[],
  limit: number,
): { items: Item[]; next: string | null } {
  const floors = answers.flatMap(({ next }) =>
    next === null ? [] : (parseCursor(next, CANONICAL_UUID) as [string]),
  )
  const floor = floors.toSorted().at(-1) ?? ''
  const tagged = answers.map(({ cell, items }) => ({
    cell,
    items: items.filter((item) => textOf(item, 'id') >= floor),
  }))
  const total = tagged.reduce((sum, { items }) => sum + items.length, 0)
  const items = interleave(tagged, newestFirst, limit)
  const last = items.at(-1)
  if (total > limit && last !== undefined) return { items, next: toCursor(textOf(last, 'id')) }
  return { items, next: floor === '' ? null : toCursor(floor) }
}

/** Where each cell goes on; null before its first page. A cell that has ended is not in it. */
export type CellCursors = ReadonlyMap<number, string | null>

const MARK = 'cells'

/** A cursor over lists whose own cursors mean something in their cell alone. */
export function toCellsCursor(cursors: CellCursors): string | null {
  return cursors.size === 0 ? null : toCursor(MARK, JSON.stringify([...cursors]))
}

export function parseCellsCursor(text: string): CellCursors {
  const [, list = ''] = parseCursor(text, /^cells$/, /^\[\[/)
  let pairs: unknown
  try {
    pairs = JSON.parse(list)
  } catch {
    throw refuseCursor()
  }
  const isPair = (pair: unknown): pair is [number, string | null] =>
    Array.isArray(pair) &&
    pair.length === 2 &&
    Number.isInteger(pair[0]) &&
    (pair[1] === null || typeof pair[1] === 'string')
  if (!Array.isArray(pairs) || !pairs.every(isPair)) throw refuseCursor()
  return new Map(pairs)
}
