// Which cell the pages show, where `paybell route` has put several behind one address: one of them, or all. The choice
// is kept by the browser. Where there is one cell nothing of this is seen.

import { useSyncExternalStore } from 'react'

const KEY = 'paybell-cell'
export const CELLS_PATH = '/operator/v1/cells'

interface Cells {
  /** Null: all of them. */
  chosen: number | null
  /** How many there are; null until the service has said. */
  count: number | null
}

let cells: Cells = { chosen: readStored(), count: null }
const listeners = new Set<() => void>()

function readStored(): number | null {
  try {
    const text = localStorage.getItem(KEY)
    return text === null || !/^\d{1,4}$/.test(text) ? null : Number(text)
  } catch {
    return null
  }
}

function change(next: Partial<Cells>): void {
  cells = { ...cells, ...next }
  for (const listener of listeners) listener()
}

export function chooseCell(chosen: number | null): void {
  try {
    if (chosen === null) localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, String(chosen))
  } catch {
    // Without storage the choice holds for this page.
  }
  change({ chosen })
}

/** What the service has said; a chosen cell that is no longer there is not chosen any more. */
export function noteCells(numbers: readonly number[]): void {
  if (cells.chosen !== null && !numbers.includes(cells.chosen)) chooseCell(null)
  if (numbers.length !== cells.count) change({ count: numbers.length })
}

/** The service does not say: then it is taken for one cell. */
export function noteNoAnswer(): void {
  if (cells.count === null) change({ count: 1 })
}

export function useChosenCell(): number | null {
  return useCellsState().chosen
}

/**
 * Whether the pages show several cells at once: figures and the live stream are those of one. Null until it is known:
 * `paybell route` refuses what is one cell's while none is named.
 */
export function useShowsAll(): boolean | null {
  const { chosen, count } = useCellsState()
  if (chosen !== null) return false
  return count === null ? null : count > 1
}

function useCellsState(): Cells {
  return useSyncExternalStore(
    (onChange) => {
      listeners.add(onChange)
      return () => listeners.delete(onChange)
    },
    () => cells,
  )
}

/** Names the chosen cell to `paybell route`; a cell itself does not look at it. */
export function cellHeaders(path: string): Record<string, string> {
  const isMeant = path.startsWith('/operator/') && path !== CELLS_PATH
  return isMeant && cells.chosen !== null ? { 'x-paybell-cell': String(cells.chosen) } : {}
}
