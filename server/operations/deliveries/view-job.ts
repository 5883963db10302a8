// Bulk jobs: the newest first, and one with what came of its deliveries so far. Counting looks each of them up,
// up to 100,000, so the count is kept for a while, the longer the more time it took.

import type { Page, PageRequest } from '../../core/asking/numbered-pages.ts'
import { Remembered } from '../../core/plain/remembered.ts'
import {
  countJobEndpoints,
  countJobOutcome,
  type JobOutcome,
} from '../../store/history/job-deliveries.ts'
import { findJob, type Job, listJobs } from '../../store/history/jobs.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound } from '../shared/service-errors.ts'
import { type EndpointBreakdown, toBreakdown } from './endpoint-breakdown.ts'

export type { Job }

export interface JobView {
  job: Job
  outcome: JobOutcome
  breakdown: EndpointBreakdown
}

const JOBS_KEPT_MAX = 100
const KEPT_MS = 500
/** A count that took long is kept for longer, so that counting takes at most a tenth of the time. */
const KEPT_TIMES_TAKEN = 10

export class JobViewer {
  readonly #deps: Deps
  readonly #seen: Remembered<string, JobView>

  constructor(deps: Deps) {
    this.#deps = deps
    this.#seen = new Remembered({
      keysMax: JOBS_KEPT_MAX,
      expiry: {
        monotonicMs: () => deps.clock.monotonicMs(),
        ageMsMax: (tookMs) => tookMs + Math.max(KEPT_MS, KEPT_TIMES_TAKEN * tookMs),
      },
    })
  }

  list(page: PageRequest): Promise<Page<Job>> {
    return listJobs(this.#deps.pool, page)
  }

  view(jobId: string): Promise<JobView> {
    return this.#seen.get(jobId, () => this.#look(jobId))
  }

  async #look(jobId: string): Promise<JobView> {
    const { pool } = this.#deps
    const job = await findJob(pool, jobId)
    if (job === null) throw notFound()
    const outcome = await countJobOutcome(pool, jobId, job.startedAt)
    const breakdown = await toBreakdown(this.#deps, await countJobEndpoints(pool, jobId))
    return { job, outcome, breakdown }
  }
}
