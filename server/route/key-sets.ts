// The public keys of all cells as one set (RFC 7517). A cell that is away keeps the keys that it last showed: receivers
// must not forget them.

import { type CellAnswer, CellFailure, type RoutedCell, readAnswer } from './routed-cell.ts'

const BYTES_MAX = 256 * 1_024

interface KeySet {
  keys?: readonly { kid?: string }[]
  retired?: readonly { kid?: string }[]
  revoked?: readonly { kid?: string }[]
}

/** `byCell` is what each cell last showed, and is brought up to date. */
export async function readKeySets(
  byCell: Map<number, unknown>,
  cells: readonly RoutedCell[],
  ask: (cell: RoutedCell) => Promise<CellAnswer>,
): Promise<KeySet> {
  await Promise.all(
    cells.map(async (cell) => {
      try {
        const answer = await ask(cell)
        const bytes = await readAnswer(answer, BYTES_MAX)
        if (answer.status === 200) byCell.set(cell.cell, JSON.parse(bytes?.toString() ?? '{}'))
      } catch (error) {
        if (!(error instanceof CellFailure || error instanceof SyntaxError)) throw error
      }
    }),
  )
  const sets = [...byCell.values()] as KeySet[]
  if (sets.length === 0) throw new CellFailure(cells[0]?.cell ?? 0, 'away')
  const keys = unique(sets.flatMap((set) => set.keys ?? []))
  return { keys, ...joined(sets, 'retired'), ...joined(sets, 'revoked') }
}

/** Left out where no cell has such a list. */
function joined(sets: readonly KeySet[], name: 'retired' | 'revoked') {
  if (sets.every((set) => set[name] === undefined)) return {}
  return { [name]: unique(sets.flatMap((set) => set[name] ?? [])) }
}

/** Cells that share their signing keys show the same. */
function unique<Key extends { kid?: string }>(keys: readonly Key[]): Key[] {
  return [...new Map(keys.map((key) => [key.kid, key])).values()]
}
