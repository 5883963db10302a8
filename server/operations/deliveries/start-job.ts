// Begins a bulk job: finds all deliveries that match, stores them and the audit entry in one transaction,
// and works them off. Most jobs end before the answer; for the others the number is known.

import { type Db, inTransaction } from '../../store/connection/db.ts'
import {
  type Act,
  countFit,
  countFitByEndpoint,
  noteItems,
  type SelectedDelivery,
} from '../../store/history/delivery-selections.ts'
import { countRunningJobs, findJob, insertJob, type JobKind } from '../../store/history/jobs.ts'
import { findRefusedClient } from '../../store/moves/move-fence.ts'
import type { DeliveryQuery } from '../../store/sql/delivery-query.ts'
import { movingError } from '../access/move-checks.ts'
import type { Audit } from '../shared/audit-trail.ts'
import type { Deps } from '../shared/deps.ts'
import { tooBusy } from '../shared/one-at-a-time.ts'
import { type EndpointBreakdown, toBreakdown } from './endpoint-breakdown.ts'
import type { JobAsker, JobRunner } from './job-runner.ts'
import { selectDeliveries } from './select-deliveries.ts'

export interface JobDeps extends Deps {
  jobs: JobRunner
}

/** Jobs about deliveries that are there. */
type SelectingKind = Exclude<JobKind, 'replay-missing'>

export interface JobRequest {
  kind: SelectingKind
  asker: JobAsker
  /** Null when nothing can match. */
  query: DeliveryQuery | null
}

export interface StartedJob {
  jobId: string
  /** How many deliveries it changes. */
  count: number
}

/** Of all processes. The last places are the operator's: clients may have filled the others. */
const RUNNING_JOBS_MAX = { clients: 40, operator: 50 }
/** For a job that has ended by then, the answer counts what it has really done. */
const ANSWER_AFTER_MS = 2_000

/** How many deliveries would be changed now. */
export function previewJob(deps: JobDeps, { kind, asker, query }: JobRequest): Promise<number> {
  return deps.jobs.oneAtATime(asker, async () =>
    countFit(deps.pool, actOf(kind), await select(deps, query)),
  )
}

/** The same, by endpoint, the most first. */
export function previewJobByEndpoint(
  deps: JobDeps,
  { kind, asker, query }: JobRequest,
): Promise<EndpointBreakdown> {
  return deps.jobs.oneAtATime(asker, async () => {
    const counts = await countFitByEndpoint(deps.pool, actOf(kind), await select(deps, query))
    return toBreakdown(deps, counts)
  })
}

export function startJob(
  deps: JobDeps,
  { kind, asker, query }: JobRequest,
  audit: Audit,
): Promise<StartedJob> {
  return beginJob(deps, { kind, asker }, audit, async () => {
    const selected = await select(deps, query)
    return (db, jobId) => noteItems(db, jobId, actOf(kind), selected)
  })
}

/** Notes what a job has to deal with, in the transaction that begins it; returns how many that are. */
type Note = (db: Db, jobId: string) => Promise<number>

/** `prepare` finds what the job is about, before the transaction. */
export async function beginJob(
  deps: JobDeps,
  { kind, asker }: { kind: JobKind; asker: JobAsker },
  audit: Audit,
  prepare: () => Promise<Note>,
): Promise<StartedJob> {
  const jobId = deps.newId()
  const total = await deps.jobs.oneAtATime(asker, async () => {
    const max = RUNNING_JOBS_MAX[asker === 'operator' ? asker : 'clients']
    if ((await countRunningJobs(deps.pool)) >= max) throw tooBusy()
    return insert(deps, { id: jobId, kind }, await prepare(), audit)
  })
  if (total === 0) return { jobId, count: 0 }
  await Promise.race([deps.jobs.run(jobId), delay(ANSWER_AFTER_MS)])
  const job = await findJob(deps.pool, jobId)
  // If it has ended: without the deliveries that had moved on by themselves before it reached them.
  return { jobId, count: job?.state === 'DONE' ? job.total - job.passedOver : total }
}

async function select(
  deps: Deps,
  query: DeliveryQuery | null,
): Promise<readonly SelectedDelivery[]> {
  return query === null ? [] : selectDeliveries(deps, query)
}

function insert(
  deps: JobDeps,
  job: { id: string; kind: JobKind },
  note: Note,
  audit: Audit,
): Promise<number> {
  return inTransaction(deps.pool, async (db) => {
    const total = await note(db, job.id)
    await insertJob(db, { ...job, total }, deps.jobs.hold())
    const change = { field: 'deliveries', before: null, after: String(total) }
    await audit(db, `job:${job.id}`, [change])
    return total
  }).catch((error: unknown) => {
    // A job may be about many clients: because one of them moves, it is not to be sent on to another cell.
    throw findRefusedClient(error) === null ? error : movingError()
  })
}

function actOf(kind: SelectingKind): Act {
  return kind === 'recover' ? 'replay' : kind
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref()
  })
}
