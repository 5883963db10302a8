// Outpost, all three services in one process: RabbitMQ carries, Redis knows the destinations, PostgreSQL keeps
// the log. 64 deliveries at a time (one is its default; 256 was slower when tried).

import { randomBytes } from 'node:crypto'
import { dirname, join } from 'node:path'
import { freePort } from '../harness/ports.ts'
import { endpointPath, type System } from '../harness/system.ts'
import { Binary, callJson, runBinary } from './binary.ts'
import { Parts } from './parts.ts'

/** `path` is outpost-server; `outpost`, which migrates, lies beside it. */
export function outpost(path: string): System {
  return {
    name: 'Outpost',
    durability: 'fsync before 2xx',
    underWayMax: 1_000,
    start: (options) =>
      Parts.start({ hasRabbit: true }, async (parts) => {
        const port = await freePort()
        const operatorKey = randomBytes(16).toString('hex')
        const env = {
          API_PORT: String(port),
          API_KEY: operatorKey,
          API_JWT_SECRET: randomBytes(16).toString('hex'),
          AES_ENCRYPTION_SECRET: randomBytes(16).toString('hex'),
          TOPICS: 'payment',
          REDIS_HOST: '127.0.0.1',
          REDIS_PORT: String(parts.redis.port),
          POSTGRES_URL: parts.plainUrl,
          RABBITMQ_SERVER_URL: parts.rabbit?.url ?? '',
          DELIVERY_MAX_CONCURRENCY: '64',
          LOG_BATCH_SIZE: '1000',
          LOG_BATCH_THRESHOLD_SECONDS: '1',
          LOG_LEVEL: 'error',
          DISABLE_TELEMETRY: 'true',
        }
        await runBinary(
          join(dirname(path), 'outpost'),
          ['migrate', 'apply', '--yes'],
          env,
          parts.dir,
        )
        const service = parts.add(new Binary(path, [], env, parts.dir))
        const baseUrl = `http://127.0.0.1:${port}`
        await service.untilAnswers(`${baseUrl}/api/v1/healthz`)
        const accountIds: string[] = []
        for (let number = 0; number < options.endpoints; number++) {
          const tenant = `tenant-${number}`
          const at = `${baseUrl}/api/v1/tenants/${tenant}`
          await callJson('PUT', at, operatorKey, {})
          await callJson('POST', `${at}/destinations`, operatorKey, {
            type: 'webhook',
            topics: ['payment'],
            config: { url: options.receiverUrl + endpointPath(number) },
          })
          accountIds.push(tenant)
        }
        return { baseUrl, operatorKey, accountIds, dialect: 'outpost' }
      }),
  }
}
