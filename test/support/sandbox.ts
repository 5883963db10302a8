// The sandbox as a newcomer runs it: a process of its own, with a data directory of its own, ended by
// its pid.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { NODE_FLAGS } from '../../cli/operator/node-flags.ts'
import { limitOf } from './busy-machine.ts'
import type { SandboxFacts } from './caller.ts'
import { copyCluster } from './made-cluster.ts'
import type { Owner } from './owner.ts'
import { until } from './until.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const MAIN = fileURLToPath(new URL('../../cli/main.ts', import.meta.url))

export interface Spawned {
  process: ChildProcess
  output(): string
  /** Resolves with the exit code (or the signal that ended it). */
  exit: Promise<number | NodeJS.Signals | null>
  kill(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null>
}

export interface Sandbox extends SandboxFacts, Spawned {
  dataDir: string
}

/** Empty: the sandbox makes everything itself, as at a newcomer's first start. */
export async function makeDataDir(t: Owner): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'paybell-sandbox-'))
  t.after(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }))
  return dir
}

/** As at a later start: the database's cluster lies in it already. */
export async function makeDataDirWithCluster(t: Owner): Promise<string> {
  const dir = await makeDataDir(t)
  await copyCluster(dir)
  return dir
}

export interface SandboxOptions {
  /** Without it, one of its own, in which the database's cluster lies already. */
  dataDir?: string
  env?: Record<string, string>
  /** Instead of Node running the command itself. */
  command?: readonly [file: string, ...args: string[]]
}

/** Starts the process and waits for nothing; ends it, if it still runs, after the test. */
export function spawnSandbox(t: Owner, options: SandboxOptions & { dataDir: string }): Spawned {
  const [file, ...args] = options.command ?? [process.execPath, ...NODE_FLAGS, MAIN, 'sandbox']
  let output = ''
  const child = spawn(file, args, {
    cwd: ROOT,
    env: {
      ...inherited(),
      PORT: '0',
      PAYBELL_DATA_DIR: options.dataDir,
      // The demo shop is made in the background: tests that count would sometimes count it.
      PAYBELL_SANDBOX_SEED: 'off',
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout?.on('data', (chunk) => {
    output += chunk
  })
  child.stderr?.on('data', (chunk) => {
    output += chunk
  })
  const exit = once(child, 'exit').then(([code, signal]) => code ?? signal)
  t.after(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
    // A test that failed because it does not stop must not keep all others waiting.
    const impatience = setTimeout(() => child.kill('SIGKILL'), limitOf(25_000))
    await exit
    clearTimeout(impatience)
  })
  const kill = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return exit
  }
  return { process: child, output: () => output, exit, kill }
}

export async function startSandbox(t: Owner, options: SandboxOptions = {}): Promise<Sandbox> {
  const dataDir = options.dataDir ?? (await makeDataDirWithCluster(t))
  const spawned = spawnSandbox(t, { ...options, dataDir })
  const facts = await Promise.race([
    untilReady(dataDir),
    spawned.exit.then((code) => {
      throw new Error(`the sandbox ended with ${code} before it was ready:\n${spawned.output()}`)
    }),
  ])
  return { ...facts, ...spawned, dataDir }
}

/** Without settings that the machine of the tests happens to have. */
function inherited(): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(PAYBELL_|DATABASE_URL|PORT$|HOST$|NODE_TEST_CONTEXT)/.test(name),
    ),
  )
}

async function untilReady(dataDir: string): Promise<SandboxFacts> {
  return until('the sandbox is ready', async () => {
    const text = await readFile(join(dataDir, 'sandbox.json'), 'utf8').catch(() => null)
    if (text === null) return null
    const facts = JSON.parse(text) as SandboxFacts
    const ready = await fetch(`${facts.baseUrl}/readyz`).catch(() => null)
    return ready?.status === 200 ? facts : null
  })
}
