// `npm start` in an empty folder, until it answers: with its own PostgreSQL, made on the spot.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { NODE_FLAGS } from '../../cli/operator/node-flags.ts'
import { number } from '../report/text.ts'
import type { Scenario } from './scenario.ts'

const MAIN = fileURLToPath(new URL('../../cli/main.ts', import.meta.url))
const SECONDS_MAX = 5

export const startUp: Scenario = {
  name: 'start-up',
  async measure() {
    const dir = await mkdtemp(join(tmpdir(), 'paybell-bench-start-'))
    const startedAt = performance.now()
    const child = spawn(process.execPath, [...NODE_FLAGS, MAIN, 'sandbox'], {
      env: { PATH: process.env.PATH, PORT: '0', PAYBELL_DATA_DIR: dir },
      stdio: 'ignore',
    })
    const exit = once(child, 'exit')
    try {
      while (!(await exists(join(dir, 'sandbox.json')))) {
        if (performance.now() - startedAt > 60_000) throw new Error('not ready within 60 s')
        await delay(10)
      }
      const seconds = (performance.now() - startedAt) / 1_000
      return [
        {
          target: 10,
          name: '`npm start`, empty data directory, until ready',
          measured: `${number(seconds, 2)} s`,
          against: `${SECONDS_MAX} s`,
          ratio: seconds / SECONDS_MAX,
          wanted: '≤ 1',
          isMet: seconds <= SECONDS_MAX,
          detail: '',
          latencies: [],
        },
      ]
    } finally {
      child.kill('SIGTERM')
      await exit
      await rm(dir, { recursive: true, force: true, maxRetries: 5 })
    }
  },
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
