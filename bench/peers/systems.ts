// The peers as systems under test: each a process of its own, on a fresh PostgreSQL or Redis.

import { randomBytes, randomUUID } from 'node:crypto'
import { Child } from '../harness/child.ts'
import { cpuSeconds } from '../harness/cpu.ts'
import { BenchDatabase } from '../harness/database.ts'
import {
  type Durability,
  endpointPath,
  type RunningSystem,
  type System,
  type SystemOptions,
} from '../harness/system.ts'
import { type Fsync, Redis } from './redis.ts'
import type { ServeOptions } from './serve.ts'

interface PeerKind {
  peer: string
  /** Kept in Redis, flushed like this; otherwise in PostgreSQL. */
  redis?: Fsync
}

function peerSystem(name: string, kind: PeerKind, underWayMax?: number): System {
  const durability: Durability =
    kind.redis === 'everysec' ? 'fsync each second' : 'fsync before 2xx'
  const start = (options: SystemOptions) => startPeer(kind, options)
  return { name, durability, start, ...(underWayMax === undefined ? {} : { underWayMax }) }
}

async function startPeer(kind: PeerKind, options: SystemOptions): Promise<RunningSystem> {
  const redis = kind.redis === undefined ? null : await Redis.start(kind.redis)
  const database = redis === null ? await BenchDatabase.start() : null
  const child = new Child(new URL('./serve.ts', import.meta.url))
  const stop = async () => {
    await child.stop()
    await redis?.stop()
    await database?.stop()
  }
  try {
    const operatorKey = randomBytes(32).toString('hex')
    const accountIds = Array.from({ length: options.endpoints }, () => randomUUID())
    const serveOptions: ServeOptions = {
      peer: kind.peer,
      operatorKey,
      databaseUrl: database?.url ?? null,
      redisPort: redis?.port ?? 0,
      urls: Object.fromEntries(
        accountIds.map((id, number) => [id, options.receiverUrl + endpointPath(number)]),
      ),
    }
    const baseUrl = await child.call<string>('serve', serveOptions)
    return {
      baseUrl,
      operatorKey,
      accountIds,
      pids: [child.pid],
      database,
      cpuSeconds: () => ({
        service: cpuSeconds(child.pid),
        store: database?.cpuSeconds() ?? redis?.cpuSeconds() ?? 0,
      }),
      isSettled: () => child.call('isSettled'),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

export const POSTGRES_PEERS: readonly System[] = [
  peerSystem('graphile-worker, tuned', { peer: 'graphile-worker-tuned' }),
  peerSystem('graphile-worker, default', { peer: 'graphile-worker' }, 1_000),
  peerSystem('pg-boss, batch', { peer: 'pg-boss-batch' }),
  peerSystem('pg-boss, default', { peer: 'pg-boss' }, 1_000),
  peerSystem('naive SKIP LOCKED', { peer: 'naive' }, 1_000),
]

export const REDIS_PEERS: readonly System[] = [
  peerSystem('BullMQ, appendfsync always', { peer: 'bullmq', redis: 'always' }),
  peerSystem('BullMQ, appendfsync everysec', { peer: 'bullmq', redis: 'everysec' }),
]
