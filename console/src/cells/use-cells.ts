// The cells that the service has, read now and then; one where there is no `paybell route`.

import { useEffect } from 'react'
import { CELLS_PATH, noteCells, noteNoAnswer } from '../api/cells.ts'
import { useRead } from '../api/hooks.ts'
import type { CellItem } from '../api/types.ts'

const EVERY_MS = 10_000
const NONE: readonly CellItem[] = []

export function useCells(): readonly CellItem[] {
  const { data, isError } = useRead<{ items: CellItem[] }>(CELLS_PATH, { everyMs: EVERY_MS })
  useEffect(() => {
    if (data !== undefined) noteCells(data.items.map(({ cell }) => cell))
    else if (isError) noteNoAnswer()
  }, [data, isError])
  return data?.items ?? NONE
}
