// Rows that are handed to a statement, one array for each column. A column is described once: the
// statement's text and its values are both made from that.

import { column, type ElementOf, type ElementType } from './columns.ts'

export interface GivenColumn<R> {
  name: string
  /** Of one element. */
  type: ElementType
  write(rows: readonly R[]): unknown
}

export function given<T extends ElementType, R>(
  name: string,
  type: T,
  read: (row: R) => ElementOf<T> | null,
): GivenColumn<R> {
  return { name, type, write: (rows) => column(type, rows, read) }
}

/** The rows as a part of `with`, called `given`; the first column is the parameter `$<from>`. */
export function givenRows<R>(columns: readonly GivenColumn<R>[], from: number): string {
  const arrays = columns.map(({ type }, index) => `$${from + index}::${type}[]`)
  return `given as (
    select * from unnest(${arrays.join(', ')})
    as g (${columns.map(({ name }) => name).join(', ')}))`
}

export function valuesOf<R>(columns: readonly GivenColumn<R>[], rows: readonly R[]): unknown[] {
  return columns.map(({ write }) => write(rows))
}
