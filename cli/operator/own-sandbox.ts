// A sandbox for the length of one command: a process of its own, in a temporary folder, with a fast
// clock. Gone without a trace afterwards, also when the command is interrupted.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { readSandboxFile, type SandboxFile } from '../basics/sandbox-file.ts'
import { NODE_FLAGS } from './node-flags.ts'

/** In the published package the command line is JavaScript, in one folder. */
const MAIN = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../main.ts' : './main.js', import.meta.url),
)
const READY_MS_MAX = 60_000

export interface OwnSandbox extends SandboxFile {
  stop(): Promise<void>
}

export async function startOwnSandbox(timeScale: number, signal: AbortSignal): Promise<OwnSandbox> {
  const dataDir = await mkdtemp(join(tmpdir(), 'paybell-demo-'))
  const child = spawn(process.execPath, [...NODE_FLAGS, MAIN, 'sandbox'], {
    env: {
      ...withoutSettings(process.env),
      PORT: '0',
      PAYBELL_DATA_DIR: dataDir,
      PAYBELL_TIME_SCALE: String(timeScale),
      PAYBELL_LOG_LEVEL: 'error',
      PAYBELL_SANDBOX_SEED: 'off',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
    // Ctrl-C reaches the whole group, but this command stops the sandbox itself, when it is done with it.
    detached: true,
  })
  let said = ''
  child.stderr.on('data', (chunk) => {
    said = `${said}${chunk}`.slice(-4_000)
  })
  // The sandbox ends with this process, however that ends. Its own watchdog stops the database.
  const onExit = () => child.kill('SIGTERM')
  process.once('exit', onExit)
  const stop = async () => {
    process.off('exit', onExit)
    await end(child)
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
  try {
    return { ...(await untilReady(child, dataDir, { said: () => said, signal })), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function untilReady(
  child: ChildProcess,
  dataDir: string,
  { said, signal }: { said: () => string; signal: AbortSignal },
): Promise<SandboxFile> {
  for (const limit = performance.now() + READY_MS_MAX; performance.now() < limit; await delay(50)) {
    if (signal.aborted) throw new Error('interrupted')
    if (child.exitCode !== null) throw new Error(`the sandbox did not start.\n${said()}`)
    const file = await readSandboxFile(dataDir)
    if (file !== null && (await isReady(file.baseUrl))) return file
  }
  throw new Error('the sandbox was not ready in time')
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const impatience = setTimeout(() => child.kill('SIGKILL'), 20_000)
  await ended
  clearTimeout(impatience)
}

export async function isReady(baseUrl: string): Promise<boolean> {
  const response = await fetch(`${baseUrl}/readyz`, { signal: AbortSignal.timeout(3_000) }).catch(
    () => null,
  )
  await response?.body?.cancel()
  return response?.status === 200
}

/** Without the settings of the caller's own service. */
function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^(PAYBELL_|DATABASE_URL|PORT$|HOST$)/.test(name)),
  )
}
