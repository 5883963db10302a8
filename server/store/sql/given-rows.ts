// Rows that are handed to a statement, one array for each column. A column is described once: the
// statement's text and its values are both made from that.

import { bytesColumn, instantColumn, plainColumn } from './columns.ts'

export interface GivenColumn<R> {
  name: string
  /** Of one element. */
  type: string
  write(rows: readonly R[]): unknown
}

type Plain = string | number | boolean | null

export function plain<R>(name: string, type: string, read: (row: R) => Plain): GivenColumn<R> {
  return { name, type, write: (rows) => plainColumn(rows, read) }
}

export function instant<R>(name: string, read: (row: R) => number | null): GivenColumn<R> {
  return { name, type: 'timestamptz', write: (rows) => instantColumn(rows, read) }
}

export function bytes<R>(name: string, read: (row: R) => Uint8Array | null): GivenColumn<R> {
  return { name, type: 'bytea', write: (rows) => bytesColumn(rows, read) }
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
