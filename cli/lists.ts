// The two kinds of list that the interface has, as options and as hints: pages, and cursors for what
// can grow without end.

import type { Command } from 'commander'
import type { Call } from './command.ts'
import { integer } from './parse.ts'
import { plural } from './terminal.ts'

export interface PageOptions {
  page?: number
  size?: number
}

export interface PageBody<T> {
  content: readonly T[]
  totalPages: number
  totalElements: number
  size: number
  number: number
}

export function withPage(command: Command): Command {
  return command
    .option('--page <n>', 'which page, from 0', integer(0, 1_000_000), 0)
    .option('--size <n>', 'items on a page, at most 100', integer(1, 100), 50)
}

export function notePage<T>(call: Call, body: PageBody<T>): void {
  if (body.totalPages <= 1) return
  const shown = `Page ${body.number} of ${body.totalPages}, ${plural(body.totalElements, 'item')} in all.`
  const isLast = body.number + 1 >= body.totalPages
  call.note(isLast ? shown : `${shown} The next one: --page ${body.number + 1}`)
}

export interface CursorOptions {
  limit?: number
  after?: string
}

export interface CursorBody<T> {
  items: readonly T[]
  next: string | null
}

export function withCursor(command: Command): Command {
  return command
    .option('--limit <n>', 'items at most, up to 200', integer(1, 200), 50)
    .option('--after <cursor>', 'go on where an earlier list ended')
}

export function noteCursor<T>(call: Call, body: CursorBody<T>): void {
  if (body.next !== null) call.note(`There are more: --after ${body.next}`)
}
