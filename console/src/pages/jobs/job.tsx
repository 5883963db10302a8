// One bulk job: how far it is, how its deliveries stand now, and at which endpoints.

import { useRead } from '../../api/hooks.ts'
import type { JobDetail } from '../../api/types.ts'
import { State } from '../../ui/basics/badge.tsx'
import { Id } from '../../ui/basics/copy.tsx'
import { Link } from '../../ui/basics/link.tsx'
import { Loading, Problem } from '../../ui/basics/messages.tsx'
import { Facts, PageHead, Panel } from '../../ui/basics/page.tsx'
import { toCountText } from '../../ui/lists/numbers.ts'
import { Time } from '../../ui/times/time.tsx'
import type { PageProps } from '../page-props.ts'
import { ByEndpoint } from './by-endpoint.tsx'
import { JOB_NAMES } from './names.ts'

export default function JobPage({ params }: PageProps) {
  // Its deliveries go on after the job itself has ended.
  const { data, error } = useRead<JobDetail>(
    `/operator/v1/jobs/${encodeURIComponent(params.id ?? '')}`,
    { everyMs: 2_000 },
  )
  return (
    <>
      <PageHead title={data ? JOB_NAMES[data.kind] : 'Job'} above={<Link to="/jobs">Jobs</Link>}>
        {data ? <State of={data.state} /> : null}
      </PageHead>
      {error ? <Problem problem={error} /> : null}
      {data === undefined && !error ? <Loading /> : null}
      {data ? (
        <>
          <Outcome job={data} />
          <Progress job={data} />
          <Panel title="By endpoint" isFlush>
            <ByEndpoint endpoints={data.endpoints} moreEndpoints={data.moreEndpoints} />
          </Panel>
        </>
      ) : null}
    </>
  )
}

function Outcome({ job: { id, outcome } }: { job: JobDetail }) {
  return (
    <Panel
      title="Delivery status"
      aside={<Link to={`/deliveries?job=${id}`}>Show its deliveries</Link>}
    >
      <Facts
        of={[
          ['Delivered', <Counted key="delivered" count={outcome.delivered} />],
          [
            'Queued',
            <Counted key="queued" count={outcome.queued} note="their next attempt has a time" />,
          ],
          [
            'Waiting',
            <Counted
              key="waiting"
              count={outcome.waiting}
              note="their endpoint is down, paused or disabled"
            />,
          ],
          ['Failed', <Counted key="failed" count={outcome.failed} note="given up after 7 days" />],
          ['Cancelled', <Counted key="cancelled" count={outcome.cancelled} />],
        ]}
      />
    </Panel>
  )
}

/** What a number means is said where there is one. */
function Counted({ count, note }: { count: number; note?: string }) {
  return (
    <>
      {toCountText(count)}
      {note !== undefined && count > 0 ? <span className="muted"> {note}</span> : null}
    </>
  )
}

function Progress({ job }: { job: JobDetail }) {
  const { total, done, passedOver } = job
  return (
    <Panel title="Job">
      <Facts
        of={[
          ['Id', <Id key="id" value={job.id} />],
          ['Processed', `${toCountText(done)} of ${toCountText(total)}`],
          ...(passedOver > 0
            ? [['Skipped, had changed in the meantime', toCountText(passedOver)] as const]
            : []),
          ['Started', <Time key="started" at={job.startedAt} />],
          ['Ended', <Time key="ended" at={job.finishedAt} />],
        ]}
      />
    </Panel>
  )
}
