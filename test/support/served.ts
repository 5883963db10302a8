// `paybell serve` as production runs it: a real process on a database of the tests' own server, with only
// the settings that a test gives it.

import { randomBytes } from 'node:crypto'
import { type CommandOptions, type Started, startCommand } from './command-line.ts'
import type { TestDatabase } from './database.ts'
import type { Owner } from './owner.ts'
import { until } from './until.ts'

export const SERVED_OPERATOR_KEY = 'kQ3vX9mT7wZ2rB5nY8cL4hJ6sD1fG0pA'

/** Starts it and waits for nothing. By default it does not drain before it stops. */
export function startServe(
  t: Owner,
  database: Pick<TestDatabase, 'url'>,
  env: CommandOptions['env'] = {},
  options: readonly string[] = [],
): Started {
  return startCommand(t, ['serve', ...options], {
    env: {
      PORT: '0',
      DATABASE_URL: database.url,
      PAYBELL_MASTER_KEY: randomBytes(32).toString('base64'),
      PAYBELL_OPERATOR_KEY: SERVED_OPERATOR_KEY,
      PAYBELL_DRAIN_SECONDS: '0',
      ...env,
    },
  })
}

/** Where it listens, once it is ready. */
export async function untilServed(served: Started): Promise<string> {
  const [, baseUrl] = await served.hasPrinted(/"baseUrl":"([^"]+)","msg":"paybell\.ready"/)
  return baseUrl as string
}

export interface ServedLine {
  msg: string
  pid: number
  process?: number
  baseUrl?: string
  /** Of Kafka. */
  partitions?: readonly number[]
}

export function linesOf(served: Started, msg: string): readonly ServedLine[] {
  return served
    .stdout()
    .split('\n')
    .filter((line) => line.includes(`"msg":"${msg}"`))
    .map((line) => JSON.parse(line) as ServedLine)
}

/** The children that have become ready so far, oldest first. */
export async function untilReady(served: Started, count: number): Promise<readonly ServedLine[]> {
  return until(`${count} have become ready`, () => {
    const ready = linesOf(served, 'paybell.ready')
    return ready.length >= count && ready
  })
}
