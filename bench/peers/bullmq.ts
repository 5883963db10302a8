// BullMQ on Redis. The attempt's record is the job's return value, kept with the completed job. How
// durable it is depends on Redis alone, so the row says how that was started.

import { importPeer, type Job, type Peer, type PeerContext, SENDING_MAX } from './peer.ts'

interface Queue {
  add(name: string, data: Job, options: object): Promise<unknown>
  addBulk(jobs: readonly { name: string; data: Job; opts: object }[]): Promise<unknown>
  getJobCounts(...states: string[]): Promise<Record<string, number>>
  close(): Promise<void>
}

interface Worker {
  on(event: 'error', listener: () => void): void
  close(): Promise<void>
}

interface Package {
  Queue: new (name: string, options: object) => Queue
  Worker: new (
    name: string,
    handler: (job: { data: Job }) => Promise<unknown>,
    options: object,
  ) => Worker
}

const QUEUE = 'deliveries'
const OPTIONS = {
  attempts: 20,
  backoff: { type: 'exponential', delay: 5_000 },
  removeOnComplete: false,
}

export async function startBullmq(context: PeerContext): Promise<Peer> {
  const { Queue, Worker } = await importPeer<Package>('bullmq')
  const connection = { host: '127.0.0.1', port: context.redisPort, maxRetriesPerRequest: null }
  const queue = new Queue(QUEUE, { connection })
  const worker = new Worker(
    QUEUE,
    async ({ data }) => ({ status: await context.deliver(data), atMs: Date.now() }),
    { connection, concurrency: SENDING_MAX },
  )
  worker.on('error', () => {})
  return {
    async add(job) {
      await queue.add('deliver', job, OPTIONS)
    },
    async addMany(jobs) {
      await queue.addBulk(jobs.map((data) => ({ name: 'deliver', data, opts: OPTIONS })))
    },
    async isSettled() {
      const counts = await queue.getJobCounts('waiting', 'active', 'delayed', 'prioritized')
      return Object.values(counts).every((count) => count === 0)
    },
    async stop() {
      await worker.close()
      await queue.close()
    },
  }
}
