// /operator/v1/jobs: what was asked for in bulk, and how its deliveries stand.

import { toPageRequest } from '../../../core/asking/numbered-pages.ts'
import { JobViewer } from '../../../operations/deliveries/view-job.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import type { Routes } from '../../basics/typed.ts'
import { answer, forOperators } from '../../schemas/calls.ts'
import { JobDetailSchema, JobSchema, toJobDetail, toJobItem } from '../../schemas/job-schema.ts'
import { pagesOf, toPageBody } from '../../schemas/page.ts'
import { IdParams, readId } from '../../schemas/schemas.ts'

export function operatorJobRoutes(deps: Deps): Routes {
  const viewer = new JobViewer(deps)
  return (app) => {
    app.route({
      method: 'GET',
      url: '/jobs',
      ...forOperators('viewer', {
        operationId: 'listJobs',
        summary: 'List bulk jobs, newest first',
        description:
          'Those that clients asked for, too. Jobs are kept for 30 days after they ended.',
        ...pagesOf(JobSchema, 'One page, the newest first.'),
      }),
      handler: async (request) =>
        toPageBody(await viewer.list(toPageRequest(request.query)), toJobItem),
    })

    app.route({
      method: 'GET',
      url: '/jobs/:id',
      ...forOperators('viewer', {
        operationId: 'getJob',
        summary: 'See how far a job is, and how its deliveries stand',
        description:
          'The outcome may be half a second old, and older for a job of many thousands. `GET /operator/v1/deliveries?job=` lists its deliveries. Jobs are kept for 30 days after they have ended.',
        params: IdParams,
        answers: { 200: answer('How far the job is.', JobDetailSchema) },
      }),
      handler: async (request) => toJobDetail(await viewer.view(readId(request.params.id))),
    })
  }
}
