// The progress of a job.

import { findJob, type Job } from '../store/jobs.ts'
import type { Deps } from './parts/deps.ts'
import { notFound } from './parts/failures.ts'

export type { Job }

export async function viewJob(deps: Deps, jobId: string): Promise<Job> {
  const job = await findJob(deps.pool, jobId)
  if (job === null) throw notFound()
  return job
}
