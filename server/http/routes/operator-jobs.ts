// /operator/v1/jobs: what was asked for in bulk, and how its deliveries stand.

import { toPageRequest } from '../../core/numbered-pages.ts'
import type { Deps } from '../../operations/parts/deps.ts'
import { JobViewer } from '../../operations/view-job.ts'
import { JobDetailSchema, JobSchema, toJobDetail, toJobItem } from '../job-schema.ts'
import { pagesOf, toPageBody } from '../page.ts'
import { IdParams, OPERATOR_PROBLEMS, problemResponses, readId } from '../schemas.ts'
import type { Routes } from '../typed.ts'

const tags = ['Operator']

export function operatorJobRoutes(deps: Deps): Routes {
  const viewer = new JobViewer(deps)
  return (app) => {
    app.route({
      method: 'GET',
      url: '/jobs',
      config: { role: 'viewer' },
      schema: {
        operationId: 'listJobs',
        tags,
        summary: 'List bulk jobs, newest first',
        description:
          'Those that clients asked for, too. Jobs are kept for 30 days after they ended.',
        ...pagesOf(JobSchema, ...OPERATOR_PROBLEMS),
      },
      handler: async (request) =>
        toPageBody(await viewer.list(toPageRequest(request.query)), toJobItem),
    })

    app.route({
      method: 'GET',
      url: '/jobs/:id',
      config: { role: 'viewer' },
      schema: {
        operationId: 'getJob',
        tags,
        summary: 'See how far a job is, and how its deliveries stand',
        description:
          'The outcome may be half a second old, and older for a job of many thousands. `GET /operator/v1/deliveries?job=` lists its deliveries. Jobs are kept for 30 days after they have ended.',
        params: IdParams,
        response: { 200: JobDetailSchema, ...problemResponses(...OPERATOR_PROBLEMS, 'not-found') },
      },
      handler: async (request) => toJobDetail(await viewer.view(readId(request.params.id))),
    })
  }
}
