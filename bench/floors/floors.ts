// Runs the floors. They are measured in the same run as the service, because only their ratio to it
// says anything.

import { randomBytes } from 'node:crypto'
import { Child } from '../harness/child.ts'
import { cpuSeconds, machineTimes } from '../harness/cpu.ts'
import { BenchDatabase } from '../harness/database.ts'
import type { Stage } from '../harness/stage.ts'
import { percentiles } from '../harness/statistics.ts'
import { preparePaybell } from '../paybell/prepare.ts'
import type { LoopFigure } from './cpu-loops.ts'
import type { Timed } from './disk.ts'
import type { RawPosted, RawPostOptions } from './raw-post.ts'
import type { BatchFigures } from './statements.ts'

export interface RawSlice {
  perSecond: number
  /** CPU-seconds per 1,000 of the sender, and of the receiver. */
  cpu: { service: number; receiver: number }
  missing: number
  stealShare: number
}

const CONNECTIONS = 64

function startFloors(): Child {
  return new Child(new URL('./process.ts', import.meta.url))
}

/** One slice of POSTing without a store; `kind` says through what. */
export async function measureRawPost(
  stage: Stage,
  kind: 'rawDispatch' | 'rawClient',
  seconds: number,
): Promise<RawSlice> {
  await stage.receiver.call('forget')
  const child = startFloors()
  try {
    const options: RawPostOptions = {
      url: `${stage.receiverUrl}/e/0`,
      connections: CONNECTIONS,
      underWay: 2 * CONNECTIONS,
      seed: 'raw',
      seconds: Math.min(1.5, seconds / 2),
      firstNumber: 0,
    }
    const warmUp = await child.call<RawPosted>(kind, options)
    await stage.receiver.call('forget')
    const machine = machineTimes()
    const before = [cpuSeconds(child.pid), cpuSeconds(stage.receiver.pid)] as const
    const firstNumber = warmUp.sent
    const posted = await child.call<RawPosted>(kind, { ...options, seconds, firstNumber })
    const after = [cpuSeconds(child.pid), cpuSeconds(stage.receiver.pid)] as const
    const machineAfter = machineTimes()
    const { unique } = await stage.receiver.call<{ unique: number }>('counts')
    return {
      perSecond: posted.sent / posted.seconds,
      cpu: {
        service: ((after[0] - before[0]) / posted.sent) * 1_000,
        receiver: ((after[1] - before[1]) / posted.sent) * 1_000,
      },
      missing: posted.sent - unique + posted.failed,
      stealShare: (machineAfter.steal - machine.steal) / (machineAfter.total - machine.total),
    }
  } finally {
    await child.stop()
  }
}

export interface StoreFloors {
  flush: Timed
  commit: Timed
  /** One POST after the other. */
  postMedianMs: number
  batches: BatchFigures[]
  statementsOnly: { perSecond: number; cpuPer1000: { service: number; store: number } }
  loops: LoopFigure[]
  hello: { perSecond: number }
  receiverAlone: { perSecond: number }
}

export async function measureStoreFloors(stage: Stage, seconds: number): Promise<StoreFloors> {
  const database = await BenchDatabase.start()
  const child = startFloors()
  try {
    const prepared = await preparePaybell({
      databaseUrl: database.url,
      masterKey: randomBytes(32),
      receiverUrl: stage.receiverUrl,
      endpoints: 20,
    })
    const { accountIds } = prepared
    const flush = await child.call<Timed>('flushLoop', database.dir, seconds)
    const commit = await child.call<Timed>('commitLoop', database.url, seconds)
    const post = await child.call<RawPosted>('rawClient', {
      ...{ url: `${stage.receiverUrl}/e/0`, seed: 'raw', connections: 1, underWay: 1 },
      ...{ seconds, firstNumber: 0 },
    })
    const statements = { databaseUrl: database.url, accountIds }
    const batches = await child.call<BatchFigures[]>(
      'batchSizes',
      { ...statements, seed: 'sizes', seconds: seconds / 2 },
      [1, 10, 100, 500],
    )
    await database.checkpoint()
    const only = await measureStatements(child, database, { ...statements, seed: 'only', seconds })
    const loops = await child.call<LoopFigure[]>('cpuLoops')
    return {
      flush,
      commit,
      postMedianMs: percentiles(post.latenciesMs).p50,
      batches,
      statementsOnly: only,
      loops,
      hello: await measureHello(stage, seconds),
      receiverAlone: await repeatPost(stage, seconds),
    }
  } finally {
    await child.stop()
    await database.stop()
  }
}

async function measureStatements(
  child: Child,
  database: BenchDatabase,
  options: object,
): Promise<StoreFloors['statementsOnly']> {
  const before = [cpuSeconds(child.pid), database.cpuSeconds()] as const
  const done = await child.call<{ deliveries: number; seconds: number }>('statementsOnly', options)
  const per1000 = (after: number, from: number) => ((after - from) / done.deliveries) * 1_000
  return {
    perSecond: done.deliveries / done.seconds,
    cpuPer1000: {
      service: per1000(cpuSeconds(child.pid), before[0]),
      store: per1000(database.cpuSeconds(), before[1]),
    },
  }
}

export async function measureHello(
  stage: Stage,
  seconds: number,
  method: 'GET' | 'POST' = 'GET',
): Promise<{ perSecond: number }> {
  const child = new Child(new URL('./hello.ts', import.meta.url))
  try {
    const url = await child.call<string>('listen')
    const request = { url, method, path: '/hello', headers: [{}], concurrent: 64 }
    await stage.repeat({ ...request, seconds: seconds / 2 })
    return await stage.repeat({ ...request, seconds })
  } finally {
    await child.stop()
  }
}

async function repeatPost(stage: Stage, seconds: number): Promise<{ perSecond: number }> {
  const headers = [{ 'content-type': 'application/json' }]
  const request = { url: stage.receiverUrl, method: 'POST', path: '/e/0', headers, concurrent: 64 }
  return stage.repeat({ ...request, body: '{"strange":true}', seconds })
}
