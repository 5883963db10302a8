// All cells at a glance: whether each answers, and what is due there. A cell's own overview has the rest.

import { useQueries, useQueryClient } from '@tanstack/react-query'
import { chooseCell } from '../api/cells.ts'
import { type ApiProblem, api } from '../api/client.ts'
import type { CellItem, Stats } from '../api/types.ts'
import { Badge } from '../ui/basics/badge.tsx'
import { Button } from '../ui/basics/button.tsx'
import { PageHead, Panel } from '../ui/basics/page.tsx'
import { type Column, Table } from '../ui/lists/table.tsx'
import { toDurationText } from '../ui/times/time.tsx'
import { useCells } from './use-cells.ts'

const EVERY_MS = 5_000

interface Row {
  item: CellItem
  stats: Stats | undefined
  hasFailed: boolean
}

export function CellsOverview() {
  const queries = useQueryClient()
  const cells = useCells()
  const answers = useQueries({
    queries: cells.map(({ cell }) => ({
      queryKey: ['/operator/v1/stats', 'cell', cell],
      queryFn: ({ signal }: { signal: AbortSignal }) => readStats(cell, signal),
      refetchInterval: EVERY_MS,
      retry: false,
    })),
  })
  const rows = cells.map((item, at): Row => {
    const { data, error } = answers[at] ?? {}
    return { item, stats: data, hasFailed: (error as ApiProblem | null | undefined) != null }
  })
  const open = (cell: number) => {
    chooseCell(cell)
    void queries.resetQueries()
  }
  return (
    <>
      <PageHead title="Overview" />
      <Panel title="Cells" isFlush>
        <Table
          label="Cells"
          columns={[...COLUMNS, openColumn(open)]}
          rows={rows}
          keyOf={({ item }) => String(item.cell)}
        />
      </Panel>
    </>
  )
}

/** Null for a cell that is away: that is an answer here, not a failure of the page. */
async function readStats(cell: number, signal: AbortSignal): Promise<Stats> {
  const headers = { 'x-paybell-cell': String(cell) }
  return api.get<Stats>('/operator/v1/stats?window=hour', { signal, headers })
}

const figure = (value: number | undefined) => (value === undefined ? '–' : value.toLocaleString())

const COLUMNS: readonly Column<Row>[] = [
  { head: 'Cell', cell: ({ item }) => item.cell },
  {
    head: 'Status',
    cell: ({ item, hasFailed }) =>
      item.isAway || hasFailed ? <Badge tone="bad">away</Badge> : <Badge tone="good">up</Badge>,
  },
  { head: 'Due', isNumber: true, cell: ({ stats }) => figure(stats?.pending.due) },
  {
    head: 'Oldest due',
    isNumber: true,
    cell: ({ stats }) => (stats ? toDurationText(stats.oldestDueAgeSeconds * 1_000) : '–'),
  },
  { head: 'Scheduled', isNumber: true, cell: ({ stats }) => figure(stats?.pending.scheduled) },
  {
    head: 'Failing endpoints',
    isNumber: true,
    cell: ({ stats }) => figure(stats?.troubled.length),
  },
  { head: 'Processes', isNumber: true, cell: ({ stats }) => figure(stats?.processes.length) },
]

function openColumn(open: (cell: number) => void): Column<Row> {
  return {
    head: '',
    name: 'Open',
    cell: ({ item }) => (
      <Button isSmall onClick={() => open(item.cell)}>
        Open cell {item.cell}
      </Button>
    ),
  }
}
