// A cell: one schema with all of Paybell's tables, its own shards, leases and order. Several may share a
// PostgreSQL, and none knows of another. Everything that two of them must not share is named from here.

import { uuidTimeMs } from '../plain/uuid.ts'

/** Three hexadecimal digits of an id say the cell; ten bits of them are used. */
export const CELL_MAX = 1_023

/** The cell that is alone where there are no others. */
export const FIRST_CELL = 0

/** On a request through `paybell route`, the cell that is meant; on a 308, the one that has the client now. */
export const CELL_HEADER = 'x-paybell-cell'

/**
 * On a 308, the client or the account that has moved: one that the caller has proven to speak for. `paybell route`
 * remembers the move of this id and of no other.
 */
export const MOVED_HEADER = 'x-paybell-moved'

const STAMPED = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]([0-3][0-9a-f]{2})-[0-9a-f]{12}$/i

/** Its tables live there, and its processes wake each other through a channel of this name. */
export function schemaOfCell(cell: number): string {
  return cell === FIRST_CELL ? 'paybell' : `paybell_${cell}`
}

/** Undefined for what is no number of a cell. */
export function parseCell(text: string): number | undefined {
  if (!/^(?:0|[1-9]\d{0,3})$/.test(text)) return undefined
  return Number(text) > CELL_MAX ? undefined : Number(text)
}

/**
 * The cell that made an id: the last three digits of its fourth group. Null for an id that no cell of
 * today can have made: no UUIDv7, or one of digits above 3ff.
 */
export function cellOfId(id: string): number | null {
  const digits = STAMPED.exec(id)?.[1]
  return digits === undefined ? null : Number.parseInt(digits, 16)
}

/**
 * The cell that made an id, where there are several. Before `cellsSinceMs`, when the second cell was
 * created, there was only the first, and ids had random digits: their own time tells them apart.
 */
export function homeOfId(id: string, cellsSinceMs: number): number | null {
  const cell = cellOfId(id)
  if (id[14] !== '7') return null
  return uuidTimeMs(id) < cellsSinceMs ? FIRST_CELL : cell
}
