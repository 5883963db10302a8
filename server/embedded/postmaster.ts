// One server process, from its start to its end. It has a session of its own: a Ctrl-C in the terminal
// reaches Paybell, which still needs its database, and not PostgreSQL.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Binaries } from './binaries.ts'
import { folderArgument, type RunAs, spawnIn } from './run-as.ts'
import type { ServerLog } from './server-log.ts'
import { startWatchdog } from './watchdog.ts'

/** How a postmaster ended: an exit code or a signal. */
export interface PostmasterExit {
  code: number | null
  signal: NodeJS.Signals | null
}

export interface Postmaster {
  pid: number
  exited: Promise<PostmasterExit>
  /** Fast shutdown; harder after 10 s. Resolves when the process is gone. */
  stop(): Promise<void>
}

export interface LaunchPlan {
  clusterDir: string
  runDir: string
  runAs: RunAs
  binaries: Binaries
  arguments: string[]
  serverLog: ServerLog
  readyTimeoutMs: number
  environment: Readonly<Record<string, string>>
  /** Aborted when the server is no longer needed. */
  signal: AbortSignal
}

const ESCALATION = [
  { signal: 'SIGINT', limitMs: 10_000 },
  { signal: 'SIGQUIT', limitMs: 5_000 },
  { signal: 'SIGKILL', limitMs: 5_000 },
] as const

// Children of a killed postmaster hold the shared memory for up to two seconds. On Linux we have
// waited for them by now; elsewhere PostgreSQL refuses, in these words, and we try again.
const STILL_BUSY = /pre-existing shared memory block|lock file .* already exists/
const BUSY_ATTEMPTS_MAX = 30
const BUSY_RETRY_MS = 200

/** Resolves when the server accepts connections. */
export async function launchPostmaster(plan: LaunchPlan): Promise<Postmaster> {
  for (let attempt = 1; ; attempt++) {
    const logStart = await plan.serverLog.sizeBytes()
    const postmaster = await spawnPostmaster(plan)
    const failure = await waitUntilReady(postmaster, plan)
    if (failure === undefined) return postmaster
    await postmaster.stop()
    const lines = await plan.serverLog.tail(logStart)
    if (!lines.some((line) => STILL_BUSY.test(line)) || attempt === BUSY_ATTEMPTS_MAX) {
      throw new Error([`PostgreSQL ${failure}. Its log (pg.log) says:`, ...lines].join('\n  '))
    }
    await delay(BUSY_RETRY_MS)
  }
}

async function spawnPostmaster(plan: LaunchPlan): Promise<Postmaster> {
  const { binaries, clusterDir, runAs, serverLog } = plan
  const args = ['-D', folderArgument(clusterDir, runAs), ...plan.arguments]
  const spawnOptions = spawnIn(clusterDir, runAs)
  const child = spawn(binaries.postgres, args, {
    ...spawnOptions,
    ...(spawnOptions.env && { env: { ...spawnOptions.env, ...plan.environment } }),
    detached: true,
    stdio: ['ignore', serverLog.fd, serverLog.fd],
    windowsHide: true,
  })
  const exited = once(child, 'exit').then(([code, signal]): PostmasterExit => ({ code, signal }))
  exited.catch(() => {}) // A program that cannot be run at all is reported by the next line.
  await once(child, 'spawn')
  // The database must not keep a program alive that has nothing else to do.
  child.unref()
  const pid = child.pid as number
  const watchdog = startWatchdog(pid, clusterDir, plan.runDir)
  void exited.then(() => watchdog.stop())
  return {
    pid,
    exited,
    async stop() {
      child.ref()
      for (const { signal, limitMs } of ESCALATION) {
        send(child, signal, binaries)
        if (await endsWithin(exited, limitMs)) break
      }
      await watchdog.stop()
    },
  }
}

/** Undefined when it is ready, else what went wrong. PostgreSQL writes its state into the eighth line of
 *  postmaster.pid; reading it is cheaper than trying connections. */
async function waitUntilReady(
  postmaster: Postmaster,
  plan: LaunchPlan,
): Promise<string | undefined> {
  const deadline = performance.now() + plan.readyTimeoutMs
  const file = join(plan.clusterDir, 'postmaster.pid')
  while (!plan.signal.aborted) {
    const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n')
    if (lines[0] === `${postmaster.pid}` && lines[7]?.trim() === 'ready') return undefined
    if (performance.now() > deadline) return `was not ready after ${plan.readyTimeoutMs} ms`
    if (await endsWithin(postmaster.exited, 10)) return 'ended while it was starting'
  }
  return 'was told to stop while it was starting'
}

async function endsWithin(exited: Promise<unknown>, limitMs: number): Promise<boolean> {
  const timer = new AbortController()
  const limit = delay(limitMs, false, { signal: timer.signal }).catch(() => false)
  const ended = await Promise.race([exited.then(() => true), limit])
  timer.abort()
  return ended
}

function send(child: ChildProcess, signal: NodeJS.Signals, binaries: Binaries): void {
  // Windows has no signals; pg_ctl speaks PostgreSQL's substitute for them.
  if (process.platform === 'win32' && signal !== 'SIGKILL') {
    spawnSync(binaries.pg_ctl, ['kill', signal.slice(3), `${child.pid}`], { windowsHide: true })
  } else child.kill(signal)
}
