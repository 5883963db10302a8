// The two kinds of list that the interface has, as options and as tables: pages, and cursors for what
// can grow without end.

import type { Command } from 'commander'
import type { CursorPage, Page } from '../../sdk/src/wire/types.ts'
import type { Answer } from './api.ts'
import type { Call } from './command.ts'
import { integer } from './parse.ts'
import { type Column, plural } from './terminal.ts'

export interface PageOptions {
  page?: number
  size?: number
}

export function withPage(command: Command): Command {
  return command
    .option('--page <n>', 'which page, from 0', integer(0, 1_000_000), 0)
    .option('--size <n>', 'items on a page, at most 100', integer(1, 100), 50)
}

/** A page as a table, and where the next one is. */
export function showPage<T>(
  call: Call,
  answer: Answer,
  columns: readonly Column<T>[],
  empty: string,
): void {
  call.answer<Page<T>>(answer, (page) => {
    call.table(columns, page.content, empty)
    if (page.totalPages <= 1) return
    const shown = `Page ${page.number} of ${page.totalPages}, ${plural(page.totalElements, 'item')} in all.`
    const isLast = page.number + 1 >= page.totalPages
    call.note(isLast ? shown : `${shown} The next one: --page ${page.number + 1}`)
  })
}

export interface CursorOptions {
  limit?: number
  after?: string
}

export function withCursor(command: Command): Command {
  return command
    .option('--limit <n>', 'items at most, up to 200', integer(1, 200), 50)
    .option('--after <cursor>', 'go on where an earlier list ended')
}

/** What a cursor has come to, as a table, and where it goes on. */
export function showCursorPage<T>(
  call: Call,
  answer: Answer,
  columns: readonly Column<T>[],
  empty: string,
): void {
  call.answer<CursorPage<T>>(answer, ({ items, next }) => {
    call.table(columns, items, empty)
    if (next !== null) call.note(`There are more: --after ${next}`)
  })
}
