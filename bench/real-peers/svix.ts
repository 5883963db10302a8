// Svix, one process: tasks in Redis, rows in PostgreSQL. Pools as they were fastest when tried (20, 50, 100).

import { randomBytes } from 'node:crypto'
import { freePort } from '../harness/ports.ts'
import { endpointPath, type System } from '../harness/system.ts'
import { Binary, callJson, runBinary } from './binary.ts'
import { Parts } from './parts.ts'

export function svix(path: string): System {
  return {
    name: 'Svix',
    // The row is on disk before the 2xx; the task that sends it is so only once a second.
    durability: 'fsync each second',
    underWayMax: 1_000,
    start: (options) =>
      Parts.start({ hasRabbit: false }, async (parts) => {
        const port = await freePort()
        const env = {
          SVIX_LISTEN_ADDRESS: `127.0.0.1:${port}`,
          SVIX_DB_DSN: parts.database.url,
          SVIX_REDIS_DSN: `redis://127.0.0.1:${parts.redis.port}`,
          SVIX_JWT_SECRET: randomBytes(24).toString('hex'),
          SVIX_QUEUE_TYPE: 'redis',
          SVIX_CACHE_TYPE: 'memory',
          SVIX_DB_POOL_MAX_SIZE: '50',
          SVIX_REDIS_POOL_MAX_SIZE: '100',
          SVIX_WORKER_MAX_TASKS: '500',
          SVIX_WHITELIST_SUBNETS: '["127.0.0.0/8"]',
          RUST_LOG: 'warn',
        }
        const service = parts.add(new Binary(path, ['--run-migrations'], env, parts.dir))
        const baseUrl = `http://127.0.0.1:${port}`
        await service.untilAnswers(`${baseUrl}/api/v1/health/`)
        const printed = await runBinary(path, ['jwt', 'generate'], env, parts.dir)
        const operatorKey = printed.trim().split(' ').at(-1) as string
        const accountIds: string[] = []
        for (let number = 0; number < options.endpoints; number++) {
          const { id } = await callJson<{ id: string }>(
            'POST',
            `${baseUrl}/api/v1/app/`,
            operatorKey,
            {
              name: `account ${number}`,
            },
          )
          await callJson('POST', `${baseUrl}/api/v1/app/${id}/endpoint/`, operatorKey, {
            url: options.receiverUrl + endpointPath(number),
          })
          accountIds.push(id)
        }
        return { baseUrl, operatorKey, accountIds, dialect: 'svix' }
      }),
  }
}
