// The real service as a process of its own: `paybell sandbox` on the benchmark's PostgreSQL. The
// sandbox is the same program with the same durability; production refuses addresses on loopback.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { NODE_FLAGS } from '../../cli/operator/node-flags.ts'

const MAIN = fileURLToPath(new URL('../../cli/paybell.js', import.meta.url))

export interface ServiceOptions {
  databaseUrl: string
  masterKey: Buffer
  operatorKey: string
  /** Options of node itself, for profiles. */
  nodeArguments?: readonly string[]
  env?: Readonly<Record<string, string>>
}

export class PaybellService {
  readonly pid: number
  readonly startedInMs: number
  readonly baseUrl: string
  readonly #process: ChildProcess
  readonly #exit: Promise<unknown>
  readonly #dataDir: string

  private constructor(
    child: ChildProcess,
    exit: Promise<unknown>,
    ready: { dataDir: string; baseUrl: string; startedInMs: number },
  ) {
    this.pid = child.pid as number
    this.#process = child
    this.#exit = exit
    this.#dataDir = ready.dataDir
    this.baseUrl = ready.baseUrl
    this.startedInMs = ready.startedInMs
  }

  static async start(options: ServiceOptions): Promise<PaybellService> {
    const startedAt = performance.now()
    const dataDir = await mkdtemp(join(tmpdir(), 'paybell-bench-service-'))
    const flags = [...NODE_FLAGS, ...(options.nodeArguments ?? [])]
    const child = spawn(process.execPath, [...flags, MAIN, 'sandbox'], {
      env: {
        ...inherited(),
        PORT: '0',
        PAYBELL_DATA_DIR: dataDir,
        PAYBELL_LOG_LEVEL: 'warn',
        PAYBELL_SANDBOX_SEED: 'off',
        PAYBELL_REQUESTS_PER_SECOND: '1000000',
        DATABASE_URL: options.databaseUrl,
        PAYBELL_MASTER_KEY: options.masterKey.toString('base64'),
        PAYBELL_OPERATOR_KEY: options.operatorKey,
        ...options.env,
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const exit = once(child, 'exit')
    const baseUrl = await Promise.race([
      untilReady(dataDir),
      exit.then(([code]) => Promise.reject(new Error(`the service ended with ${code}`))),
    ])
    return new PaybellService(child, exit, {
      dataDir,
      baseUrl,
      startedInMs: performance.now() - startedAt,
    })
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      this.#process.kill(signal)
      const timer = setTimeout(() => this.#process.kill('SIGKILL'), 30_000)
      await this.#exit
      clearTimeout(timer)
    }
    await rm(this.#dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Without settings that the machine of the benchmark happens to have. */
function inherited(): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(PAYBELL_|DATABASE_URL|PORT$|HOST$)/.test(name),
    ),
  )
}

async function untilReady(dataDir: string): Promise<string> {
  for (const limit = performance.now() + 60_000; performance.now() < limit; await delay(20)) {
    const text = await readFile(join(dataDir, 'sandbox.json'), 'utf8').catch(() => null)
    if (text === null) continue
    const { baseUrl } = JSON.parse(text) as { baseUrl: string }
    const ready = await fetch(`${baseUrl}/readyz`).catch(() => null)
    if (ready?.status === 200) return baseUrl
  }
  throw new Error('the service was not ready within 60 s')
}
