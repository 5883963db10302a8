// graphile-worker: one job per call, as it comes; and tuned as its performance page says (jobs added
// in batches, a local queue of 500, completion in batches).

import { AttemptRows } from './attempt-rows.ts'
import { importPeer, type Job, type Peer, type PeerContext, SENDING_MAX } from './peer.ts'

interface Utils {
  addJob(identifier: string, payload: unknown): Promise<unknown>
  addJobs(specs: readonly { identifier: string; payload: unknown }[]): Promise<unknown>
  release(): Promise<void>
}

interface Package {
  run(options: object): Promise<{ stop(): Promise<void> }>
  makeWorkerUtils(options: object): Promise<Utils>
  Logger: new (factory: () => () => void) => unknown
}

const CONNECTIONS = 20

export async function startGraphileWorker(
  context: PeerContext,
  { isTuned }: { isTuned: boolean },
): Promise<Peer> {
  const { run, makeWorkerUtils, Logger } = await importPeer<Package>('graphile-worker')
  const databaseUrl = context.databaseUrl as string
  const attempts = new AttemptRows(databaseUrl, { isGathering: isTuned, connections: 8 })
  await attempts.prepare()
  const logger = new Logger(() => () => {})
  const worker = await run({
    preset: {
      worker: {
        connectionString: databaseUrl,
        maxPoolSize: CONNECTIONS,
        concurrentJobs: SENDING_MAX,
        pollInterval: 100,
        logger,
        ...(isTuned
          ? { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 }
          : {}),
      },
    },
    taskList: {
      deliver: async (payload: unknown) => {
        const job = payload as Job
        const status = await context.deliver(job)
        await attempts.write({ ...job, status })
      },
    },
  })
  const utils = await makeWorkerUtils({
    preset: { worker: { connectionString: databaseUrl, maxPoolSize: 10, logger } },
  })
  return {
    async add(job) {
      await utils.addJob('deliver', job)
    },
    async addMany(jobs) {
      if (isTuned) {
        await utils.addJobs(jobs.map((payload) => ({ identifier: 'deliver', payload })))
      } else await Promise.all(jobs.map((job) => utils.addJob('deliver', job)))
    },
    async isSettled() {
      const { rows } = await attempts.pool.query(
        'select 1 from graphile_worker._private_jobs limit 1',
      )
      return rows.length === 0
    },
    async stop() {
      await worker.stop()
      await utils.release()
      await attempts.close()
    },
  }
}
