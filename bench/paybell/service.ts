// The real service as a process of its own: `paybell sandbox` on the benchmark's PostgreSQL. The
// sandbox is the same program with the same durability; production refuses addresses on loopback, unless it is
// told to allow them, and then only https. So `paybell serve` needs a receiver with TLS.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { NODE_FLAGS } from '../../cli/operator/node-flags.ts'
import { freePort } from '../harness/ports.ts'
import { TLS } from '../harness/stage.ts'

const MAIN = fileURLToPath(new URL('../../cli/paybell.js', import.meta.url))

export interface ServiceOptions {
  databaseUrl: string
  masterKey: Buffer
  operatorKey: string
  /** Options of node itself, for profiles. */
  nodeArguments?: readonly string[]
  env?: Readonly<Record<string, string>>
  /** `paybell serve` with so many processes under one parent; with 1 there is no parent. Left out: the sandbox. */
  siblings?: number | undefined
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
    const port = options.siblings === undefined ? 0 : await freePort()
    const child = spawn(process.execPath, [...flags, MAIN, ...commandOf(options)], {
      env: {
        ...inherited(),
        PORT: `${port}`,
        PAYBELL_LOG_LEVEL: 'warn',
        PAYBELL_REQUESTS_PER_SECOND: '1000000',
        DATABASE_URL: options.databaseUrl,
        PAYBELL_MASTER_KEY: options.masterKey.toString('base64'),
        PAYBELL_OPERATOR_KEY: options.operatorKey,
        ...(port === 0
          ? { PAYBELL_DATA_DIR: dataDir, PAYBELL_SANDBOX_SEED: 'off' }
          : SERVE_SETTINGS),
        ...options.env,
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const exit = once(child, 'exit')
    const baseUrl = await Promise.race([
      untilReady(port === 0 ? () => readSandboxUrl(dataDir) : async () => urlOf(port)),
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

/** What `paybell serve` is told so that it delivers to the benchmark's receiver and stops as the sandbox does. */
const SERVE_SETTINGS = {
  HOST: '127.0.0.1',
  PAYBELL_ALLOWED_NETWORKS: '127.0.0.0/8',
  PAYBELL_EXTRA_CA_FILE: TLS.authority,
  PAYBELL_DRAIN_SECONDS: '0',
}

function commandOf({ siblings }: ServiceOptions): readonly string[] {
  if (siblings === undefined) return ['sandbox']
  return siblings === 1 ? ['serve'] : ['serve', '--processes', `${siblings}`]
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`
}

async function readSandboxUrl(dataDir: string): Promise<string | null> {
  const text = await readFile(join(dataDir, 'sandbox.json'), 'utf8').catch(() => null)
  return text && (JSON.parse(text) as { baseUrl: string }).baseUrl
}

async function untilReady(readUrl: () => Promise<string | null>): Promise<string> {
  for (const limit = performance.now() + 60_000; performance.now() < limit; await delay(20)) {
    const baseUrl = await readUrl()
    if (baseUrl === null) continue
    const ready = await fetch(`${baseUrl}/readyz`).catch(() => null)
    if (ready?.status === 200) return baseUrl
  }
  throw new Error('the service was not ready within 60 s')
}
