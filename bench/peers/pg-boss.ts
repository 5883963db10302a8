// pg-boss: one job per call; and with its batch interface (insert, fetch and complete of many).
// Both fetch in a loop of their own: its `work` polls every two seconds by default.

import { setTimeout as delay } from 'node:timers/promises'
import { AttemptRows } from './attempt-rows.ts'
import { importPeer, type Job, type Peer, type PeerContext, SENDING_MAX } from './peer.ts'

interface FetchedJob {
  id: string
  data: Job
}

interface Boss {
  on(event: 'error', listener: () => void): void
  start(): Promise<unknown>
  createQueue(name: string, options: object): Promise<unknown>
  send(name: string, data: object): Promise<unknown>
  insert(name: string, jobs: readonly { data: object }[]): Promise<unknown>
  fetch(name: string, options: { batchSize: number }): Promise<FetchedJob[]>
  complete(name: string, ids: string | readonly string[]): Promise<unknown>
  fail(name: string, ids: string | readonly string[]): Promise<unknown>
  stop(options: object): Promise<void>
}

interface Package {
  PgBoss: new (options: object) => Boss
}

const QUEUE = 'deliveries'
const IDLE_MS = 10
const BATCH = 500

export async function startPgBoss(
  context: PeerContext,
  { isBatching }: { isBatching: boolean },
): Promise<Peer> {
  const { PgBoss } = await importPeer<Package>('pg-boss')
  const databaseUrl = context.databaseUrl as string
  const attempts = new AttemptRows(databaseUrl, { isGathering: isBatching, connections: 8 })
  await attempts.prepare()
  const boss = new PgBoss({ connectionString: databaseUrl, max: 20 })
  boss.on('error', () => {})
  await boss.start()
  await boss.createQueue(QUEUE, { retryLimit: 20, retryBackoff: true, retryDelay: 5 })

  let isRunning = true
  const handle = async (job: FetchedJob): Promise<boolean> => {
    try {
      const status = await context.deliver(job.data)
      await attempts.write({ ...job.data, status })
      return true
    } catch {
      return false
    }
  }
  const loop = async (batchSize: number) => {
    while (isRunning) {
      const jobs = await boss.fetch(QUEUE, { batchSize })
      if (jobs.length === 0) {
        await delay(IDLE_MS)
        continue
      }
      const done = await Promise.all(jobs.map(handle))
      const completed = jobs.filter((_, index) => done[index]).map((job) => job.id)
      const failed = jobs.filter((_, index) => !done[index]).map((job) => job.id)
      if (completed.length > 0)
        await boss.complete(QUEUE, isBatching ? completed : (completed[0] as string))
      if (failed.length > 0) await boss.fail(QUEUE, failed)
    }
  }
  const loops = isBatching
    ? Array.from({ length: 3 }, () => loop(BATCH))
    : Array.from({ length: SENDING_MAX / 4 }, () => loop(1))
  return {
    async add(job) {
      await boss.send(QUEUE, job)
    },
    async addMany(jobs) {
      if (isBatching)
        await boss.insert(
          QUEUE,
          jobs.map((data) => ({ data })),
        )
      else await Promise.all(jobs.map((job) => boss.send(QUEUE, job)))
    },
    async isSettled() {
      const { rows } = await attempts.pool.query(
        `select 1 from pgboss.job where name = $1 and state < 'completed' limit 1`,
        [QUEUE],
      )
      return rows.length === 0
    },
    async stop() {
      isRunning = false
      await Promise.all(loops)
      await boss.stop({ graceful: false })
      await attempts.close()
    },
  }
}
