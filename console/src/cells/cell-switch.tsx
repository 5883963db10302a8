// The switch between cells, in the side bar. With one cell there is none.

import { useQueryClient } from '@tanstack/react-query'
import { chooseCell, useChosenCell } from '../api/cells.ts'
import { Select } from '../ui/forms/field.tsx'
import { useCells } from './use-cells.ts'

const ALL = 'all'

export function CellSwitch() {
  const queries = useQueryClient()
  const chosen = useChosenCell()
  const cells = useCells()
  if (cells.length < 2) return null
  return (
    <Select
      label="Cell"
      value={chosen === null ? ALL : String(chosen)}
      options={[
        [ALL, 'All cells'],
        ...cells.map(
          ({ cell, isAway }) =>
            [String(cell), isAway ? `Cell ${cell} (away)` : `Cell ${cell}`] as const,
        ),
      ]}
      onChange={({ target }) => {
        chooseCell(target.value === ALL ? null : Number(target.value))
        // What was read is another cell's.
        void queries.resetQueries()
      }}
    />
  )
}
