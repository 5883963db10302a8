// What was asked for in bulk, the newest first.

import { useRead } from '../../api/hooks.ts'
import type { Job, Page } from '../../api/types.ts'
import { toQuery, useLocation } from '../../router.ts'
import { State } from '../../ui/basics/badge.tsx'
import { Link } from '../../ui/basics/link.tsx'
import { Empty, Loading, Problem } from '../../ui/basics/messages.tsx'
import { PageHead, Panel } from '../../ui/basics/page.tsx'
import { toCountText } from '../../ui/lists/numbers.ts'
import { Pages } from '../../ui/lists/pages.tsx'
import { type Column, Table } from '../../ui/lists/table.tsx'
import { Time } from '../../ui/times/time.tsx'
import { JOB_NAMES } from './names.ts'

const COLUMNS: readonly Column<Job>[] = [
  { head: 'Job', cell: ({ id, kind }) => <Link to={`/jobs/${id}`}>{JOB_NAMES[kind]}</Link> },
  { head: 'State', cell: ({ state }) => <State of={state} /> },
  {
    head: 'Processed',
    isNumber: true,
    cell: ({ done, total }) => `${toCountText(done)} of ${toCountText(total)}`,
  },
  { head: 'Started', cell: ({ startedAt }) => <Time at={startedAt} as="short" /> },
  { head: 'Ended', cell: ({ finishedAt }) => <Time at={finishedAt} as="short" /> },
]

export default function Jobs() {
  const { query } = useLocation()
  const { data, error, isPending } = useRead<Page<Job>>(
    `/operator/v1/jobs${toQuery({ page: query.get('page'), size: '50' })}`,
    { everyMs: 3_000, keepsLast: true },
  )
  return (
    <>
      <PageHead title="Jobs" />
      <Panel title="All jobs" isFlush>
        {error ? <Problem problem={error} /> : null}
        {isPending ? <Loading rows={12} /> : null}
        {data && data.content.length > 0 ? (
          <Table label="Jobs" columns={COLUMNS} rows={data.content} keyOf={({ id }) => id} />
        ) : null}
        {data && data.totalElements === 0 ? (
          <Empty title="No jobs yet">
            <Link to="/deliveries">Filter the deliveries</Link>, then retry, replay or cancel all
            that match: each of these is a job.
          </Empty>
        ) : null}
        {data && data.totalElements > 0 ? <Pages of={data} /> : null}
      </Panel>
    </>
  )
}
