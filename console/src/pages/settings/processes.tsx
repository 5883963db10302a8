// The processes that deliver, and the shards of each: for who runs the service. The overview says when there is none.

import { useRead } from '../../api/hooks.ts'
import type { Stats } from '../../api/types.ts'
import { Badge } from '../../ui/basics/badge.tsx'
import { Empty, Loading, Problem } from '../../ui/basics/messages.tsx'
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

const EVERY_MS = 10_000

export function Processes() {
  const { data, error } = useRead<Stats>('/operator/v1/stats?window=hour', { everyMs: EVERY_MS })
  const aside = data ? <Badge isPlain>{`version ${data.version}`}</Badge> : null
  return (
    <Panel title="Processes alive" isFlush aside={aside}>
      {error ? <Problem problem={error} /> : null}
      {data === undefined && !error ? <Loading lines={2} /> : null}
      {data?.processes.length === 0 ? (
        <Empty title="None">Nothing goes out until one starts.</Empty>
      ) : null}
      {data && data.processes.length > 0 ? (
        <Table
          label="Processes alive"
          columns={COLUMNS}
          rows={data.processes}
          keyOf={({ id }) => id}
        />
      ) : null}
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
