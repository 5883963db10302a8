// The progress of a bulk retry, replay or cancel. The address names the job, so the page still shows it after a
// reload or when the address is sent to a colleague.

import { useEffect, useState } from 'react'
import { useRead, useRefresh } from '../../api/hooks.ts'
import type { Job } from '../../api/types.ts'
import { useFilters } from '../../router.ts'
import { State } from '../../ui/basics/badge.tsx'
import { Button } from '../../ui/basics/button.tsx'
import { Link } from '../../ui/basics/link.tsx'
import { Problem } from '../../ui/basics/messages.tsx'
import { toCountText } from '../../ui/lists/numbers.ts'
import { Time } from '../../ui/times/time.tsx'
import { JOB_NAMES } from '../jobs/names.ts'

export function JobStrip({ id }: { id: string }) {
  const [isOver, setOver] = useState(false)
  const refresh = useRefresh()
  const { setFilters } = useFilters()
  const job = useRead<Job>(`/operator/v1/jobs/${encodeURIComponent(id)}`, {
    ...(isOver ? {} : { everyMs: 500 }),
  })
  const isEnded = job.data !== undefined && job.data.state !== 'RUNNING'
  useEffect(() => {
    if (!isEnded) return
    setOver(true)
    refresh('/operator/v1/deliveries')
  }, [isEnded, refresh])
  if (job.error) return <Problem problem={job.error} />
  if (job.data === undefined) return null
  const { kind, state, total, done, passedOver, startedAt, finishedAt } = job.data
  return (
    <section className="panel job" aria-label={JOB_NAMES[kind]}>
      <State of={state} />
      <Link to={`/jobs/${id}`}>{JOB_NAMES[kind]}</Link>
      <progress max={Math.max(1, total)} value={done} aria-label={`${JOB_NAMES[kind]}, so far`} />
      <span role="status">
        {toCountText(done)} of {toCountText(total)}
        {passedOver > 0 ? `, ${toCountText(passedOver)} skipped, had changed in the meantime` : ''}
      </span>
      <span className="muted">
        {finishedAt === null ? 'since ' : 'ended '}
        <Time at={finishedAt ?? startedAt} as="short" />
      </span>
      <Button isSmall look="bare" onClick={() => setFilters({ job: null })}>
        Close
      </Button>
    </section>
  )
}
