import type { Stats } from '../../api/types.ts'
import { Badge } from '../../ui/basics/badge.tsx'
import { Empty } from '../../ui/basics/messages.tsx'
import { Panel } from '../../ui/basics/page.tsx'
import { type Column, Table } from '../../ui/lists/table.tsx'
import { Time } from '../../ui/times/time.tsx'

type Process = Stats['processes'][number]

const COLUMNS: readonly Column<Process>[] = [
  { head: 'Host', cell: ({ host, id }) => <span title={id}>{host}</span> },
  { head: 'Version', cell: ({ version }) => version },
  { head: 'Started', cell: ({ startedAt }) => <Time at={startedAt} as="short" /> },
  { head: 'Seen', cell: ({ seenAt }) => <Time at={seenAt} as="relative" /> },
  {
    head: 'Shards',
    isNumber: true,
    cell: ({ shards }) => <span title={toRanges(shards)}>{shards.length}</span>,
  },
]

export function Processes({ stats: { processes, version } }: { stats: Stats }) {
  return (
    <Panel title="Processes alive" isFlush aside={<Badge isPlain>{`version ${version}`}</Badge>}>
      {processes.length === 0 ? (
        <Empty title="None">Nothing goes out until one starts.</Empty>
      ) : (
        <Table label="Processes alive" columns={COLUMNS} rows={processes} keyOf={({ id }) => id} />
      )}
    </Panel>
  )
}

/** `[0, 1, 2, 5]` → `0–2, 5`. */
function toRanges(shards: readonly number[]): string {
  const ranges: [first: number, last: number][] = []
  for (const shard of shards) {
    const range = ranges.at(-1)
    if (range !== undefined && range[1] === shard - 1) range[1] = shard
    else ranges.push([shard, shard])
  }
  return ranges.map(([first, last]) => (first === last ? first : `${first}–${last}`)).join(', ')
}
