// The operator's lists over all cells. A cell that is away is named in `cellsAway`; a cell that refuses the request
// refuses it for all, because keys and filters are the same for each.

import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX, pageCount } from '../core/asking/numbered-pages.ts'
import { CURSOR_LIMIT_DEFAULT, CURSOR_LIMIT_MAX } from '../core/asking/opaque-cursors.ts'
import type { CellDirectory } from '../core/network/cell-directory.ts'
import { ServiceError } from '../core/plain/errors.ts'
import type { ListName } from './destination.ts'
import { parseAnswer } from './exact-answer.ts'
import {
  byId,
  clientOrder,
  eachClientOnce,
  type Item,
  interleave,
  mergeById,
  newestFirst,
  parseCellsCursor,
  toCellsCursor,
} from './merged-pages.ts'
import { type CellAnswer, CellFailure, type RoutedCell, readAnswer } from './routed-cell.ts'

/** A page of 200 payments is a few hundred KB. */
const ANSWER_BYTES_MAX = 8 * 1_024 * 1_024
/** As far as numbered pages are merged: each of them asks every cell for all before it. */
const MERGED_MAX = 1_000

/** The cell's own answer is passed on. */
export class Refused extends Error {
  readonly answer: CellAnswer
  constructor(answer: CellAnswer) {
    super('refused')
    this.answer = answer
  }
}

export interface ListQuestion {
  list: ListName
  query: URLSearchParams
  cells: readonly RoutedCell[]
  /** That are not even asked: this browser has no session there. */
  closed: readonly number[]
  directory: CellDirectory
  /** Sends the caller's request with another path. */
  send(cell: RoutedCell, path: string): Promise<CellAnswer>
}

type Body = Readonly<Record<string, unknown>>

/** Throws Refused with the answer of a cell that refuses, or a ServiceError when all are away. */
export async function readList(question: ListQuestion): Promise<Body> {
  const { list } = question
  if (list === 'payments') return readByCell(question)
  if (list === 'deliveries' || list === 'audit') return readById(question)
  if (list === 'search') return readAll(question)
  return readPages(question)
}

/** Asks each cell; those that do not answer are left out, and named. */
async function askAll<T>(
  { cells, closed }: ListQuestion,
  ask: (cell: RoutedCell) => Promise<T>,
): Promise<{ answers: T[]; cellsAway: number[] }> {
  const cellsAway = [...closed]
  const answers: T[] = []
  const failures: unknown[] = []
  const settled = await Promise.allSettled(cells.map(ask))
  for (const [at, one] of settled.entries()) {
    if (one.status === 'fulfilled') answers.push(one.value)
    else if (one.reason instanceof CellFailure) cellsAway.push((cells[at] as RoutedCell).cell)
    else failures.push(one.reason)
  }
  const [first, ...others] = failures
  for (const other of others) if (other instanceof Refused) other.answer.body.destroy()
  if (first !== undefined) throw first
  if (answers.length === 0) {
    throw new ServiceError('cell-away', 'No cell can be reached.', { retryAfterSeconds: 2 })
  }
  return { answers, cellsAway: cellsAway.toSorted((one, other) => one - other) }
}

async function askOne(
  { list, query, send }: ListQuestion,
  cell: RoutedCell,
  changes: Readonly<Record<string, string | null>>,
): Promise<Body> {
  const search = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) search.delete(name)
    else search.set(name, value)
  }
  const answer = await send(cell, `/operator/v1/${list}?${search}`)
  if (answer.status >= 500) {
    answer.body.destroy()
    throw new CellFailure(cell.cell, 'away')
  }
  if (answer.status !== 200) throw new Refused(answer)
  const bytes = await readAnswer(answer, ANSWER_BYTES_MAX).catch((error) => {
    throw new CellFailure(cell.cell, 'lost', error)
  })
  if (bytes === null) throw new CellFailure(cell.cell, 'lost')
  return parseAnswer(bytes.toString()) as Body
}

/** The cursor is an id, which means the same in every cell. */
async function readById(question: ListQuestion): Promise<Body> {
  const limit = readLimit(question.query, 'limit', CURSOR_LIMIT_DEFAULT, CURSOR_LIMIT_MAX)
  const { answers, cellsAway } = await askAll(question, async (cell) => {
    const { items, next } = await askOne(question, cell, {})
    return { cell: cell.cell, items: items as Item[], next: next as string | null }
  })
  return { ...mergeById(answers, limit ?? CURSOR_LIMIT_DEFAULT), cellsAway }
}

/**
 * The cursor is the cell's own: a page takes an equal part of each, newest first within the page. Where there are more cells
 * than the page has room for, each has its turn: those that were asked are the last to be asked again.
 */
async function readByCell(question: ListQuestion): Promise<Body> {
  const { query, cells } = question
  const after = query.get('after')
  const cursors =
    after === null ? new Map(cells.map(({ cell }) => [cell, null])) : parseCellsCursor(after)
  const limit = readLimit(query, 'limit', CURSOR_LIMIT_DEFAULT, CURSOR_LIMIT_MAX)
  const inTurn = [...cursors.keys()].flatMap((number) =>
    cells.filter(({ cell }) => cell === number),
  )
  const narrowed = { ...question, cells: inTurn.slice(0, limit ?? undefined) }
  const share =
    limit === null ? null : String(Math.floor(limit / Math.max(1, narrowed.cells.length)))
  const { answers, cellsAway } = await askAll(narrowed, async (cell) => {
    const body = await askOne(question, cell, {
      after: cursors.get(cell.cell) ?? null,
      ...(share === null ? {} : { limit: share }),
    })
    return { cell: cell.cell, items: body.items as Item[], next: body.next as string | null }
  })
  const left = new Map<number, string | null>(cursors)
  for (const { cell, next } of answers) {
    left.delete(cell)
    if (next !== null) left.set(cell, next)
  }
  const newest = (one: Item, other: Item) =>
    String(other.createdAt) < String(one.createdAt) ? -1 : 1
  return {
    items: interleave(answers, newest, Number.POSITIVE_INFINITY),
    next: toCellsCursor(left),
    cellsAway,
  }
}

/** Short, and without an order that means something beyond a cell. */
async function readAll(question: ListQuestion): Promise<Body> {
  const { answers, cellsAway } = await askAll(question, async (cell) => ({
    cell: cell.cell,
    items: (await askOne(question, cell, {})).items as Item[],
  }))
  const items = answers.flatMap(({ cell, items: found }) =>
    found.map((item) => ({ ...item, cell })),
  )
  return { items, cellsAway }
}

async function readPages(question: ListQuestion): Promise<Body> {
  const { query, list, directory } = question
  const size = readLimit(query, 'size', PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX)
  const number = readLimit(query, 'page', 0, Number.MAX_SAFE_INTEGER, 0)
  const needed = ((number ?? 0) + 1) * (size ?? PAGE_SIZE_DEFAULT)
  if (needed > MERGED_MAX) throw tooFar()
  const { answers, cellsAway } = await askAll(question, async (cell) => {
    const items: Item[] = []
    let total = 0
    for (let page = 0; page === 0 || (items.length < total && items.length < needed); page++) {
      const changes = { page: String(page), size: String(PAGE_SIZE_MAX) }
      const body = await askOne(question, cell, number === null || size === null ? {} : changes)
      const content = body.content as Item[]
      total = body.totalElements as number
      if (content.length === 0) break
      items.push(...content)
    }
    return { cell: cell.cell, items, total }
  })
  const lists =
    list === 'clients' ? eachClientOnce(answers, (id) => directory.cellOfClient(id)) : answers
  const compare =
    list === 'clients' ? clientOrder(query.get('sort')) : list === 'jobs' ? newestFirst : byId
  const totalElements = lists.reduce((sum, { total }) => sum + total, 0)
  const shown = size ?? PAGE_SIZE_DEFAULT
  return {
    content: interleave(lists, compare, needed).slice(needed - shown),
    totalPages: pageCount(totalElements, shown),
    totalElements,
    size: shown,
    number: number ?? 0,
    cellsAway,
  }
}

/** Null for what no cell accepts: the first one asked says so. */
function readLimit(
  query: URLSearchParams,
  name: string,
  fallback: number,
  max: number,
  min = 1,
): number | null {
  const given = query.getAll(name)
  if (given.length === 0) return fallback
  const isGood = given.length === 1 && /^\d{1,9}$/.test(given[0] as string)
  return isGood && Number(given[0]) >= min ? Math.min(Number(given[0]), max) : null
}

function tooFar(): ServiceError {
  return new ServiceError(
    'invalid-query',
    `Over all cells, no more than the first ${MERGED_MAX} are listed. Narrow the list, or name a cell in X-Paybell-Cell.`,
  )
}
