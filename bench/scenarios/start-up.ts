// Until it answers: `npm start` in an empty folder, with its own PostgreSQL made on the spot; and `paybell serve` on a
// database that is there, as after a crash or an update.

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { access, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { NODE_FLAGS } from '../../cli/operator/node-flags.ts'
import { migrate } from '../../server/store/schema/migrate.ts'
import { BenchDatabase } from '../harness/database.ts'
import { number } from '../report/text.ts'
import type { Scenario, ScenarioResult } from './scenario.ts'

const MAIN = fileURLToPath(new URL('../../cli/paybell.js', import.meta.url))
const SANDBOX_SECONDS_MAX = 5
const SERVE_SECONDS_MAX = 1
/** The first of them may have to compile what the others find compiled. */
const SERVES = 4
const READY_MS_MAX = 60_000

export const startUp: Scenario = {
  name: 'start-up',
  async measure() {
    const first = await startSandbox()
    const [compiling = 0, ...serves] = await startServes()
    const least = Math.min(...serves)
    return [
      result('`npm start`, empty data directory, until ready', first, SANDBOX_SECONDS_MAX),
      result(
        '`paybell serve` on an existing database, until ready',
        least,
        SERVE_SECONDS_MAX,
        `The least of ${serves.length}; the greatest ${number(Math.max(...serves), 2)} s, the one before them ${number(compiling, 2)} s.`,
      ),
    ]
  },
}

function result(name: string, seconds: number, most: number, detail = ''): ScenarioResult {
  return {
    target: 10,
    name,
    measured: `${number(seconds, 2)} s`,
    against: `${most} s`,
    ratio: seconds / most,
    wanted: '≤ 1',
    isMet: seconds <= most,
    detail,
    latencies: [],
  }
}

async function startSandbox(): Promise<number> {
  const dir = await mkdtemp(join(tmpdir(), 'paybell-bench-start-'))
  try {
    return await secondsUntil('sandbox', { PAYBELL_DATA_DIR: dir }, async () => {
      while (!(await exists(join(dir, 'sandbox.json')))) await delay(10)
    })
  } finally {
    await rm(dir, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function startServes(): Promise<number[]> {
  const database = await BenchDatabase.start()
  try {
    await migrate(database.url, new Date())
    const env = {
      DATABASE_URL: database.url,
      PAYBELL_MASTER_KEY: randomBytes(32).toString('base64'),
      PAYBELL_OPERATOR_KEY: randomBytes(32).toString('hex'),
      PAYBELL_BASE_URL: 'https://paybell.example.com',
      PAYBELL_DRAIN_SECONDS: '0',
    }
    const seconds: number[] = []
    for (let serve = 0; serve < SERVES; serve++) {
      seconds.push(
        await secondsUntil('serve', env, async (lines) => {
          for await (const chunk of lines) if (String(chunk).includes('"paybell.ready"')) return
          throw new Error('the service has ended')
        }),
      )
    }
    return seconds
  } finally {
    await database.stop()
  }
}

/** From the start of the process until `isReady` has ended; the process is gone then. */
async function secondsUntil(
  command: string,
  env: Readonly<Record<string, string>>,
  isReady: (lines: AsyncIterable<Buffer>) => Promise<void>,
): Promise<number> {
  const startedAtMs = performance.now()
  const child = spawn(process.execPath, [...NODE_FLAGS, MAIN, command], {
    env: { PATH: process.env.PATH, PORT: '0', HOST: '127.0.0.1', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exit = once(child, 'exit')
  const limit = setTimeout(() => child.kill('SIGKILL'), READY_MS_MAX)
  try {
    await Promise.race([
      isReady(child.stdout.iterator({ destroyOnReturn: false })),
      exit.then(([code]) => Promise.reject(new Error(`it ended with ${code}`))),
    ])
    return (performance.now() - startedAtMs) / 1_000
  } finally {
    clearTimeout(limit)
    // Nobody reads what else it says.
    child.stdout.resume()
    child.kill('SIGTERM')
    await exit.catch(() => {})
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
