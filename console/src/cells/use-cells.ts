// The cells that the service has, read now and then; one where there is no `paybell route`.

import { CELLS_PATH } from '../api/cells.ts'
import { useRead } from '../api/hooks.ts'
import type { CellItem } from '../api/types.ts'

const EVERY_MS = 10_000
const NONE: readonly CellItem[] = []

export function useCells(): readonly CellItem[] {
  return useRead<{ items: CellItem[] }>(CELLS_PATH, { everyMs: EVERY_MS }).data?.items ?? NONE
}
