// `paybell jobs …`: what was asked for in bulk, and how its deliveries stand.

import type { Command } from 'commander'
import type { Job, JobDetail } from '../../sdk/src/internal/operator-types.ts'
import { type Call, calling, family, operatorCommand } from '../basics/command.ts'
import { type PageOptions, showPage, withPage } from '../basics/lists.ts'
import { id } from '../basics/parse.ts'
import { formatTime } from '../basics/terminal.ts'

const PATH = '/operator/v1/jobs'
const JOB = '01a1dd3c-7a52-7c1e-9d0b-3f6a1c2b4d5e'

export function jobsCommand(): Command {
  return family('jobs', 'List bulk jobs, and show the state of their deliveries.', [list(), show()])
}

function list(): Command {
  return withPage(
    operatorCommand('list', 'List bulk jobs, newest first.', ['paybell jobs list']),
  ).action(
    calling(async (call: Call<PageOptions>) => {
      const { page, size } = call.options
      showPage<Job>(
        call,
        await (await call.operator()).get(PATH, { page, size }),
        [
          { title: 'JOB', of: (job) => job.id },
          { title: 'KIND', of: ({ kind }) => kind },
          { title: 'STATE', of: ({ state }) => state, isState: true },
          { title: 'DONE', of: ({ done, total }) => `${done} of ${total}`, right: true },
          { title: 'STARTED', of: ({ startedAt }) => formatTime(startedAt) },
          { title: 'FINISHED', of: ({ finishedAt }) => formatTime(finishedAt) },
        ],
        'There are no jobs. They are kept for 30 days.',
      )
    }),
  )
}

function show(): Command {
  return operatorCommand('show', 'See how far a job is, and how its deliveries stand now.', [
    `paybell jobs show ${JOB}`,
  ])
    .argument('<job>', 'id of the job', id)
    .action(
      calling(async (call: Call, jobId: string) => {
        const answer = await (await call.operator()).get(`${PATH}/${jobId}`)
        call.answer<JobDetail>(answer, (job) => showJob(call, job))
      }),
    )
}

function showJob(call: Call, job: JobDetail): void {
  const { outcome } = job
  call.fields([
    ['Job', job.id],
    ['Kind', job.kind],
    ['State', job.state],
    ['Done', `${job.done} of ${job.total}, ${job.passedOver} had moved on by themselves`],
    ['Started', formatTime(job.startedAt)],
    ['Finished', formatTime(job.finishedAt)],
    ['Queued', outcome.queued],
    ['Waiting', outcome.waiting],
    ['Delivered', outcome.delivered],
    ['Failed', outcome.failed],
    ['Cancelled', outcome.cancelled],
  ])
  call.print('')
  call.table(
    [
      { title: 'ENDPOINT', of: ({ endpointId }) => endpointId },
      { title: 'STATUS', of: ({ status }) => status, isState: true },
      { title: 'DELIVERIES', of: ({ count }) => count, right: true },
      { title: 'CLIENT', of: ({ clientName }) => clientName },
      { title: 'ADDRESS', of: ({ endpointUrl }) => endpointUrl },
    ],
    job.endpoints,
    'It was about no delivery.',
  )
  if (job.moreEndpoints > 0) call.note(`And ${job.moreEndpoints} endpoints more.`)
  call.note(`Its deliveries: paybell deliveries list --job ${job.id}`)
}
